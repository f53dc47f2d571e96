// The skeleton of dual coordinate descent over rows, one dual a row: sweeps in random order over all
// rows, between two of them sweeps over the rows that added most to the gap, and a free threshold of
// the scores by the method of multipliers. A derived class supplies one coordinate step as
//   Total visit(row)   what the row adds to the gap; it stores `off_[row]` and calls `move`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/interrupt.hpp"
#include "support/random.hpp"

namespace toprank {

// Sweeps over the rows that were most off, between two over all.
struct Revisits {
  int most;
  double off;   // rows off by more than this multiple of the mean are visited
  double many;  // none are if they are more than this share of all rows
};

// A: the arithmetic of w. Row: what is kept of a row.
template <class Derived, class A, class View, class Row, class Total>
class ShuffledSweeps {
  // The multiplier moves once the duals' imbalance is this share of the largest step, in score units.
  static constexpr double kBiasShare = 0.2;

 protected:
  // `feature`: the square of a feature that all rows have in common, for the threshold.
  ShuffledSweeps(const View& x, double feature, double level, std::uint64_t seed)
      : x_(x), feature_(feature), level_(level), shuffle_(seed),
        w_(static_cast<std::size_t>(x.n_cols)), rows_(static_cast<std::size_t>(x.n_rows)),
        off_(rows_.size()) {}

  // Visits rows in a random order; returns the sum of what they add to the gap.
  Total sweep(std::vector<std::int32_t>& order) {
    shuffle_(order.data(), static_cast<std::int64_t>(order.size()));
    largest_ = 0;
    Total total{};
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k + 8 < order.size()) {
        x_.prefetch_place(order[k + 8]);
        __builtin_prefetch(&rows_[static_cast<std::size_t>(order[k + 8])]);
      }
      if (k + 4 < order.size()) x_.prefetch(order[k + 4]);
      total += static_cast<Derived*>(this)->visit(order[k]);
    }
    const double lacks = feature_ * excess_;
    if (std::abs(lacks) >= kBiasShare * largest_) level_ += lacks;
    return total;
  }

  // Sweeps over the rows that were off by more than their share of `total`.
  void revisit(double total, const Revisits& how) {
    const A bar = static_cast<A>(how.off * total / static_cast<double>(order_.size()));
    some_ = order_;
    for (int k = 0; k < how.most; ++k) {
      std::erase_if(some_, [&](std::int32_t i) { return !(off_[static_cast<std::size_t>(i)] > bar); });
      const auto size = static_cast<double>(some_.size());
      if (some_.empty() || size > how.many * static_cast<double>(order_.size())) return;
      sweep(some_);
    }
  }

  // w += by x_i after a dual has changed; `step` is the change in score units.
  [[gnu::always_inline]] void move(std::int64_t i, double by, double step) {
    largest_ = std::max(largest_, step);
    excess_ += by;
    x_.add(i, static_cast<A>(by), w_.data());
    level_ += by * feature_;
    poll_(2 * x_.entries(i) + 16);
  }

  const View& x_;
  double feature_, level_;  // level_: the threshold of the scores
  double excess_ = 0;  // the sum of the positives' duals less that of the negatives, over alpha
  double largest_ = 0;
  Shuffler shuffle_;
  std::vector<A> w_;
  std::vector<Row> rows_;
  std::vector<A> off_;  // what a row added to the gap at its last visit
  std::vector<std::int32_t> order_, some_;
  std::int64_t entries_ = 0;  // visited so far

 private:
  Poll poll_;
};

}  // namespace toprank
