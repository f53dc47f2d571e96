// Dual coordinate descent of a smooth sum over rows, in sweeps over all rows and, between two of
// these, over those that were most off: where a loss is steep these are few, they pull at each other,
// and all the others would be visited in vain.
//
// What a row's score has moved by since its last visit tells how far its dual is from the slope of
// its loss: half the curvature times the square of that is what the row adds to the gap, nearly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rows/dual_step.hpp"
#include "rows/row_loss.hpp"
#include "rows/row_products.hpp"
#include "support/interrupt.hpp"
#include "support/shuffler.hpp"

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
  double enough;   // the relative gap at which no more are made
  std::uint64_t seed;
};

struct Swept {
  double level;          // the threshold of the scores
  std::int64_t entries;  // that were visited
  bool enough;           // whether the gap is likely what was asked for
};

template <class A, class View>
class DualSweeps {
 public:
  DualSweeps(const View& x, const SweepAsk& ask)
      : x_(x), ask_(ask), per_alpha_(static_cast<A>(1 / ask.alpha)),
        feature_(static_cast<A>(ask.feature)), level_(ask.level), shuffle_(ask.seed),
        w_(static_cast<std::size_t>(x.n_cols)), rows_(static_cast<std::size_t>(x.n_rows)),
        off_(rows_.size()) {
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
      Row& row = rows_[static_cast<std::size_t>(i)];
      row.tilt = static_cast<A>(ask.tilt[i]);
      row.q = static_cast<A>(ask.squares[i] + ask.feature) * per_alpha_;
      if (ask.tilt[i] != 0) order_.push_back(static_cast<std::int32_t>(i));
    }
  }

  Swept run(double* out) {
    Outlook outlook = Outlook::more;
    double last = std::numeric_limits<double>::infinity();
    for (int k = 1;; ++k) {
      const double total = sweep(order_);
      if (k > 1) outlook = look(total, last, k);
      if (k >= ask_.most || outlook != Outlook::more) break;
      last = total;
      revisit(total);
    }
    std::copy(w_.begin(), w_.end(), out);
    return {level_, entries_, outlook == Outlook::enough};
  }

 private:
  // Sweeps over the rows that were most off, between two over all.
  static constexpr int kRevisits = 6;
  // Those that were off by more than this share of the mean.
  static constexpr double kMuchOff = 0.5;
  // If they are so many, all are swept.
  static constexpr double kMany = 0.5;
  // When the multiplier of the threshold moves: its error beside the largest step of a row.
  static constexpr double kBiasShare = 0.2;
  // Sweeps after which their rate is believed, and how many more are worth making.
  static constexpr int kTold = 4;
  static constexpr double kWorth = 5;

  enum class Outlook { more, enough, never };

  struct Row {
    A tilt = 0, q = 0;  // q: what a unit of the dual changes in the score
    A dual = 0, place = std::numeric_limits<A>::quiet_NaN();  // how wrong the row is with that dual
  };

  // Visits rows in a random order; returns what they add to the gap.
  double sweep(std::vector<std::int32_t>& order) {
    shuffle_(order.data(), static_cast<std::int64_t>(order.size()));
    largest_ = 0;
    double total = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k + 8 < order.size()) {
        x_.prefetch_place(order[k + 8]);
        __builtin_prefetch(&rows_[static_cast<std::size_t>(order[k + 8])]);
      }
      if (k + 4 < order.size()) x_.prefetch(order[k + 4]);
      total += visit(order[k]);
    }
    // The method of multipliers, once the rows' own error is the smaller one.
    const double lacks = ask_.feature * excess_;
    if (std::abs(lacks) >= kBiasShare * static_cast<double>(largest_)) level_ += lacks;
    return total;
  }

  [[gnu::always_inline]] double visit(std::int64_t i) {
    Row& row = rows_[static_cast<std::size_t>(i)];
    const bool positive = row.tilt > 0;
    const A c = std::abs(row.tilt);
    const A score = dot<A>(x_, i, w_.data()) + static_cast<A>(level_);
    const RowSide& side = positive ? ask_.loss.positives : ask_.loss.negatives;
    const A wrong = positive ? -score : score;
    // What the equation says of the dual at its root: near it the slope would be less exact.
    const A z = dual_root<A>(side, c, wrong, row.dual, row.q, row.place);
    // A row of zeros moves nothing.
    const A next = row.q > 0 ? std::max(row.dual + (wrong - z) / row.q, A(0)) : row.dual;
    const A moved = wrong - (std::isnan(row.place) ? A(0) : row.place);
    const A bend = dual_bend<A>(side, c, next, z);
    const A off = A(0.5) * bend * (1 + bend * row.q) * moved * moved;
    off_[static_cast<std::size_t>(i)] = off;
    entries_ += x_.entries(i);
    row.place = z;
    const A by = (next - row.dual) * per_alpha_ * (positive ? A(1) : A(-1));
    if (!(std::abs(by) > 0)) return static_cast<double>(off);
    largest_ = std::max(largest_, std::abs(next - row.dual) * row.q);
    row.dual = next;
    excess_ += static_cast<double>(by);
    add<A>(x_, i, by, w_.data());
    level_ += static_cast<double>(by * feature_);
    poll_(2 * x_.entries(i) + 16);
    return static_cast<double>(off);
  }

  void revisit(double total) {
    const A bar = static_cast<A>(kMuchOff * total / static_cast<double>(order_.size()));
    some_ = order_;
    for (int k = 0; k < kRevisits; ++k) {
      std::erase_if(some_, [&](std::int32_t i) { return !(off_[static_cast<std::size_t>(i)] > bar); });
      const auto size = static_cast<double>(some_.size());
      if (some_.empty() || size > kMany * static_cast<double>(order_.size())) return;
      sweep(some_);
    }
  }

  // Whether the gap that is left is small enough, or would take too many sweeps to become so.
  Outlook look(double total, double last, int k) const {
    const double aim = ask_.enough * value(), rate = std::min(total / last, 1.0);
    const double left = total * rate;
    if (left <= aim) return Outlook::enough;
    const bool soon = std::log(left / aim) < -kWorth * std::log(rate);
    return k < kTold || soon ? Outlook::more : Outlook::never;
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

  const View& x_;
  const SweepAsk& ask_;
  A per_alpha_, feature_, largest_ = 0;
  double level_, excess_ = 0;  // by how much the positives' duals sum to more
  Shuffler shuffle_;
  std::vector<A> w_;
  std::vector<Row> rows_;
  std::vector<A> off_;  // what a row added to the gap when it was visited
  std::vector<std::int32_t> order_, some_;
  std::int64_t entries_ = 0;
  Poll poll_;
};

}  // namespace toprank
