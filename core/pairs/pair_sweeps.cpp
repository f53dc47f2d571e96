#include "pairs/pair_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "matrix/rows.hpp"
#include "rows/shuffled_sweeps.hpp"
#include "support/sort.hpp"

namespace toprank {
namespace {

// What the penalty of unequal sums of duals is, beside a row's |x|^2.
constexpr double kPenalty = 0.2;
constexpr Revisits kRevisits{6, 0.5, 0.5};
// Sweeps whose rate is believed, as one of them may do nothing, and how many more are worth making.
constexpr int kTold = 4;
constexpr double kWorth = 30;
// Pieces that a dual is looked for in, at the most; one or two are what it takes.
constexpr int kPieces = 20;

// sum_k w_k [e - g_k]_+ over a class, by sums over the k with g_k < e.
class Hinges {
 public:
  explicit Hinges(std::size_t size) : values(size), g_(size + 1), upto_(size + 1), order_(size) {}

  std::vector<double> values;  // g, in the order of `weights`

  void sort(const std::vector<double>& weights) {
    const auto size = values.size();
    sorter_(values.data(), static_cast<std::uint32_t>(size), order_.data(), g_.data());
    g_[size] = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < size; ++k) {
      const double w = weights[order_[k]];
      upto_[k + 1] = {upto_[k].weight + w, upto_[k].sum + w * g_[k]};
    }
  }
  // The e with e + c (sum at e) = level, and the sum's slope and value there; `rank` is a guess.
  double root(double c, double level, std::uint32_t& rank, double& slope, double& value) const {
    double e = 0;
    for (int k = 0; k < kPieces; ++k) {
      const auto& [weight, sum] = upto_[rank];
      e = (level + c * sum) / (1 + c * weight);
      if (e <= g_[rank] && (rank == 0 || g_[rank - 1] < e)) break;
      rank = static_cast<std::uint32_t>(std::lower_bound(g_.begin(), g_.end(), e) - g_.begin());
    }
    slope = upto_[rank].weight;
    value = std::max(slope * e - upto_[rank].sum, 0.0);
    return e;
  }

 private:
  struct Upto {
    double weight = 0, sum = 0;
  };
  std::vector<double> g_;  // with infinity at its end
  std::vector<Upto> upto_;
  std::vector<std::uint32_t> order_;
  Sorter sorter_;
};

struct PairRow {
  double c = 0, q = 0;  // q: what a unit of the dual changes in the score
  double dual = 0;
  double from = 0, place = 0;  // how wrong the row was when the others were sorted, and is
  std::uint32_t rank = 0;
  bool positive = false;
};

template <class A, class View>
class PairSweeps : ShuffledSweeps<PairSweeps<A, View>, A, View, PairRow, double> {
  using Row = PairRow;
  using Base = ShuffledSweeps<PairSweeps, A, View, Row, double>;
  friend Base;
  using Base::entries_, Base::level_, Base::off_, Base::order_, Base::rows_, Base::w_, Base::x_;

 public:
  PairSweeps(const View& x, const PairSweepAsk& ask)
      : Base(x, kPenalty * ask.typical, 0.0, ask.seed), ask_(ask) {
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
      if (ask.tilt[i] == 0) continue;
      Row& row = rows_[static_cast<std::size_t>(i)];
      Class& own = of(ask.tilt[i] > 0);
      row.positive = ask.tilt[i] > 0;
      row.c = 2.0 * std::abs(ask.tilt[i]);
      row.q = (ask.squares[i] + this->feature_) / ask.alpha;
      own.rows.push_back(static_cast<std::int32_t>(i));
      own.weights.push_back(std::abs(ask.tilt[i]));
      order_.push_back(static_cast<std::int32_t>(i));
    }
    for (Class& own : classes_) own.hinges = Hinges(own.rows.size());
  }

  PairSwept run(double* out) {
    for (bool more = true; more && static_cast<int>(totals_.size()) < ask_.most;) {
      settle();
      totals_.push_back(this->sweep(order_));
      more = look();
      if (more) this->revisit(totals_.back(), kRevisits);
    }
    std::copy(w_.begin(), w_.end(), out);
    return {static_cast<int>(totals_.size()), entries_};
  }

 private:
  struct Class {
    std::vector<std::int32_t> rows;
    std::vector<double> weights;
    Hinges hinges{0};
  };

  Class& of(bool positive) { return classes_[positive ? 0 : 1]; }

  // Sorts both classes by where their rows are.
  void settle() {
    for (Class& own : classes_) {
      for (std::size_t k = 0; k < own.rows.size(); ++k) {
        Row& row = rows_[static_cast<std::size_t>(own.rows[k])];
        row.from = row.place;
        own.hinges.values[k] = -row.place;
      }
      own.hinges.sort(own.weights);
    }
  }

  double visit(std::int64_t i) {
    Row& row = rows_[static_cast<std::size_t>(i)];
    const double score = static_cast<double>(x_.dot(i, w_.data())) + level_;
    const double wrong = row.positive ? -score : score;
    // The row moves twice as far as it does, from where it was when the others were sorted.
    double weight, sum;
    of(!row.positive).hinges.root(2 * row.q * row.c,
                                  1 - row.from + 2 * (wrong + row.q * row.dual), row.rank, weight,
                                  sum);
    const double next = row.c * sum, step = next - row.dual;
    const double moved = wrong - row.place, bend = row.c * weight;
    const double off = 0.5 * bend * (1 + bend * row.q) * moved * moved;
    off_[static_cast<std::size_t>(i)] = static_cast<A>(off);
    entries_ += x_.entries(i);
    row.place = wrong - row.q * step;
    if (step == 0) return off;
    row.dual = next;
    if (row.positive) dual_sum_ += step;
    this->move(i, (row.positive ? step : -step) / ask_.alpha, std::abs(step) * row.q);
    return off;
  }

  // Whether to go on: no more where the gap that is left is small enough, or would take too many
  // sweeps to become so. Half the duals of one class sum to the objective at its minimum.
  bool look() const {
    const auto k = static_cast<int>(totals_.size());
    const double total = totals_.back(), aim = ask_.enough * 0.5 * dual_sum_;
    if (!std::isfinite(total)) return false;
    if (k > 1 && total * std::min(total / totals_[totals_.size() - 2], 1.0) <= aim) return false;
    if (k <= kTold) return true;
    const double rate = std::log(total / totals_[totals_.size() - 1 - kTold]) / kTold;
    return std::log(total / aim) < -kWorth * rate;
  }

  const PairSweepAsk& ask_;
  double dual_sum_ = 0;         // of the positives
  std::vector<double> totals_;  // what the rows added to the gap in each sweep
  Class classes_[2];
};

}  // namespace

template <class A, class View>
PairSwept pair_sweeps(const View& x, const PairSweepAsk& ask, double* w) {
  return PairSweeps<A, View>(x, ask).run(w);
}

#define TOPRANK_PAIR_SWEEPS(A, ...) \
  template PairSwept pair_sweeps<A>(const __VA_ARGS__&, const PairSweepAsk&, double*);
TOPRANK_PAIR_SWEEPS(float, SparseRows<float>)
TOPRANK_PAIR_SWEEPS(float, SparseRows<double>)
TOPRANK_PAIR_SWEEPS(double, SparseRows<float>)
TOPRANK_PAIR_SWEEPS(double, SparseRows<double>)

}  // namespace toprank
