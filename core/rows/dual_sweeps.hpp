// Dual coordinate descent of a smooth sum over rows, in sweeps over all rows and, between two of
// these, over those that were most off: where a loss is steep these are few, they pull at each other,
// and all the others would be visited in vain.
//
// What a row's score has moved by since its last visit tells how far its dual is from the slope of
// its loss: half the curvature times the square of that is what the row adds to the gap of the duals,
// nearly, and more to that of the slopes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rows/dual_step.hpp"
#include "rows/row_loss.hpp"
#include "rows/shuffled_sweeps.hpp"

namespace toprank {

struct SweepAsk {
  const double* tilt;
  const double* squares;  // |x|^2 of every row
  RowLoss loss;
  double alpha;
  double level;    // of the scores: what w = 0 has for a threshold
  double feature;  // that all rows have in common, squared: for the rest of the threshold, which is
                   // the multiplier of the duals of the two sides being of equal sums
  int most;        // sweeps over all rows
  double enough;   // the relative gap of the duals at which no more are made
  std::uint64_t seed;
};

// What is left of a gap: with the slopes at w for duals, and with the duals themselves.
struct GapLeft {
  double of_slopes = 0, of_duals = 0;

  GapLeft& operator+=(const GapLeft& other) {
    of_slopes += other.of_slopes;
    of_duals += other.of_duals;
    return *this;
  }
};

template <class A>
struct DualRow {
  A tilt = 0, q = 0;  // q: what a unit of the dual changes in the score
  A dual = 0, place = std::numeric_limits<A>::quiet_NaN();  // how wrong the row is with that dual
};

struct Swept {
  double level;          // the threshold of the scores
  std::int64_t entries;  // that were visited
  GapLeft left;          // relative to the objective, as the last two sweeps tell
};

template <class A, class View>
class DualSweeps : ShuffledSweeps<DualSweeps<A, View>, A, View, DualRow<A>, GapLeft> {
  using Row = DualRow<A>;
  using Base = ShuffledSweeps<DualSweeps, A, View, Row, GapLeft>;
  friend Base;
  using Base::entries_, Base::level_, Base::off_, Base::order_, Base::rows_, Base::w_, Base::x_;

 public:
  DualSweeps(const View& x, const SweepAsk& ask)
      : Base(x, ask.feature, ask.level, ask.seed), ask_(ask),
        per_alpha_(static_cast<A>(1 / ask.alpha)) {
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
      Row& row = rows_[static_cast<std::size_t>(i)];
      row.tilt = static_cast<A>(ask.tilt[i]);
      row.q = static_cast<A>(ask.squares[i] + ask.feature) * per_alpha_;
      if (ask.tilt[i] != 0) order_.push_back(static_cast<std::int32_t>(i));
    }
  }

  // w, n_cols entries, and the duals as slopes of the losses, one a row.
  Swept run(double* out, double* slopes) {
    constexpr double unknown = std::numeric_limits<double>::infinity();
    GapLeft left{unknown, unknown}, last;
    bool slow = false;
    for (int k = 1;; ++k) {
      const GapLeft now = this->sweep(order_);
      if (k > 1) left = expected(now, last);
      const bool enough = left.of_duals <= ask_.enough;
      slow = slow || (k > kFirst && now.of_slopes > kSlow * last.of_slopes);
      if (k >= ask_.most || (enough && !slow) || is_vain(k, left, now, last)) break;
      this->revisit(now.of_slopes, slow ? kWhenSlow : kWhenFast);
      if (enough) break;  // what is expected counted on the visits after the sweep
      last = now;
    }
    std::copy(w_.begin(), w_.end(), out);
    for (const Row& row : rows_)
      *slopes++ = row.tilt > 0 ? -static_cast<double>(row.dual) : static_cast<double>(row.dual);
    return {level_, entries_, left};
  }

 private:
  static constexpr Revisits kWhenFast{6, 0.5, 0.5};
  // Rows that pull at each other are in the way: more of them, and more often.
  static constexpr Revisits kWhenSlow{40, 0.03, 0.9};
  // What a sweep leaves of the gap where it is slow; the first ones, from nothing, do not tell.
  static constexpr double kSlow = 0.2;
  static constexpr int kFirst = 2;
  // Sweeps after which their rate is believed, and how many more are worth making.
  static constexpr int kTold = 4;
  static constexpr double kWorth = 8;

  [[gnu::always_inline]] GapLeft visit(std::int64_t i) {
    Row& row = rows_[static_cast<std::size_t>(i)];
    const bool positive = row.tilt > 0;
    const A c = std::abs(row.tilt);
    const A score = x_.dot(i, w_.data()) + static_cast<A>(level_);
    const RowSide& side = positive ? ask_.loss.positives : ask_.loss.negatives;
    const A wrong = positive ? -score : score;
    // What the equation says of the dual at its root: near it the slope would be less exact.
    const A z = dual_root<A>(side, c, wrong, row.dual, row.q, row.place);
    // A row of zeros moves nothing.
    const A next = row.q > 0 ? std::max(row.dual + (wrong - z) / row.q, A(0)) : row.dual;
    const A moved = wrong - (std::isnan(row.place) ? A(0) : row.place);
    const A bend = dual_bend<A>(side, c, next, z);
    const A own = A(0.5) * bend * moved * moved, off = own * (1 + bend * row.q);
    off_[static_cast<std::size_t>(i)] = off;
    const GapLeft left{static_cast<double>(off), static_cast<double>(own)};
    entries_ += x_.entries(i);
    row.place = z;
    const A by = (next - row.dual) * per_alpha_ * (positive ? A(1) : A(-1));
    if (!(std::abs(by) > 0)) return left;
    const A step = std::abs(next - row.dual) * row.q;
    row.dual = next;
    this->move(i, static_cast<double>(by), static_cast<double>(step));
    return left;
  }

  // What rows were off by before a sweep it lessens as the last one did.
  GapLeft expected(const GapLeft& now, const GapLeft& last) const {
    const double size = value();
    return {now.of_slopes * std::min(now.of_slopes / last.of_slopes, 1.0) / size,
            now.of_duals * std::min(now.of_duals / last.of_duals, 1.0) / size};
  }

  // Whether it would take too many sweeps until the gap is small enough.
  bool is_vain(int k, const GapLeft& left, const GapLeft& now, const GapLeft& last) const {
    const double rate = std::min(now.of_duals / last.of_duals, 1.0);
    return k >= kTold && !(std::log(left.of_duals / ask_.enough) < -kWorth * std::log(rate));
  }

  // The objective where the rows were when they were visited.
  double value() const {
    const auto math = row_math<A>(ask_.loss);
    RowSums sums;
    for (std::size_t begin = 0; begin < rows_.size(); begin += kMostRows) {
      const auto n = std::min(static_cast<std::size_t>(kMostRows), rows_.size() - begin);
      A z[kMostRows] = {}, unasked[3][kMostRows];
      for (std::size_t i = 0; i < n; ++i) {
        const Row& row = rows_[begin + i];
        z[i] = row.tilt > 0 ? -row.place : row.place;
      }
      math(static_cast<std::int64_t>(n), z, ask_.tilt + begin, ask_.loss,
           {unasked[0], unasked[1], unasked[2]}, sums);
    }
    double square = 0;
    for (const A one : w_) square += static_cast<double>(one) * static_cast<double>(one);
    return sums.value + 0.5 * ask_.alpha * square;
  }

  const SweepAsk& ask_;
  A per_alpha_;
};

}  // namespace toprank
