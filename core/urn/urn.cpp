#include "urn/urn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/interrupt.hpp"

namespace toprank {
namespace {

// A term so much smaller than the largest changes no sum.
constexpr double kNothing = 1e-20;
// What a walk may drop at its ends: some thousand steps of it stay below rounding.
constexpr double kDropped = 1e-17;
// A level and a probability that are equal as fractions differ by rounding.
constexpr double kRounding = 1 + 1e-12;
// Geometric steps taken in one sweep: enough of them to keep the adders busy.
constexpr int kStages = 8;

// P(V(c) = v) for the v that matter, up to a factor:
// C(v+c, v) C(m-v+n-c-1, m-v), by the ratio of neighbours, from the mean outwards.
class Law {
 public:
  Law(const Urn& urn, std::int64_t c) : urn_(urn), c_(c) {
    const double share = static_cast<double>(c + 1) / static_cast<double>(urn.n + 1);
    const auto middle = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(share * static_cast<double>(urn.m)), 0, urn.m);
    double largest = 1, term = 1;
    for (auto v = middle; v > 0;) {
      const double before = term;
      term /= rise(--v);
      largest = std::max(largest, term);
      if (term < before && term < kNothing * largest) break;
      below_.push_back(term);
    }
    first_ = middle - static_cast<std::int64_t>(below_.size());
    terms_.assign(below_.rbegin(), below_.rend());
    terms_.push_back(1);
    term = 1;
    for (auto v = middle; v < urn.m; ++v) {
      const double before = term;
      term *= rise(v);
      largest = std::max(largest, term);
      if (term < before && term < kNothing * largest) break;
      terms_.push_back(term);
    }
    for (const double one : terms_) total_ += one;
  }

  // The least q with P(V > q) <= level.
  std::int64_t upper(double level) const {
    double tail = 0;
    for (auto i = terms_.size(); i > 0; --i) {
      tail += terms_[i - 1];
      if (tail > level * total_ * kRounding) return first_ + static_cast<std::int64_t>(i) - 1;
    }
    return first_;
  }

  // The largest a with P(V < a) <= level.
  std::int64_t lower(double level) const {
    double below = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      below += terms_[i];
      if (below > level * total_ * kRounding) return first_ + static_cast<std::int64_t>(i);
    }
    return first_ + static_cast<std::int64_t>(terms_.size()) - 1;
  }

 private:
  // P(V = v + 1) / P(V = v).
  double rise(std::int64_t v) const {
    const auto left = urn_.m - v;
    return static_cast<double>(v + 1 + c_) / static_cast<double>(v + 1) *
           (static_cast<double>(left) / static_cast<double>(left + urn_.n - c_ - 1));
  }

  Urn urn_;
  std::int64_t c_, first_ = 0;
  std::vector<double> below_, terms_;
  double total_ = 0;
};

// The walk of V: n + 1 independent geometric steps, P(step = v) = (1 - theta) theta^v, given that
// they end in m. Every order of the urn has the same probability under it.
class Walk {
 public:
  explicit Walk(const Urn& urn)
      : urn_(urn), theta_(static_cast<double>(urn.m) / static_cast<double>(urn.m + urn.n + 1)) {}

  // Goes on up to V(c), and forgets the walks that are not within the bounds there. Whether any is.
  bool to(std::int64_t c, std::int64_t low, std::int64_t high) {
    const auto steps = c + 1 - done_;
    const auto room = high - first_ + 1;
    if (room <= 0 || mass_.empty()) return false;
    mass_.resize(static_cast<std::size_t>(
        std::min(room, static_cast<std::int64_t>(mass_.size()) + reach(steps))));
    for (auto left = steps; left > 0; left -= kStages)
      sweep(static_cast<int>(std::min<std::int64_t>(left, kStages)));
    done_ = c + 1;
    return keep(std::max<std::int64_t>(low - first_, 0));
  }

  // P(the walk got here | it ends in m).
  double probability() const {
    const auto left = static_cast<double>(urn_.n + 1 - done_), n = static_cast<double>(urn_.n + 1);
    const auto m = static_cast<double>(urn_.m);
    const double all = log_negative_binomial(n, m);
    double sum = 0;
    for (std::size_t i = 0; i < mass_.size(); ++i) {
      const auto rest = static_cast<double>(urn_.m - first_ - static_cast<std::int64_t>(i));
      if (rest >= 0) sum += mass_[i] * std::exp(log_negative_binomial(left, rest) - all);
    }
    return sum;
  }

 private:
  // log P(so many steps sum to v).
  double log_negative_binomial(double steps, double v) const {
    return std::lgamma(v + steps) - std::lgamma(v + 1) - std::lgamma(steps) +
           v * std::log(theta_) + steps * std::log1p(-theta_);
  }

  // How much further so many steps surely go no more than.
  std::int64_t reach(std::int64_t steps) const {
    const double mean = static_cast<double>(steps) * theta_ / (1 - theta_);
    return static_cast<std::int64_t>(mean + 12 * std::sqrt(mean / (1 - theta_)) +
                                     45 / (1 - theta_)) + 2;
  }

  // A geometric step is out[v] = theta out[v-1] + (1 - theta) in[v]; eight of them in one sweep.
  void sweep(int stages) {
    const double scale = std::pow(1 - theta_, stages), theta = theta_;
    if (stages < kStages) {
      for (double& one : mass_) one *= scale;
      for (int stage = 0; stage < stages; ++stage) {
        double last = 0;
        for (double& one : mass_) one = last = theta * last + one;
      }
      return;
    }
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (double& one : mass_) {
      s0 = theta * s0 + scale * one;
      s1 = theta * s1 + s0;
      s2 = theta * s2 + s1;
      s3 = theta * s3 + s2;
      s4 = theta * s4 + s3;
      s5 = theta * s5 + s4;
      s6 = theta * s6 + s5;
      s7 = theta * s7 + s6;
      one = s7;
    }
  }

  // Drops what is below `cut`, and what is next to nothing at both ends.
  bool keep(std::int64_t cut) {
    if (cut >= static_cast<std::int64_t>(mass_.size())) {
      mass_.clear();
      return false;
    }
    const double least = kDropped * *std::max_element(mass_.begin() + cut, mass_.end());
    const auto counts = [least](double one) { return one > least; };
    const auto from = std::find_if(mass_.begin() + cut, mass_.end(), counts);
    const auto upto = std::find_if(mass_.rbegin(), mass_.rend(), counts).base();
    first_ += from - mass_.begin();
    mass_.erase(upto, mass_.end());
    mass_.erase(mass_.begin(), from);
    return !mass_.empty();
  }

  Urn urn_;
  double theta_;
  std::vector<double> mass_{1.0};  // P(V = first_ + i, within the bounds so far)
  std::int64_t first_ = 0, done_ = 0;
};

}  // namespace

std::int64_t upper_quantile(const Urn& urn, std::int64_t c, double level) {
  if (c >= urn.n) return urn.m;
  return c < 0 ? 0 : Law(urn, c).upper(level);
}

std::int64_t lower_quantile(const Urn& urn, std::int64_t c, double level) {
  if (c >= urn.n) return urn.m;
  return c < 0 ? 0 : Law(urn, c).lower(level);
}

double crossing_probability(const Urn& urn, const std::int64_t* grid, const std::int64_t* lower,
                            const std::int64_t* upper, std::int64_t size) {
  Walk walk(urn);
  Poll poll;
  for (std::int64_t i = 0; i < size; ++i) {
    // Bounds beyond all counts are cut off, so that differences of them are numbers.
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
    const auto low = std::max<std::int64_t>(lower[i], 0), high = std::clamp(upper[i], -most, most);
    if (!walk.to(grid[i], low, high)) return 1;
    poll(100'000);
  }
  return std::clamp(1 - walk.probability(), 0.0, 1.0);
}

}  // namespace toprank
