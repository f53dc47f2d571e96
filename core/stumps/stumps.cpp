#include "stumps/stumps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "support/threads.hpp"

namespace toprank {
namespace {

// Merits nearer than this are taken for equal, and the first stump wins: the order in which a sum
// was taken must not decide.
constexpr double kEqual = 1e-12;
// Columns a task sweeps.
constexpr std::int64_t kColumnsATask = 16;
// Odds are held within e^24.
constexpr double kLogOdds = 24.0;

// The weights of positive and negative rows.
struct Sides {
  double above = 0, below = 0;
  Sides& operator+=(const Sides& other) {
    above += other.above;
    below += other.below;
    return *this;
  }
  friend Sides operator+(Sides a, const Sides& b) { return a += b; }
  friend Sides operator-(const Sides& a, const Sides& b) {
    return {a.above - b.above, a.below - b.below};
  }
};

constexpr Sides kBothSides{1.0, 1.0};

double half_log_odds(double share) {
  const double a = std::clamp(share, 0.0, 1.0);
  const double odds = std::log(std::max(a, 1e-300) / std::max(1.0 - a, 1e-300));
  return 0.5 * std::clamp(odds, -kLogOdds, kLogOdds);
}

double log_cosh(double x) { return std::abs(x) + std::log1p(std::exp(-2.0 * std::abs(x))); }

std::vector<Sides> by_side(const double* w, std::int64_t n_rows, std::int64_t n_positive) {
  std::vector<Sides> sides(static_cast<std::size_t>(n_rows));
  for (std::int64_t k = 0; k < n_rows; ++k) (k < n_positive ? sides[k].above : sides[k].below) = w[k];
  return sides;
}

// For p = 1: 1 - Z is the square of this.
struct Root {
  double operator()(const Sides& up) const {
    const double a = std::clamp(up.above, 0.0, 1.0), b = std::clamp(up.below, 0.0, 1.0);
    return std::sqrt(a * (1.0 - b)) - std::sqrt(b * (1.0 - a));
  }
};
double decrease_of(double root) {
  return std::copysign(-std::log1p(-std::min(root * root, 1.0 - kEqual)), root);
}

// With h = +-1, A = sum of w above the cut over positives, x = atanh(2 A - 1), y likewise over
// negatives, the best t makes both tilted means tanh(u), u = (p x + y) / (1 + p).
struct Decrease {
  double p;
  double operator()(const Sides& up) const {
    const double x = half_log_odds(up.above), y = half_log_odds(up.below);
    const double u = (p * x + y) / (1.0 + p);
    const double fall = log_cosh(x) + log_cosh(y) / p - (1.0 + 1.0 / p) * log_cosh(u);
    return std::copysign(std::max(fall, 0.0), x - y);
  }
};

struct Edge {
  double operator()(double above) const { return 2.0 * above; }
};

// The largest |sum so far| at the ends of levels.
struct Chain {
  const std::uint32_t *at, *end;
  double sum = 0, most = 0;
  std::int64_t left() const { return end - at; }
  void step(const double* s) {
    const auto row = *at++;
    sum += s[row & kRowNumber];
    // Branches here would be mispredicted half of the time.
    const auto mask = static_cast<std::uint64_t>(static_cast<std::int64_t>(
        static_cast<std::int32_t>(row)) >> 63);
    const double seen = std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) & mask);
    most = std::max(most, std::abs(seen));
  }
};

// Four at a time: one alone waits for its own sums.
void run(Chain* chains, int count, const double* s) {
  if (count == 4) {
    const auto together = std::min(std::min(chains[0].left(), chains[1].left()),
                                   std::min(chains[2].left(), chains[3].left()));
    Chain a = chains[0], b = chains[1], c = chains[2], d = chains[3];
    for (std::int64_t k = 0; k < together; ++k) a.step(s), b.step(s), c.step(s), d.step(s);
    chains[0] = a, chains[1] = b, chains[2] = c, chains[3] = d;
  }
  for (int k = 0; k < count; ++k)
    while (chains[k].at != chains[k].end) chains[k].step(s);
}

}  // namespace

std::int64_t StumpTable::n_stumps() const {
  std::int64_t count = 0;
  for (const auto& column : columns_) {
    const auto cuts = static_cast<std::int64_t>(column.levels.size()) - 1;
    count += column.missing() ? 2 * std::max<std::int64_t>(cuts, 0) + (cuts >= 0) : cuts;
  }
  return count;
}

bool StumpTable::has(std::int64_t column, std::int64_t cut) const {
  if (column < 0 || column >= n_columns()) return false;
  const auto& own = columns_[column];
  const auto n_levels = static_cast<std::int64_t>(own.levels.size());
  return cut >= (own.missing() ? -1 : 0) && cut < n_levels - (cut >= 0);
}

// Sums from the ends of the column towards its common level, whose rows are never summed: below it
// what lies above a cut is the total less the sum so far, above it the sum itself.
template <class Sum, class Visit>
void StumpTable::scan(const Column& column, const Sum* weights, Sum total, const Visit& visit) {
  const auto* row = column.rows.data();
  const auto *low_end = row + column.n_low, *high_end = low_end + column.n_high,
             *end = row + column.rows.size();
  Sum lost{};
  for (const auto* q = high_end; q != end; ++q) lost += weights[*q];
  const bool missing = high_end != end && !column.levels.empty();
  if (missing) visit(total - lost, std::int64_t{-1}, false);
  Sum sum = lost;
  for (std::int64_t cut = 0; row != low_end; ++row) {
    sum += weights[*row & kRowNumber];
    if ((*row & kLastOfLevel) == 0) continue;
    visit(total - sum, cut, false);
    if (missing) visit(total - sum + lost, cut, true);
    ++cut;
  }
  sum = Sum{};
  for (auto cut = static_cast<std::int64_t>(column.levels.size()) - 2; row != high_end; ++row) {
    sum += weights[*row & kRowNumber];
    if ((*row & kLastOfLevel) == 0) continue;
    visit(sum, cut, false);
    if (missing) visit(sum + lost, cut, true);
    --cut;
  }
}

template <class Sum, class Merit>
double StumpTable::largest(const Column& column, const Sum* weights, Sum total,
                           const Merit& merit) {
  double most = 0;
  scan(column, weights, total, [&](const Sum& above, std::int64_t, bool) {
    most = std::max(most, std::abs(merit(above)));
  });
  return most;
}

template <class Sum, class Merit>
Stump StumpTable::first_best(const Column& column, const Sum* weights, Sum total,
                             const Merit& merit) {
  const double most = largest(column, weights, total, merit);
  Stump best{0.0, static_cast<std::int64_t>(column.levels.size()), false};
  scan(column, weights, total, [&](const Sum& above, std::int64_t cut, bool missing_above) {
    const double value = merit(above);
    if (std::abs(value) >= most - kEqual && cut < best.cut) best = {value, cut, missing_above};
  });
  return best;
}

template <class Task>
void StumpTable::for_columns(int n_threads, const Task& task) const {
  const auto n_tasks = (n_columns() + kColumnsATask - 1) / kColumnsATask;
  parallel_for(n_tasks, useful_threads(n_entries_, n_threads), [&](std::int64_t k) {
    task(k * kColumnsATask, std::min((k + 1) * kColumnsATask, n_columns()));
  });
}

void StumpTable::edges(const double* s, double* out, int n_threads) const {
  for_columns(n_threads, [&](std::int64_t begin, std::int64_t end) {
    Chain chains[4];
    std::int64_t owners[4];
    int count = 0;
    const auto finish = [&] {
      run(chains, count, s);
      for (int k = 0; k < count; ++k)
        out[owners[k]] = std::max(out[owners[k]], 2.0 * chains[k].most);
      count = 0;
    };
    for (auto j = begin; j < end; ++j) {
      const Column& column = columns_[j];
      out[j] = 0;
      if (column.missing()) {
        out[j] = largest(column, s, 0.0, Edge{});
        continue;
      }
      const auto* row = column.rows.data();
      const auto* middle = row + column.n_low;
      const std::pair<const std::uint32_t*, const std::uint32_t*> sides[] = {
          {row, middle}, {middle, middle + column.n_high}};
      for (const auto& [first, last] : sides) {
        if (first == last) continue;
        owners[count] = j;
        chains[count++] = {first, last};
        if (count == 4) finish();
      }
    }
    finish();
  });
}

Stump StumpTable::best_edge(const double* s, std::int64_t column) const {
  return first_best(columns_[column], s, 0.0, Edge{});
}

void StumpTable::decreases(const double* w, std::int64_t n_positive, double p, double* out,
                           int n_threads) const {
  const auto sides = by_side(w, n_rows_, n_positive);
  for_columns(n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto j = begin; j < end; ++j)
      out[j] = p == 1.0
                   ? decrease_of(largest(columns_[j], sides.data(), kBothSides, Root{}))
                   : largest(columns_[j], sides.data(), kBothSides, Decrease{p});
  });
}

Stump StumpTable::best_decrease(const double* w, std::int64_t n_positive, double p,
                                std::int64_t column) const {
  const auto sides = by_side(w, n_rows_, n_positive);
  if (p != 1.0) return first_best(columns_[column], sides.data(), kBothSides, Decrease{p});
  auto best = first_best(columns_[column], sides.data(), kBothSides, Root{});
  best.merit = decrease_of(best.merit);
  return best;
}

void StumpTable::fill(std::int64_t column, std::int64_t cut, bool missing_above, double* h) const {
  const Column& own = columns_[column];
  const auto* row = own.rows.data();
  const auto *low_end = row + own.n_low, *high_end = low_end + own.n_high,
             *end = row + own.rows.size();
  // Only what lies on the other side of the cut than the common level has to be set.
  const bool common_above = static_cast<std::int64_t>(own.common) > cut;
  std::fill(h, h + n_rows_, common_above ? 1.0 : -1.0);
  std::int64_t level = 0;
  for (; row != low_end && level <= cut; ++row) {
    h[*row & kRowNumber] = -1.0;
    level += *row >> 31;
  }
  if (!common_above) {
    level = static_cast<std::int64_t>(own.levels.size()) - 1;
    for (row = low_end; row != high_end && level > cut; ++row) {
      h[*row & kRowNumber] = 1.0;
      level -= *row >> 31;
    }
  }
  for (row = high_end; row != end; ++row) h[*row] = missing_above ? 1.0 : -1.0;
}

}  // namespace toprank
