#include <algorithm>
#include <cmath>
#include <limits>

#include "sampling/envelope.hpp"

namespace toprank {
namespace {

// With the negatives t_1 <= t_2 <= ..., those from the first to the k-th have
//   sum_l e^(t_l - s) = E_k e^(t_k - s),   E_k = 1 + E_{k-1} e^(t_{k-1} - t_k)   in [1, n],
// for a positive above them, and those from the k-th to the last F_k e^(s - t_k) for one below:
// only distances to the nearest negative are raised to a power.
class CloseEnvelope final : public Envelope {
 public:
  CloseEnvelope(const SortedScores& scores, const PairPool& pool)
      : Envelope(scores), below_(scores.negatives.score.size()),
        above_(scores.negatives.score.size()), place_(scores.positives.score.size()) {
    const auto &s = scores.positives.score, &t = scores.negatives.score;
    const auto n = t.size();
    for (std::size_t k = 0; k < n; ++k)
      below_[k] = 1.0 + (k == 0 ? 0.0 : below_[k - 1] * std::exp(t[k - 1] - t[k]));
    for (std::size_t k = n; k-- > 0;)
      above_[k] = 1.0 + (k + 1 == n ? 0.0 : above_[k + 1] * std::exp(t[k] - t[k + 1]));
    std::size_t k = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      while (k < n && t[k] <= s[i]) ++k;
      place_[i] = static_cast<std::int64_t>(k);
    }
    nearest_ = std::numeric_limits<double>::infinity();
    if (pool.real_share() > 0)
      for (std::int64_t i = 0; i < scores.positives.size(); ++i)
        nearest_ = std::min({nearest_, to_below(i), to_above(i)});
    if (pool.real_share() < 1) {
      for (const auto x : s) nearest_ = std::min(nearest_, std::abs(x));
      for (const auto x : t) nearest_ = std::min(nearest_, std::abs(x));
    }
  }

  double ratio(double margin) const override { return 1.0 / (1.0 + std::exp(-std::abs(margin))); }
  double unit() const override { return std::exp(-nearest_); }
  double row(std::int64_t i) const override { return sum_below(i) + sum_above(i); }

 protected:
  Strategy strategy() const override { return Strategy::soft_close; }
  double point(double margin) const override { return 2.0 * std::exp(nearest_ - std::abs(margin)); }

  // The k-th has its part of the sum from the first to the k-th: found by bisection for a random
  // part of the whole, and likewise from the last.
  std::int64_t draw_in_row(std::int64_t i, Random& random) const override {
    const auto& t = scores_.negatives.score;
    const bool is_below = random.uniform() * row(i) < sum_below(i);
    if (is_below) {
      const auto last = place_[i] - 1;
      const double part = random.uniform() * below_[last];
      std::int64_t begin = 0, end = last;  // the smallest k with more than the part
      while (begin < end) {
        const auto k = begin + (end - begin) / 2;
        if (below_[k] * std::exp(t[k] - t[last]) > part) end = k;
        else begin = k + 1;
      }
      return begin;
    }
    const auto first = std::min(place_[i], scores_.negatives.size() - 1);
    const double part = random.uniform() * above_[first];
    std::int64_t begin = first, end = scores_.negatives.size() - 1;  // the largest such k
    while (begin < end) {
      const auto k = begin + (end - begin + 1) / 2;
      if (above_[k] * std::exp(t[first] - t[k]) > part) begin = k;
      else end = k - 1;
    }
    return begin;
  }

 private:
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  double to_below(std::int64_t i) const {
    const auto k = place_[i];
    return k == 0 ? kFar : scores_.positives.score[i] - scores_.negatives.score[k - 1];
  }
  double to_above(std::int64_t i) const {
    const auto k = place_[i];
    return k == scores_.negatives.size() ? kFar
                                         : scores_.negatives.score[k] - scores_.positives.score[i];
  }
  double sum_below(std::int64_t i) const {
    return place_[i] == 0 ? 0.0 : 2.0 * below_[place_[i] - 1] * std::exp(nearest_ - to_below(i));
  }
  double sum_above(std::int64_t i) const {
    return place_[i] == scores_.negatives.size()
               ? 0.0
               : 2.0 * above_[place_[i]] * std::exp(nearest_ - to_above(i));
  }

  std::vector<double> below_, above_;  // E and F
  std::vector<std::int64_t> place_;    // how many negatives are at or below each positive
  double nearest_;
};

}  // namespace

std::unique_ptr<Envelope> close_envelope(const SortedScores& scores, const PairPool& pool) {
  return std::make_unique<CloseEnvelope>(scores, pool);
}

}  // namespace toprank
