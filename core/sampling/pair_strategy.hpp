// How likely a proposed pair is accepted, by its margin d = s_i - t_j at the current weights.
// The score of a missing side is 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace toprank {

enum class Strategy { random, soft_close, soft_correct, hard_close, hard_correct };

// u = 1 - d: the pair has a loss where u > 0.
inline double slack(double margin) { return 1.0 - margin; }

// soft-close p = 2 / (1 + e^|d|), soft-correct p = 1 - 2 / (1 + e^[u]_+) = tanh([u]_+ / 2),
// both without overflow and cancellation; 1 for the others.
inline double acceptance(Strategy strategy, double margin) {
  if (strategy == Strategy::soft_close) {
    const double fall = std::exp(-std::abs(margin));
    // Its logarithm is finite still where it is not: the pair can be drawn.
    return std::max(2.0 * fall / (1.0 + fall), std::numeric_limits<double>::min());
  }
  if (strategy == Strategy::soft_correct) return std::tanh(0.5 * std::max(slack(margin), 0.0));
  return 1.0;
}

// log p, also where p itself is too small for a number; minus infinity for p = 0.
inline double log_acceptance(Strategy strategy, double margin) {
  if (strategy == Strategy::soft_close) {
    const double away = std::abs(margin);
    return std::log(2.0) - away - std::log1p(std::exp(-away));
  }
  return std::log(acceptance(strategy, margin));
}

}  // namespace toprank
