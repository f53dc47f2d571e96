#include "pairs/exponential_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace toprank {
namespace {

constexpr int kMostSteps = 100;

// out = base e^(factor s), scaled to sum to one; returns the log of the sum.
double tilt(const double* base, const double* s, double factor, std::int64_t begin,
            std::int64_t end, double* out) {
  double largest = -std::numeric_limits<double>::infinity(), total = 0;
  for (auto k = begin; k < end; ++k) largest = std::max(largest, factor * s[k]);
  for (auto k = begin; k < end; ++k) {
    out[k] = base[k] * std::exp(factor * s[k] - largest);
    total += out[k];
  }
  for (auto k = begin; k < end; ++k) out[k] /= total;
  return largest + std::log(total);
}

// log(above / below) / 2, finite.
double half_log_odds(double above, double below) {
  constexpr double tiny = std::numeric_limits<double>::min();
  return 0.5 * (std::log(std::max(above, tiny)) - std::log(std::max(below, tiny)));
}

}  // namespace

ExponentialPairs::ExponentialPairs(const double* shares, std::int64_t n_rows,
                                   std::int64_t n_positive, double p)
    : n_positive_(n_positive),
      p_(p),
      shares_(shares, shares + n_rows),
      scores_(shares_.size()),
      weights_(shares_) {}

double ExponentialPairs::move(const double* h, double t) {
  const auto n = n_rows();
  for (std::int64_t k = 0; k < n; ++k) scores_[k] += t * h[k];
  const double above =
      tilt(shares_.data(), scores_.data(), -1.0, 0, n_positive_, weights_.data());
  return above + tilt(shares_.data(), scores_.data(), p_, n_positive_, n, weights_.data()) / p_;
}

double ExponentialPairs::exact_step(const double* h, double most_step) const {
  const auto n = n_rows();
  const auto [least, most] = std::minmax_element(h, h + n);
  const double low = *least, high = *most;
  if (low == high) return 0.0;
  // The weights at the two values, of positives and of negatives.
  double top[2] = {}, bottom[2] = {};
  for (std::int64_t k = 0; k < n; ++k) {
    const int side = k >= n_positive_;
    if (h[k] == high) top[side] += weights_[k];
    else if (h[k] == low) bottom[side] += weights_[k];
    else return newton_step(h, 2.0 / (high - low), most_step);
  }
  // Of (2h - high - low) / (high - low) both tilted means become tanh(u), u = x - t = y + p t.
  const double x = half_log_odds(top[0], bottom[0]), y = half_log_odds(top[1], bottom[1]);
  return std::clamp((x - y) / (1.0 + p_), -most_step, most_step) * 2.0 / (high - low);
}

ExponentialPairs::Slope ExponentialPairs::slope(const double* h, const double* weights) const {
  double means[2] = {}, spreads[2] = {};
  const auto n = n_rows();
  for (std::int64_t k = 0; k < n; ++k) means[k >= n_positive_] += weights[k] * h[k];
  for (std::int64_t k = 0; k < n; ++k) {
    const int side = k >= n_positive_;
    const double away = h[k] - means[side];
    spreads[side] += weights[k] * away * away;
  }
  return {means[1] - means[0], spreads[0] + p_ * spreads[1]};
}

// The zero of J', which increases, on the way down from 0 to the farthest point; no step is longer
// than `unit`.
double ExponentialPairs::newton_step(const double* h, double unit, double most) const {
  const auto n = n_rows();
  std::vector<double> tilted(weights_);
  auto at = slope(h, tilted.data());
  const double farthest = -std::copysign(most * unit, at.first);
  double low = std::min(farthest, 0.0), high = std::max(farthest, 0.0), t = 0.0;
  bool seen = false;  // the farthest point
  for (int k = 0; k < kMostSteps && at.first != 0; ++k) {
    const double newton = at.second > 0 ? -at.first / at.second : -at.first / 1e-300;
    double next = t + std::clamp(newton, -unit, unit);
    if (next <= low || next >= high) {
      next = seen ? 0.5 * (low + high) : farthest;
      seen = true;
    }
    const double moved = std::abs(next - t);
    t = next;
    if (moved <= 1e-12 * unit) break;
    tilt(weights_.data(), h, -t, 0, n_positive_, tilted.data());
    tilt(weights_.data(), h, p_ * t, n_positive_, n, tilted.data());
    at = slope(h, tilted.data());
    if (t == farthest && at.first * farthest <= 0) break;
    (at.first < 0 ? low : high) = t;
  }
  return t;
}

void ExponentialPairs::edge_weights(double* out) const {
  const auto n = n_rows();
  for (std::int64_t k = 0; k < n; ++k) out[k] = (k < n_positive_ ? 0.5 : -0.5) * weights_[k];
}

}  // namespace toprank
