#include "pairs/pair_scan.hpp"

#include <algorithm>
#include <cmath>

#include "support/root.hpp"

namespace toprank {
namespace {

// Sums over so few pairs are taken afresh: what rounding left in the running sums would show. On a
// bend this narrow, beside the scores, it would show in the sums over many more.
constexpr std::uint32_t kFew = 8, kFewWhereNarrow = 1024;
constexpr double kNarrow = 1e-6;
// How near the sum of the duals comes to the one asked for, and in how many steps at the most.
constexpr double kBalanced = 1e-14;
constexpr int kMostSteps = 100;

PairScan::Side make_side(double sign, const std::int64_t* rows, const double* weights,
                         std::int64_t size) {
  PairScan::Side side;
  side.sign = sign;
  side.rows.assign(rows, rows + size);
  if (weights != nullptr) side.weights.assign(weights, weights + size);
  const auto length = static_cast<std::size_t>(size);
  side.sorted_rows.resize(length);
  side.bad.resize(length);
  side.sorted_weights.resize(side.weights.size());
  return side;
}

// What one mover sees of the other class: pairs on the bend, and pairs beyond it.
struct Window {
  std::uint32_t first = 0, last = 0;  // the bend, from the worst on
  double weight = 0, u = 0, u2 = 0;   // sums over the bend of w, w u, w u^2
  double far_weight = 0, far_u = 0;   // and over the pairs beyond it
};

}  // namespace

PairScan::PairScan(std::int64_t n_rows, const std::int64_t* positives, const double* p,
                   std::int64_t m, const std::int64_t* negatives, const double* q, std::int64_t n)
    : n_rows_(n_rows),
      scale_(1.0),
      positives_(make_side(-1.0, positives, p, m)),
      negatives_(make_side(1.0, negatives, q, n)) {
  if (p == nullptr) scale_ /= static_cast<double>(m);
  if (q == nullptr) scale_ /= static_cast<double>(n);
  values_.resize(static_cast<std::size_t>(std::max(m, n)));
  order_.resize(values_.size());
}

void PairScan::sort(const double* scores) {
  sort_side(positives_, scores);
  sort_side(negatives_, scores);
}

void PairScan::sort_side(Side& side, const double* scores) {
  for (std::uint32_t k = 0; k < side.size(); ++k) values_[k] = side.sign * scores[side.rows[k]];
  sorter_(values_.data(), side.size(), order_.data(), side.bad.data());
  for (std::uint32_t k = 0; k < side.size(); ++k) side.sorted_rows[k] = side.rows[order_[k]];
  for (std::size_t k = 0; k < side.weights.size(); ++k)
    side.sorted_weights[k] = side.weights[order_[k]];
}

// From the best mover to the worst: u grows in every pair, pairs come on the bend at u = 0 and
// leave it for good at u = width, so that the sums are of terms of their own size.
template <class Visit>
void PairScan::sweep(const Side& movers, const Side& others, double width, Visit&& visit) const {
  Window window;
  const std::uint32_t n = others.size();
  // The same number whichever class moves, to the last bit: sums over rows and over columns must
  // be of the same duals, and a narrow bend makes much of a rounding.
  const bool from_positives = movers.sign < 0;
  const double r = reach_;
  const auto excess = [from_positives, r](double mover, double other) {
    return from_positives ? (r + mover) + other : (r + other) + mover;
  };
  const double reach = std::abs(r) + std::abs(movers.bad[0]) + std::abs(movers.bad[movers.size() - 1]);
  const std::uint32_t few = width < kNarrow * reach ? kFewWhereNarrow : kFew;
  // The best have no pair that counts, not even with the worst of the others.
  const auto* best = movers.bad.data();
  const auto none = [&](double bad) { return !(excess(bad, others.bad[n - 1]) > 0); };
  const auto begin = std::partition_point(best, best + movers.size(), none) - best;
  double before = begin < movers.size() ? movers.bad[begin] : 0.0;
  for (auto k = static_cast<std::uint32_t>(begin); k < movers.size(); ++k) {
    const double bad = movers.bad[k], moved = bad - before;
    before = bad;
    window.u2 += moved * (2.0 * window.u + moved * window.weight);
    window.u += moved * window.weight;
    window.far_u += moved * window.far_weight;
    for (; window.last < n; ++window.last) {
      const double u = excess(bad, others.bad[n - 1 - window.last]);
      if (!(u > 0)) break;
      const double w = others.weight(n - 1 - window.last);
      window.weight += w;
      window.u += w * u;
      window.u2 += w * u * u;
    }
    for (; window.first < window.last; ++window.first) {
      const double u = excess(bad, others.bad[n - 1 - window.first]);
      if (!(u > width)) break;
      const double w = others.weight(n - 1 - window.first);
      window.weight -= w;
      window.u -= w * u;
      window.u2 -= w * u * u;
      window.far_weight += w;
      window.far_u += w * u;
    }
    if (window.last - window.first <= few) {
      window.weight = window.u = window.u2 = 0;
      for (auto l = window.first; l < window.last; ++l) {
        const double u = excess(bad, others.bad[n - 1 - l]), w = others.weight(n - 1 - l);
        window.weight += w;
        window.u += w * u;
        window.u2 += w * u * u;
      }
    }
    visit(k, window);
  }
}

namespace {

// What the pairs of a mover of this weight add to the sums; the sum of their duals.
double add_window(const Window& window, double weight, double width, PairSums& sums) {
  double dual;
  if (std::isinf(width)) {
    sums.value += weight * window.u2;
    dual = weight * 2.0 * window.u;
  } else {
    const double bent = window.u2 / width;
    sums.value += weight * (window.far_u + 0.5 * (bent - width * window.far_weight));
    sums.bend += weight * (window.u - bent);
    // What rounding left in the sums must not lead out of the duals' domain.
    dual = weight * (window.far_weight + std::clamp(window.u / width, 0.0, std::max(window.weight, 0.0)));
  }
  sums.bent += weight * window.weight;
  sums.hinge += weight * (window.far_u + window.u);
  sums.total += dual;
  return dual;
}

PairSums scaled(PairSums sums, double scale) {
  return {scale * sums.value, scale * sums.hinge, scale * sums.total, scale * sums.bend,
          scale * sums.bent};
}

}  // namespace

PairSums PairScan::value(double width) {
  PairSums sums;
  const bool few = positives_.size() <= negatives_.size();
  const Side &movers = few ? positives_ : negatives_, &others = few ? negatives_ : positives_;
  sweep(movers, others, width, [&](std::uint32_t k, const Window& window) {
    add_window(window, movers.weight(k), width, sums);
  });
  return scaled(sums, scale_);
}

PairSums PairScan::balance(double width, double total) {
  const double best = positives_.bad.front() + negatives_.bad.front();
  const double worst = positives_.bad.back() + negatives_.bad.back();
  const double low = -worst, high = width - best;  // no pair counts, and all do
  if (!(low < reach_ && reach_ < high)) reach_ = 0.5 * (low + high);
  PairSums sums;
  auto look = [&](double reach) {
    reach_ = reach;
    sums = value(width);
    const double excess = sums.total - total;
    return Residual<double>{std::abs(excess) <= kBalanced * total ? 0 : excess, sums.bent / width};
  };
  bracketed_root(look, reach_, low, high, 0.0, kMostSteps);
  return sums;
}

PairSums PairScan::sweep_slope(Side& movers, const Side& others, double width, double* v) const {
  PairSums sums;
  movers.first.assign(movers.size(), 0);
  movers.last.assign(movers.size(), 0);
  sweep(movers, others, width, [&](std::uint32_t k, const Window& window) {
    movers.first[k] = window.first;
    movers.last[k] = window.last;
    const double dual = add_window(window, movers.weight(k), width, sums);
    v[movers.row(k)] = movers.sign * scale_ * dual;
  });
  return scaled(sums, scale_);
}

PairSums PairScan::slope(double width, double* v) {
  width_ = width;
  std::fill(v, v + n_rows_, 0.0);
  sweep_slope(negatives_, positives_, width, v);
  return sweep_slope(positives_, negatives_, width, v);
}

void PairScan::curvature(const double* r, double* out) {
  std::fill(out, out + n_rows_, 0.0);
  curve_side(positives_, negatives_, r, out);
  curve_side(negatives_, positives_, r, out);
}

void PairScan::curve_side(const Side& movers, Side& others, const double* r, double* out) const {
  const std::uint32_t n = others.size();
  // Sums from the worst on, of the weights times r and, where weights differ, of the weights.
  const bool weighted = !others.weights.empty();
  auto& sums = others.prefix;
  sums.resize(weighted ? 2 * (n + std::size_t{1}) : n + std::size_t{1});
  double* of_r = sums.data();
  double* of_weight = of_r + n + 1;
  of_r[0] = 0;
  if (weighted) of_weight[0] = 0;
  for (std::uint32_t l = 0; l < n; ++l) {
    const double w = others.weight(n - 1 - l);
    of_r[l + 1] = of_r[l] + w * r[others.row(n - 1 - l)];
    if (weighted) of_weight[l + 1] = of_weight[l] + w;
  }
  const double bend = scale_ * (std::isinf(width_) ? 2.0 : 1.0 / width_);
  for (std::uint32_t k = 0; k < movers.size(); ++k) {
    const auto first = movers.first[k], last = movers.last[k];
    if (first == last) continue;
    const auto row = movers.row(k);
    const double weight = weighted ? of_weight[last] - of_weight[first] : last - first;
    out[row] = bend * movers.weight(k) * (weight * r[row] - (of_r[last] - of_r[first]));
  }
}

}  // namespace toprank
