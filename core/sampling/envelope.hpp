// Rejection whose acceptance has a bound below, whatever the weights: candidates are drawn from an
// envelope g >= p in two steps, a positive by the sum of g over its negatives, then a negative.
// A pseudo-pair is a row of its own. Draws cost a search in sorted scores.
#pragma once

#include <memory>
#include <vector>

#include "sampling/pair_round.hpp"

namespace toprank {

class Envelope {
 public:
  virtual ~Envelope() = default;

  struct Candidate {
    Pair pair;
    double margin;
  };

  // Sets the rows: real pairs by the measure of the pool, and the points that are not chosen,
  // which no candidate is then wasted on.
  void weigh(const PairPool& pool);

  // sum of measure * g, in units of `unit()`.
  double total() const { return cumulative_.empty() ? 0.0 : cumulative_.back(); }
  // sum of measure * p of the points that were left out.
  double left_out() const { return left_out_; }
  Candidate draw(Random&) const;

  virtual double ratio(double margin) const = 0;  // p / g
  virtual double unit() const = 0;
  // The sum of g over the real pairs of a positive, by its place in the sorted order.
  virtual double row(std::int64_t i) const = 0;

 protected:
  explicit Envelope(const SortedScores& scores) : scores_(scores) {}
  virtual Strategy strategy() const = 0;
  virtual double point(double margin) const = 0;  // g
  virtual std::int64_t draw_in_row(std::int64_t i, Random&) const = 0;

  const SortedScores& scores_;

 private:
  std::vector<double> cumulative_;  // the positives with their pairs, positives, negatives
  double left_out_ = 0;
};

// g = min(u/2, 1): p >= tanh(1) g.
std::unique_ptr<Envelope> correct_envelope(const SortedScores&);
// g = 2 e^-|d|: p >= g/2. Its unit is e^-(the smallest |d| that can be drawn).
std::unique_ptr<Envelope> close_envelope(const SortedScores&, const PairPool&);

}  // namespace toprank
