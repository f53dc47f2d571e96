// The stages of a round of sampling, a file each: every one adds the pairs it draws to the round
// and to the pool's chosen ones.
#pragma once

#include <cstdint>
#include <vector>

#include "sampling/pair_pool.hpp"
#include "sampling/pair_scores.hpp"
#include "sampling/pair_strategy.hpp"
#include "support/random.hpp"

namespace toprank {

struct Round {
  std::vector<Pair> pairs;
  std::vector<double> p;       // with which each was accepted
  double acceptance = 1;       // the mean p of a proposal
  std::int64_t proposals = 0;  // pairs looked at

  std::int64_t missing(std::int64_t count) const {
    return count - static_cast<std::int64_t>(pairs.size());
  }
  void take(Pair pair, double with) {
    pairs.push_back(pair);
    p.push_back(with);
  }
};

// The mean over proposals that go on until enough are accepted. The one that ends them is sure to
// be accepted: left out, unless it is the first, the mean has no bias.
class MeanOfProposals {
 public:
  void add(double value, bool last) {
    if (last && n_ > 0) return;
    sum_ += value;
    ++n_;
  }
  bool empty() const { return n_ == 0; }
  double value() const { return sum_ / static_cast<double>(n_); }

 private:
  double sum_ = 0;
  std::int64_t n_ = 0;
};

// A class in increasing order of its scores, equal ones by place.
struct SortedClass {
  std::vector<double> score;
  std::vector<std::uint32_t> place;
  std::int64_t size() const { return static_cast<std::int64_t>(score.size()); }
};
struct SortedScores {
  SortedClass positives, negatives;
};
SortedScores sort_scores(const ClassScores&);

// Where the negatives of a positive with loss begin, #{j : 1 - (s_i - t_j) <= 0}: for each
// positive in sorted order. The sum over them of what is left is the number of pairs with a loss.
std::vector<std::int64_t> first_with_loss(const SortedScores&);
// How many pairs and points have p > 0.
std::int64_t n_possible(const SortedScores&, const PairPool&, Strategy);

// Uniform on what is not chosen, type by type: p = 1.
void draw_uniformly(PairPool&, Random&, std::int64_t count, Round&);

// Rejection: proposes, scores the two rows, accepts with probability p; `most` proposals at most.
void draw_lazily(PairScores&, PairPool&, Random&, Strategy, std::int64_t count, std::int64_t most,
                 Round&);

// Rejection from an envelope that p is at least half of, whatever the weights.
void draw_by_envelope(const SortedScores&, PairPool&, Random&, Strategy, std::int64_t count,
                      std::int64_t most, Round&);
// The sums of the envelope over each positive's real pairs, by place.
std::vector<double> envelope_rows(const SortedScores&, Strategy);

// No rejection: looks at every pair with p > 0 that is not chosen. What it does not find is not
// there.
void draw_by_enumeration(const SortedScores&, PairPool&, Random&, Strategy, std::int64_t count,
                         Round&);

// The pairs that come first: the closest, or the least correct of those with a loss. p is that of
// `strategy`, so that it may stand in for a soft one.
void draw_first(const ClassScores&, PairPool&, Strategy strategy, std::int64_t count, Round&);

}  // namespace toprank
