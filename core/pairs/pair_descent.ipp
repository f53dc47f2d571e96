// The methods of PairDescent over one view of the matrix; see pair_descent.hpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "matrix/row_copies.hpp"
#include "pairs/kept_differences.hpp"
#include "pairs/pair_descent.hpp"
#include "support/interrupt.hpp"
#include "support/random.hpp"
#include "support/vectors.hpp"

namespace toprank {
namespace {

constexpr double kFirstRange = 0.3;    // of violations, at which the gap is looked at first
constexpr double kRangeShare = 0.3;    // what is left of it when the gap is too wide
constexpr double kNoStep = 1e-12;      // a violation that moves nothing
constexpr double kDriftShare = 0.01;   // drift of w, as a share of the gap, at which it is made anew
constexpr double kGainShare = 0.05;    // of the gap: what is not worth stretching w for
constexpr double kNearRows = 1e-6;     // |z|^2 / (|x|^2 + |x'|^2) at which cancellation counts
constexpr int kMostHalvings = 40;      // of the distance to the best multiple of w
constexpr std::int64_t kAhead = 3;     // pairs prefetched ahead

template <class Rows>
class DescentOnPairs final : public PairDescent {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr bool kDense = requires(Rows x) { x.stride; };

  // Half a cache line, for pairs are met in random order.
  struct Pair {
    std::int32_t first, second;
    double curvature;  // |z|^2
    double dual, bound;

    bool is_point() const { return (first | second) < 0; }
    std::int32_t row() const { return std::max(first, second); }  // of a point
    double sign() const { return first < 0 ? -1.0 : 1.0; }
  };

 public:
  DescentOnPairs(const Rows& x, std::uint64_t seed)
      : given_(x), x_(x), copies_(x), differences_(x), shuffle_(seed),
        w_(static_cast<std::size_t>(x.n_cols)) {}

  void add(const std::int64_t* first, const std::int64_t* second, const double* bounds,
           const double* duals, std::int64_t count) override {
    const auto before = n_pairs();
    pairs_.reserve(grown(pairs_, static_cast<std::size_t>(count)));
    copy_rows(first, second, count);
    for (std::int64_t k = 0; k < count; ++k) {
      pairs_.push_back({place(first[k]), place(second[k]), 0.0, 0.0, bounds[k]});
      only_points_ = only_points_ && pairs_.back().is_point();
    }
    if (copied_) x_ = copies_.rows(given_);  // they may have moved
    keep_differences();
    for (auto q = before; q < n_pairs(); ++q) pairs_[q].curvature = squared_length(q);
    clear_spread();
    for (auto q = before; q < n_pairs(); ++q)
      move(q, std::clamp(duals[q - before], 0.0, pairs_[q].bound));
    begin_anew();
  }

  void set_bounds(const double* bounds) override {
    for (std::int64_t q = 0; q < n_pairs(); ++q) {
      auto& pair = pairs_[q];
      const bool at_bound = pair.bound > 0 && pair.dual >= pair.bound;
      pair.bound = bounds[q];
      move(q, at_bound ? pair.bound : std::min(pair.dual, pair.bound));
    }
    begin_anew();
  }

  void scale(double factor) override {
    for (auto& pair : pairs_) {
      pair.bound *= factor;
      pair.dual *= factor;  // one at its bound stays there, to the last bit
    }
    for (auto& w : w_) w *= factor;
    begin_anew();
  }

  double epoch() override {
    begin_anew();
    const auto seen = sweep();
    return std::max(seen.most, -seen.least);
  }

  PairOutcome solve(double tol, std::int64_t max_epochs, std::int64_t max_checks) override {
    PairOutcome outcome{0, 0, 0};
    do {
      outcome.epochs += descend(max_epochs - outcome.epochs);
      look(outcome);
      const auto done = [&] { return outcome.primal - outcome.dual <= tol * outcome.primal; };
      if (!done()) stretch(outcome);
      if (done()) break;
      if (settled_) range_ *= kRangeShare;  // and go on with those the look has listed
    } while (outcome.epochs < max_epochs && --max_checks > 0);
    return outcome;
  }

  std::int64_t n_pairs() const override { return static_cast<std::int64_t>(pairs_.size()); }
  std::int64_t entries_read() const override { return entries_read_; }
  void weights(double* out) const override {
    for (const double w : w_) *out++ = stretch_ * w;
  }
  void duals(double* out) const override {
    for (const auto& pair : pairs_) *out++ = pair.dual;
  }

 private:
  struct Range {
    double most, least;  // of the projected gradients
  };
  static constexpr Range kAnywhere{kInfinity, -kInfinity};

  // Room for more, at least doubled: pairs come in many small lots.
  template <class V>
  static std::size_t grown(const V& v, std::size_t by) {
    const auto needed = v.size() + by;
    return needed <= v.capacity() ? needed : std::max(needed, 2 * v.capacity());
  }

  void begin_anew() {
    range_ = kFirstRange;
    last_ = kAnywhere;
    stretch_ = 1;
    active_.clear();
    active_.reserve(pairs_.size());
    for (std::int64_t q = 0; q < n_pairs(); ++q)
      if (pairs_[q].bound > 0) active_.push_back(static_cast<std::int32_t>(q));
    n_active_ = static_cast<std::int64_t>(active_.size());
  }

  // Whether a dual is at an end, with a gradient that points further out than any did that could
  // move in the last sweep; sets the part of the gradient that the dual can follow.
  bool rests(const Pair& pair, double gradient, double& projected) const {
    projected = gradient;
    if (pair.dual <= 0) {
      projected = std::min(gradient, 0.0);
      return gradient > last_.most;
    }
    if (pair.dual < pair.bound) return false;
    projected = std::max(gradient, 0.0);
    return gradient < last_.least;
  }

  // Epochs until the violations lie within a range; pairs that rest leave the list on the way.
  std::int64_t descend(std::int64_t max_epochs) {
    std::int64_t epochs = 0;
    while (epochs < max_epochs) {
      const auto seen = sweep();
      ++epochs;
      last_.most = seen.most > 0 ? seen.most : kInfinity;
      last_.least = seen.least < 0 ? seen.least : -kInfinity;
      settled_ = seen.most - seen.least <= range_;
      if (settled_) break;
    }
    return epochs;
  }

  // One step for every pair on the list.
  Range sweep() {
    shuffle_(active_.data(), n_active_);
    stretch_ = 1;
    Range seen{0, 0};
    for (std::int64_t k = 0; k < n_active_;) {
      const auto q = active_[k];
      look_ahead(active_.data() + k, n_active_ - k);
      const auto& pair = pairs_[q];
      const double gradient = margin(q) - 1;
      double projected;
      if (rests(pair, gradient, projected)) {
        std::swap(active_[k], active_[--n_active_]);
        continue;
      }
      seen.most = std::max(seen.most, projected);
      seen.least = std::min(seen.least, projected);
      // Equal rows have no curvature: the step is infinite, and ends at a bound.
      if (std::abs(projected) > kNoStep)
        move(q, std::clamp(pair.dual - gradient / pair.curvature, 0.0, pair.bound));
      ++k;
    }
    return seen;
  }

  // See pair_bounds.ipp.
  void look(PairOutcome& outcome);
  std::pair<double, double> primal_at(double t) const;
  void stretch(PairOutcome& outcome);

  void weights_from_duals() {
    std::fill(w_.begin(), w_.end(), 0.0);
    for (std::int64_t q = 0; q < n_pairs(); ++q)
      if (pairs_[q].dual != 0) add_to_weights(q, pairs_[q].dual);
  }

  void move(std::int64_t q, double next) {
    const double by = next - pairs_[q].dual;
    if (by == 0) return;
    pairs_[q].dual = next;
    add_to_weights(q, by);
  }

  double margin(std::int64_t q) {
    const auto& pair = pairs_[q];
    count(q);
    if (kept_) return differences_.rows().dot(q, w_.data());
    if (pair.is_point()) return pair.sign() * x_.dot(pair.row(), w_.data());
    return x_.dot(pair.first, w_.data()) - x_.dot(pair.second, w_.data());
  }

  void add_to_weights(std::int64_t q, double c) {
    const auto& pair = pairs_[q];
    count(q);
    if (kept_) return differences_.rows().add(q, c, w_.data());
    if (pair.is_point()) return x_.add(pair.row(), pair.sign() * c, w_.data());
    x_.add(pair.first, c, w_.data());
    x_.add(pair.second, -c, w_.data());
  }

  std::int64_t entries(const Pair& pair) const {
    return (pair.first < 0 ? 0 : x_.entries(pair.first)) +
           (pair.second < 0 ? 0 : x_.entries(pair.second));
  }
  void count(std::int64_t q) {
    const auto read = kept_ ? differences_.rows().entries(q) : entries(pairs_[q]);
    entries_read_ += read;
    poll_(read);
  }

  // Pairs, the places of their rows and the rows themselves are fetched in three stages, each
  // ready when the next asks for it.
  void look_ahead(const std::int32_t* list, std::int64_t left) const {
    if (3 * kAhead < left) ask_for(&pairs_[list[3 * kAhead]]);
    if (2 * kAhead < left && !kept_) {
      const auto& pair = pairs_[list[2 * kAhead]];
      if (pair.first >= 0) x_.prefetch_place(pair.first);
      if (pair.second >= 0) x_.prefetch_place(pair.second);
    }
    if (kAhead < left) fetch(list[kAhead]);
  }
  void fetch(std::int64_t q) const {
    if (kept_) return differences_.rows().prefetch(q);
    const auto& pair = pairs_[q];
    if (pair.first >= 0) x_.prefetch(pair.first);
    if (pair.second >= 0) x_.prefetch(pair.second);
  }

  // Rows are read in their copies while those are few beside the matrix.
  void copy_rows(const std::int64_t* first, const std::int64_t* second, std::int64_t count) {
    std::int64_t entries = 0;
    bool room = copies_.room_for(0);
    for (std::int64_t k = 0; k < count && room; ++k) {
      for (const auto row : {first[k], second[k]}) entries += row < 0 ? 0 : given_.entries(row);
      room = copies_.room_for(entries);
    }
    if (room == copied_ || !std::exchange(copied_, room)) return;
    for (auto& pair : pairs_) {
      pair.first = copies_.original(pair.first);
      pair.second = copies_.original(pair.second);
    }
    copies_.clear();
    x_ = given_;
  }
  std::int32_t place(std::int64_t row) {
    return copied_ ? copies_.place(row) : static_cast<std::int32_t>(row);
  }

  // Points are rows of the matrix already.
  void keep_differences() {
    if (only_points_) return;
    kept_ = differences_.worth(n_pairs());
    if (!kept_) return differences_.clear();
    for (auto q = differences_.size(); q < n_pairs(); ++q)
      differences_.add(pairs_[q].first, pairs_[q].second);
  }

  // |z|^2 without the cancellation of |x|^2 + |x'|^2 - 2 x.x', where it counts.
  double squared_length(std::int64_t q) {
    const auto& pair = pairs_[q];
    count(q);
    if (kept_) return differences_.rows().squared_norm(q);
    if (pair.is_point()) return x_.squared_norm(pair.row());
    if constexpr (kDense) {
      return x_.squared_distance(pair.first, pair.second);
    } else {
      spread(pair.first);
      const double sizes = spread_norm_ + x_.squared_norm(pair.second);
      const double length = sizes - 2 * x_.dot(pair.second, spread_.data());
      return length > kNearRows * sizes ? length : x_.squared_distance(pair.first, pair.second);
    }
  }

  // Lays a sparse row out among zeros; pairs of one row often come together.
  void spread(std::int32_t row) {
    if (row == spread_row_) return;
    if (spread_row_ >= 0) x_.clear(spread_row_, spread_.data());
    spread_.resize(w_.size());
    x_.add(row, 1.0, spread_.data());
    spread_norm_ = x_.squared_norm(row);
    spread_row_ = row;
  }
  void clear_spread() {
    std::vector<double>().swap(spread_);
    spread_row_ = static_cast<std::int32_t>(kNoRow);
  }

  const Rows given_;
  Rows x_;  // the rows that pairs are made of: those given, or copies of some
  RowCopies<Rows> copies_;
  KeptDifferences<Rows> differences_;
  Shuffler shuffle_;
  Poll poll_;
  std::vector<Pair> pairs_;
  std::vector<std::int32_t> active_;
  std::int64_t n_active_ = 0, entries_read_ = 0;
  std::vector<double> w_, spread_, margins_;
  std::int32_t spread_row_ = static_cast<std::int32_t>(kNoRow);
  double spread_norm_ = 0, range_ = kFirstRange;
  double squared_ = 0, stretch_ = 1;  // |w|^2 at the last look; the multiple of w that P is of
  Range last_ = kAnywhere;
  bool settled_ = false;  // whether the last epoch's violations were within the range
  bool only_points_ = true, kept_ = false, copied_ = false;
};

#include "pairs/pair_bounds.ipp"

}  // namespace

template <class Rows>
std::unique_ptr<PairDescent> make_pair_descent(const Rows& x, std::uint64_t seed) {
  return std::make_unique<DescentOnPairs<Rows>>(x, seed);
}

}  // namespace toprank
