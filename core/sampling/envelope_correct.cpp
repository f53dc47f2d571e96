#include <algorithm>
#include <cmath>

#include "sampling/envelope.hpp"

namespace toprank {
namespace {

// Prefix sums in twice the precision: the difference of two of them keeps its digits where the
// scores are large and the slacks small.
class PrefixSums {
 public:
  explicit PrefixSums(const std::vector<double>& values)
      : high_(values.size() + 1), low_(values.size() + 1) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto [sum, error] = two_sum(high_[k], values[k]);
      high_[k + 1] = sum;
      low_[k + 1] = low_[k] + error;
    }
  }

  // sum over k in [begin, end) of (value_k + shift)
  double shifted(std::int64_t begin, std::int64_t end, double shift) const {
    const auto count = static_cast<double>(end - begin);
    const auto [values, error] = two_sum(high_[end], -high_[begin]);
    const double shifts = count * shift, lost = std::fma(count, shift, -shifts);
    const auto [sum, more] = two_sum(values, shifts);
    return sum + (error + more + lost + (low_[end] - low_[begin]));
  }

 private:
  struct Sum {
    double value, error;
  };
  static Sum two_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
  }
  std::vector<double> high_, low_;
};

class CorrectEnvelope final : public Envelope {
 public:
  explicit CorrectEnvelope(const SortedScores& scores)
      : Envelope(scores), sums_(scores.negatives.score), low_(first_with_loss(scores)),
        high_(low_.size()) {
    const auto &s = scores.positives.score, &t = scores.negatives.score;
    std::size_t k = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      while (k < t.size() && slack(s[i] - t[k]) < 2) ++k;
      high_[i] = static_cast<std::int64_t>(k);
    }
  }

  double ratio(double margin) const override {
    const double half = 0.5 * slack(margin);
    return half > 0 ? std::tanh(half) / std::min(half, 1.0) : 0.0;
  }
  double unit() const override { return 1.0; }
  double row(std::int64_t i) const override {
    return rising(i, high_[i]) + static_cast<double>(scores_.negatives.size() - high_[i]);
  }

 protected:
  Strategy strategy() const override { return Strategy::soft_correct; }
  double point(double margin) const override {
    return std::clamp(0.5 * slack(margin), 0.0, 1.0);
  }
  std::int64_t draw_in_row(std::int64_t i, Random& random) const override {
    const auto n = scores_.negatives.size();
    const double left = random.uniform() * row(i) - static_cast<double>(n - high_[i]);
    if (left < 0) return high_[i] + random.below(n - high_[i]);
    std::int64_t begin = low_[i], end = high_[i];  // the smallest k with rising(k + 1) > left
    while (end - begin > 1) {
      const auto middle = begin + (end - begin) / 2;
      (rising(i, middle) > left ? end : begin) = middle;
    }
    return std::min(begin, n - 1);
  }

 private:
  // The sum of u/2 over the negatives from low to `end`.
  double rising(std::int64_t i, std::int64_t end) const {
    return 0.5 * sums_.shifted(low_[i], end, 1.0 - scores_.positives.score[i]);
  }

  PrefixSums sums_;
  std::vector<std::int64_t> low_, high_;  // 0 < u < 2 between them, u >= 2 above
};

}  // namespace

std::unique_ptr<Envelope> correct_envelope(const SortedScores& scores) {
  return std::make_unique<CorrectEnvelope>(scores);
}

}  // namespace toprank
