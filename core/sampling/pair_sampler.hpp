// Draws pairs of a positive and a negative without replacement, by how the current weights score
// them: W.-Y. Shen, H.-T. Lin, Active Sampling of Pairs and Points, section 3.3.
//
//   random        every pair alike
//   soft-close    with probability proportional to p = 2 / (1 + e^|d|),   d = w.x_i - w.x_j
//   soft-correct  p = tanh([1 - d]_+ / 2)
//   hard-close    the pairs with the smallest |d|
//   hard-correct  the pairs with the smallest d, as far as they have a loss: d < 1
#pragma once

#include <cstdint>
#include <memory>

#include "sampling/pair_round.hpp"

namespace toprank {

// How a soft strategy draws: `automatic` goes from one to the next; the others are that one alone.
enum class Method { automatic, lazy, envelope, enumeration };

class PairSampler {
 public:
  // The rows of the classes are not copied. gamma is the share of real pairs among the proposals.
  PairSampler(std::unique_ptr<RowReader> reader, const std::int64_t* positives, std::int64_t m,
              const std::int64_t* negatives, std::int64_t n, double gamma, std::uint64_t seed)
      : scores_(std::move(reader), positives, m, negatives, n), pool_(m, n, gamma), random_(seed) {}

  // `count` pairs that were not drawn before. Fewer of them mean, for Method::automatic, that
  // every pair that was never drawn has p = 0: for soft-correct and hard-correct no loss.
  Round draw(const double* w, std::int64_t count, Strategy, Method, int n_threads);

  const PairPool& pool() const { return pool_; }
  // The envelope's sums over the pairs of each positive, at w.
  std::vector<double> envelope_rows(const double* w, Strategy, int n_threads);

 private:
  void draw_softly(std::int64_t count, Strategy, Method, int n_threads, Round&);
  ClassScores all_scores(int n_threads) const;

  PairScores scores_;
  PairPool pool_;
  Random random_;
  double expected_ = 0;  // proposals for the pairs of the last round, by rejection
};

}  // namespace toprank
