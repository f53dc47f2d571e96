#include "pairs/pair_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/random.hpp"
#include "support/root.hpp"

namespace toprank {
namespace {

// Parts of the table for every one of the few, and the most of them.
constexpr std::size_t kParts = 4, kMostParts = std::size_t{1} << 20;
// Ranks are found for so many rows at a time: nothing in there waits for anything else.
constexpr std::uint32_t kBlock = 256;
// Steps of a line search, at the most.
constexpr int kMostSteps = 60;
// By this factor a search that has found no upper end goes on.
constexpr double kGrowth = 4.0;
// Where the slope only jumps: a bracket as narrow as this.
constexpr double kNarrow = 1e-12;

}  // namespace

PairRanks::PairRanks(std::int64_t n_rows, const std::int64_t* positives, const double* p,
                     std::int64_t m, const std::int64_t* negatives, const double* q,
                     std::int64_t n)
    : n_rows_(n_rows), scale_(1.0) {
  if (p == nullptr) scale_ /= static_cast<double>(m);
  if (q == nullptr) scale_ /= static_cast<double>(n);
  const auto make = [](Side& side, double sign, const std::int64_t* rows, const double* weights,
                       std::int64_t size) {
    side.sign = sign;
    side.rows.assign(rows, rows + size);
    if (weights != nullptr) side.weights.assign(weights, weights + size);
  };
  const bool few_are_positive = m <= n;
  make(few_are_positive ? few_ : many_, 1.0, positives, p, m);
  make(few_are_positive ? many_ : few_, -1.0, negatives, q, n);
  const std::size_t size = few_.size();
  values_.resize(size);
  g_.resize(size + 1);
  order_.resize(size);
  above_.resize(size);
  below_.resize(size + 1);
  many_of_.resize(size + 1);
  along_.resize(size + 1);
  rank_.resize(many_.size());
  e_.resize(many_.size());
}

void PairRanks::sort(const double* scores) {
  for (std::uint32_t k = 0; k < few_.size(); ++k) values_[k] = few_.sign * scores[few_.rows[k]];
  sorter_(values_.data(), few_.size(), order_.data(), g_.data());
  g_[few_.size()] = std::numeric_limits<double>::infinity();
  double weight = 0, u = 0, u2 = 0;
  for (std::uint32_t k = 0; k < few_.size(); ++k) {
    const double moved = k > 0 ? g_[k] - g_[k - 1] : 0.0;
    u2 += moved * (2.0 * u + moved * weight);
    u += moved * weight;
    weight += few_.weight(order_[k]);
    below_[k + 1] = {g_[k], weight, u, u2};
  }
  make_table();
}

// Parts of equal width from the least g to the largest. A part's place is a monotone function of
// the value, whatever rounding does to it.
void PairRanks::make_table() {
  const std::uint32_t size = few_.size();
  last_part_ = static_cast<std::uint32_t>(std::min(kParts * size, kMostParts));
  low_ = g_[0];
  const double range = g_[size - 1] - low_;
  per_part_ = range > 0 ? static_cast<double>(last_part_) / range : 0.0;
  if (!std::isfinite(per_part_)) per_part_ = 0.0;
  begins_.resize(last_part_ + std::size_t{1});
  std::uint32_t k = 0;
  for (std::uint32_t part = 0; part <= last_part_; ++part) {
    begins_[part] = k;
    while (k < size && part_of(g_[k]) <= part) ++k;
  }
}

std::uint32_t PairRanks::part_of(double value) const {
  const double place = std::max((value - low_) * per_part_, 0.0);
  return static_cast<std::uint32_t>(std::min(place, static_cast<double>(last_part_)));
}

// The number of g < e for every row of the many: the first of its part, and a few steps.
void PairRanks::rank_many(const double* scores) {
  const double sign = many_.sign;
  const double* g = g_.data();
  for (std::uint32_t begin = 0; begin < many_.size(); begin += kBlock) {
    const std::uint32_t end = std::min(begin + kBlock, many_.size());
    for (auto k = begin; k < end; ++k) e_[k] = 1.0 - sign * scores[many_.rows[k]];
    for (auto k = begin; k < end; ++k) rank_[k] = part_of(e_[k]);
    for (auto k = begin; k < end; ++k) {
      const double e = e_[k];
      auto rank = begins_[rank_[k]];
      rank += g[rank] < e;
      rank += g[rank] < e;
      if (g[rank] < e) {
        const auto part = rank_[k];
        const auto last = part < last_part_ ? begins_[part + std::size_t{1}] : few_.size();
        rank = static_cast<std::uint32_t>(std::lower_bound(g + rank, g + last, e) - g);
      }
      rank_[k] = rank;
    }
  }
}

template <bool kAlong>
PairRanks::Sums PairRanks::sweep(double* v, const double* r) {
  Sums sums;
  const std::uint32_t size = few_.size();
  if constexpr (kAlong) {
    Two upto;
    for (std::uint32_t k = 0; k < size; ++k) {
      const double own = r[few_.rows[order_[k]]], w = few_.weight(order_[k]);
      upto.first += w * own;
      upto.second += w * own * own;
      along_[k + 1] = upto;
    }
  }
  std::fill(many_of_.begin(), many_of_.end(), Two{});
  const double slope = -2.0 * many_.sign * scale_;
  for (std::uint32_t k = 0; k < many_.size(); ++k) {
    const auto row = many_.rows[k], rank = rank_[k];
    const auto& below = below_[rank];
    const double w = many_.weight(k), beyond = rank > 0 ? e_[k] - below.last : 0.0;
    const double u = below.u + beyond * below.weight;
    sums.value += w * (below.u2 + beyond * (below.u + u));
    sums.total += w * u;
    v[row] = slope * w * u;
    many_of_[rank].first += w;
    many_of_[rank].second += w * beyond;
    if constexpr (kAlong)
      sums.curved += w * (along_[rank].second +
                          r[row] * (r[row] * below.weight - 2.0 * along_[rank].first));
  }
  double weight = 0, u = 0;
  for (std::uint32_t k = size; k-- > 0;) {
    if (k + 1 < size) u += weight * (g_[k + 1] - g_[k]);
    u += many_of_[k + 1].second;
    weight += many_of_[k + 1].first;
    above_[k] = weight;
    v[few_.rows[order_[k]]] = -2.0 * few_.sign * scale_ * few_.weight(order_[k]) * u;
  }
  return {scale_ * sums.value, 2.0 * scale_ * sums.total, 2.0 * scale_ * sums.curved};
}

PairRanks::Sums PairRanks::slope(const double* scores, double* v, const double* r) {
  sort(scores);
  rank_many(scores);
  if (few_.rows.size() + many_.rows.size() < static_cast<std::size_t>(n_rows_))
    std::fill(v, v + n_rows_, 0.0);
  known_ = true;
  return r == nullptr ? sweep<false>(v, r) : sweep<true>(v, r);
}

void PairRanks::curvature(const double* r, double* out) {
  std::fill(out, out + n_rows_, 0.0);
  const std::uint32_t size = few_.size();
  double sum = 0;
  along_[0] = {};
  for (std::uint32_t k = 0; k < size; ++k) {
    sum += few_.weight(order_[k]) * r[few_.rows[order_[k]]];
    along_[k + 1] = {sum, 0.0};  // the second gathers the many of this rank
  }
  const double bend = 2.0 * scale_;
  for (std::uint32_t k = 0; k < many_.size(); ++k) {
    auto& along = along_[rank_[k]];
    const auto row = many_.rows[k];
    const double w = many_.weight(k);
    out[row] = bend * w * (below_[rank_[k]].weight * r[row] - along.first);
    along.second += w * r[row];
  }
  sum = 0;
  for (std::uint32_t k = size; k-- > 0;) {
    sum += along_[k + 1].second;
    const auto row = few_.rows[order_[k]];
    out[row] = bend * few_.weight(order_[k]) * (above_[k] * r[row] - sum);
  }
}

PairRanks::Step PairRanks::search(const double* s, const double* r, const Ray& ray, double share,
                                  double* moved, double* v) {
  Step step;
  const double enough = share * -ray.slope;
  double low = 0, high = std::numeric_limits<double>::infinity(), theta = ray.first;
  for (int trial = 0; trial < kMostSteps; ++trial) {
    for (std::int64_t k = 0; k < n_rows_; ++k) moved[k] = s[k] + theta * r[k];
    step.theta = theta;
    step.sums = slope(moved, v, r);
    double left = ray.linear + theta * ray.square;
    for (std::int64_t k = 0; k < n_rows_; ++k) left += v[k] * r[k];
    step.left = left;
    if (std::abs(left) <= enough) break;
    (left < 0 ? low : high) = theta;  // what is not a number is too far
    if (std::isfinite(high) && high - low <= kNarrow * high) break;
    const double curved = ray.square + step.sums.curved;
    theta = ray_step(low, high, theta, theta - left / curved, kGrowth);
  }
  return step;
}

PairRanks::Thinned PairRanks::thinned(double most) const {
  // Half by curvature, half by weight: a row of little curvature that alone has a column must not
  // come to count for many.
  double total = 0, few_weight = 0, many_weight = 0;
  for (std::uint32_t k = 0; k < few_.size(); ++k) {
    if (!(above_[k] > 0)) continue;
    total += few_.weight(order_[k]) * above_[k];
    few_weight += few_.weight(order_[k]);
  }
  for (std::uint32_t k = 0; k < many_.size(); ++k)
    if (rank_[k] > 0) many_weight += many_.weight(k);
  const auto chance = [&](double side) {
    return [=](std::uint32_t, double w, double others) {
      return 0.5 * most * w * (others / total + 1.0 / side);
    };
  };
  return keep(chance(few_weight), chance(many_weight));
}

PairRanks::Thinned PairRanks::thinned_by(const double* m, double least) const {
  const auto chance = [&](const Side& side) {
    return [&, bend = 2.0 * scale_](std::uint32_t k, double w, double others) {
      return bend * w * others * m[side.rows[k]] + least;
    };
  };
  return keep(chance(few_), chance(many_));
}

template <class OfFew, class OfMany>
PairRanks::Thinned PairRanks::keep(const OfFew& of_few, const OfMany& of_many) const {
  Thinned kept;
  const std::uint32_t size = few_.size();
  SystematicSample few_sample(0.5), many_sample(0.5);
  std::vector<std::uint32_t> upto(size + std::size_t{1}, 0);
  for (std::uint32_t k = 0; k < size; ++k) {
    if (above_[k] > 0) {
      const double w = few_.weight(order_[k]);
      const double chance = std::min(of_few(order_[k], w, above_[k]), 1.0);
      if (few_sample.keeps(chance)) {
        kept.others.push_back(few_.rows[order_[k]]);
        kept.other_weights.push_back(w / chance);
      }
    }
    upto[k + 1] = static_cast<std::uint32_t>(kept.others.size());
  }
  std::vector<std::uint32_t> found, count(kept.others.size() + 2, 0);
  std::vector<double> weights;
  for (std::uint32_t k = 0; k < many_.size(); ++k) {
    if (rank_[k] == 0) continue;
    const double w = many_.weight(k);
    const double chance = std::min(of_many(k, w, below_[rank_[k]].weight), 1.0);
    if (!many_sample.keeps(chance)) continue;
    found.push_back(k);
    weights.push_back(2.0 * scale_ * w / chance);
    ++count[upto[rank_[k]] + std::size_t{1}];
  }
  for (std::size_t k = 1; k < count.size(); ++k) count[k] += count[k - 1];
  kept.rows.resize(found.size());
  kept.last.resize(found.size());
  kept.weights.resize(found.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto last = upto[rank_[found[k]]];
    const auto place = count[last]++;
    kept.rows[place] = many_.rows[found[k]];
    kept.last[place] = last;
    kept.weights[place] = weights[k];
  }
  return kept;
}

}  // namespace toprank
