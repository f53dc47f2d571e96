#include "online/spam.hpp"

#include <algorithm>
#include <cmath>

namespace toprank {

template <class Rows>
std::int64_t ProximalDescent::run(const Rows& x, const Reading& reading, MeanScores means,
                                  const double* above, const double* below) {
  weights_.begin(true);
  const double p = rules_.share;
  for (std::int64_t k = 0; k < reading.size; ++k) {
    ask_ahead(x, reading, k);
    const auto i = reading.rows[k];
    const double eta = rules_.eta / std::sqrt(static_cast<double>(++steps_));
    const double e = reading.weights[i] * std::min(eta, rules_.cap);
    const double s = weights_.scale() * x.dot(i, weights_.v().data());
    const double g = reading.signs[i] > 0 ? 2.0 * (1.0 - p) * (s - means.below - 1.0)
                                          : 2.0 * p * (s - means.above + 1.0);
    const double c = e * g, shrink = 1.0 / (1.0 + e * rules_.beta);
    if (!std::isfinite(c) || !std::isfinite(c / weights_.scale())) return k;
    weights_.add(x, i, -c / weights_.scale());
    weights_.multiply(shrink);
    means.above = shrink * (means.above - c * above[i]);
    means.below = shrink * (means.below - c * below[i]);
    weights_.end_step();
    poll_(x.entries(i) + 1);
  }
  weights_.gather();
  return weights_.finite() ? reading.size : reading.size - 1;
}

#define TOPRANK_ROWS(...)                                                                   \
  template std::int64_t ProximalDescent::run(const __VA_ARGS__&, const Reading&, MeanScores, \
                                             const double*, const double*);
TOPRANK_EACH_ROWS(TOPRANK_ROWS)
#undef TOPRANK_ROWS

}  // namespace toprank
