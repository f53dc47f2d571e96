// The lower tail of the margins s_i - s_j of all pairs, without listing them.
//
// Margins are minus the sums of two badnesses. All comparisons are of such a sum with a level: a
// sum moved to the other side would break ties differently.
#include <algorithm>
#include <utility>

#include "pairs/pair_scan.hpp"
#include "support/interrupt.hpp"

namespace toprank {
namespace {

// Pairs that are left when a quantile is looked up among them one by one, in rows.
constexpr std::int64_t kFewPairs = 4;
constexpr int kMostHalvings = 2200;  // more than there are halvings between any two doubles

// For every row of `movers`, from the best to the worst, `visit(k, above, from)`: of the others,
// counted from the worst, `above` make a sum beyond `level`, and `from` one not below it.
template <class Visit>
void sweep_level(const PairScan::Side& movers, const PairScan::Side& others, double level,
                 Visit&& visit) {
  const std::uint32_t n = others.size();
  std::uint32_t above = 0, from = 0;
  for (std::uint32_t k = 0; k < movers.size(); ++k) {
    const double bad = movers.bad[k];
    while (above < n && bad + others.bad[n - 1 - above] > level) ++above;
    from = std::max(from, above);
    while (from < n && bad + others.bad[n - 1 - from] >= level) ++from;
    visit(k, above, from);
  }
}

// What the others weigh, added up from the worst on; nothing where all weigh one.
std::vector<double> weights_upto(const PairScan::Side& side) {
  std::vector<double> sums;
  if (side.weights.empty()) return sums;
  const auto n = side.size();
  sums.assign(n + std::size_t{1}, 0.0);
  for (std::uint32_t k = 0; k < n; ++k) sums[k + 1] = sums[k] + side.weight(n - 1 - k);
  return sums;
}

double weight_of(const std::vector<double>& sums, std::uint32_t count) {
  return sums.empty() ? static_cast<double>(count) : sums[count];
}

}  // namespace

// Pairs whose sums are not below a level, or `strictly` above it.
PairScan::Upto PairScan::upto(double level, bool strictly) const {
  Upto result;
  const auto sums = weights_upto(negatives_);
  const std::uint32_t n = negatives_.size();
  const auto counts = [level, strictly](double sum) {
    return strictly ? sum > level : sum >= level;
  };
  std::uint32_t count = 0;
  for (std::uint32_t k = 0; k < positives_.size(); ++k) {
    const double bad = positives_.bad[k];
    while (count < n && counts(bad + negatives_.bad[n - 1 - count])) ++count;
    result.count += count;
    result.weight += positives_.weight(k) * weight_of(sums, count);
  }
  return result;
}

double PairScan::quantile(double share, bool strictly) const {
  const double target = share / scale_;
  const auto enough = [&](double weight) { return strictly ? weight > target : weight >= target; };
  double low = positives_.bad.front() + negatives_.bad.front();  // enough, as far as can be
  double high = positives_.bad.back() + negatives_.bad.back();
  auto beyond = upto(high, false);
  if (enough(beyond.weight) || !(low < high)) return -high;
  auto within = upto(low, false);
  if (!enough(within.weight)) return -low;
  const auto few = kFewPairs * (positives_.size() + negatives_.size() + std::int64_t{1});
  // Levels are interpolated, to either side of the share in turn; halved where that gained little.
  const double beside = 0.25 * static_cast<double>(few) * within.weight /
                        static_cast<double>(within.count);
  bool halve = false;
  for (int step = 0; step < kMostHalvings && within.count - beyond.count > few; ++step) {
    const double aim = target + (step % 2 == 0 ? beside : -beside);
    double share = (aim - beyond.weight) / (within.weight - beyond.weight);
    if (halve || !(share > 0 && share < 1)) share = 0.5;
    const double middle = high - share * (high - low);
    if (!(low < middle && middle < high)) {
      if (share == 0.5) return -low;  // all that are left are equal
      halve = true;
      continue;
    }
    const auto found = upto(middle, false);
    const auto before = within.count - beyond.count;
    const bool inside = enough(found.weight);
    (inside ? low : high) = middle;
    (inside ? within : beyond) = found;
    halve = 2 * (within.count - beyond.count) > before;
  }
  std::vector<std::pair<double, double>> candidates;  // low <= sum < high, and weights
  const auto n = negatives_.size();
  std::uint32_t first = 0;
  for (std::uint32_t k = 0; k < positives_.size(); ++k) {
    const double bad = positives_.bad[k];
    while (first < n && bad + negatives_.bad[n - 1 - first] >= high) ++first;
    for (auto l = first; l < n; ++l) {
      const double sum = bad + negatives_.bad[n - 1 - l];
      if (sum < low) break;
      candidates.emplace_back(sum, positives_.weight(k) * negatives_.weight(n - 1 - l));
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  double weight = beyond.weight;
  for (const auto& [sum, own] : candidates)
    if (enough(weight += own)) return -sum;
  return -low;
}

void PairScan::marginals(double level, double* below, double* at) const {
  std::fill(below, below + n_rows_, 0.0);
  std::fill(at, at + n_rows_, 0.0);
  const auto one_side = [&](const Side& movers, const Side& others) {
    const auto sums = weights_upto(others);
    sweep_level(movers, others, -level,
                [&](std::uint32_t k, std::uint32_t above, std::uint32_t from) {
                  const double own = scale_ * movers.weight(k), worse = weight_of(sums, above);
                  below[movers.row(k)] = own * worse;
                  at[movers.row(k)] = own * (weight_of(sums, from) - worse);
                });
  };
  one_side(positives_, negatives_);
  one_side(negatives_, positives_);
}

std::int64_t PairScan::list(double low, double high, std::int64_t most, ListedPairs& pairs) const {
  const auto count = upto(-high, false).count - upto(-low, true).count;
  if (count > most) return count;
  const auto n = negatives_.size();
  std::uint32_t first = 0;
  Poll poll;
  for (std::uint32_t k = 0; k < positives_.size(); ++k) {
    const double bad = positives_.bad[k];
    while (first < n && bad + negatives_.bad[n - 1 - first] > -low) ++first;
    for (auto l = first; l < n; ++l) {
      const double sum = bad + negatives_.bad[n - 1 - l];
      if (sum < -high) break;
      pairs.positives.push_back(positives_.row(k));
      pairs.negatives.push_back(negatives_.row(n - 1 - l));
      pairs.weights.push_back(scale_ * positives_.weight(k) * negatives_.weight(n - 1 - l));
      pairs.margins.push_back(-sum);
    }
    poll(1);
  }
  return count;
}

}  // namespace toprank
