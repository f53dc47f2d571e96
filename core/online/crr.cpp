#include "online/crr.hpp"

#include <algorithm>
#include <cmath>

#include "online/reading.hpp"

namespace toprank {
namespace {

// The first step would wipe w out; sofia-ml leaves this much of it.
constexpr double kLeastShrink = 1e-7;
// So many draws ahead a row is asked for: about as long as memory takes.
constexpr std::int64_t kAhead = 6;

double sum_of_squares(const std::vector<double>& v) {
  double s = 0;
  for (const double x : v) s += x * x;
  return s;
}

}  // namespace

CombinedDescent::CombinedDescent(const double* w, std::int64_t n_weights, std::int64_t steps,
                                 StepRules rules)
    : rules_(rules), steps_(steps), weights_(w, n_weights) {}

template <class Rows>
std::int64_t CombinedDescent::run(const Rows& x, const std::int64_t* positives,
                                  const std::int64_t* negatives, std::int64_t n_draws,
                                  bool summed) {
  weights_.begin(summed);
  if (rules_.project) squared_norm_ = sum_of_squares(weights_.v());  // rounding must not add up for ever
  auto ask = [&](std::int64_t draw) {
    if (positives[draw] >= 0) x.prefetch(positives[draw]);
    if (negatives[draw] >= 0) x.prefetch(negatives[draw]);
  };
  auto ask_where = [&](std::int64_t draw) {
    if (positives[draw] >= 0) x.prefetch_place(positives[draw]);
    if (negatives[draw] >= 0) x.prefetch_place(negatives[draw]);
  };
  for (std::int64_t draw = 0; draw < n_draws; ++draw) {
    if (draw + 2 * kAhead < n_draws) ask_where(draw + 2 * kAhead);
    if (draw + kAhead < n_draws) ask(draw + kAhead);
    const auto i = positives[draw], j = negatives[draw];
    if (!step(x, i, j)) return draw;
    poll_((i < 0 ? 0 : x.entries(i)) + (j < 0 ? 0 : x.entries(j)) + 1);
  }
  weights_.gather();
  return weights_.finite() ? n_draws : n_draws - 1;
}

// False if it overflows.
template <class Rows>
bool CombinedDescent::step(const Rows& x, std::int64_t i, std::int64_t j) {
  const double k = static_cast<double>(++steps_);
  const auto& v = weights_.v();
  const double v_i = i < 0 ? 0.0 : x.dot(i, v.data()), v_j = j < 0 ? 0.0 : x.dot(j, v.data());
  const bool pair = i >= 0 && j >= 0;
  // The entry of z in the column of ones.
  const double one = static_cast<std::int64_t>(v.size()) == x.n_cols || pair ? 0.0
                     : i >= 0                                                 ? 1.0
                                                                              : -1.0;
  const double u = weights_.scale() * (v_i - v_j + one * weights_.last());
  if (!std::isfinite(u)) return false;

  const double target = rules_.squared && pair ? 2.0 : 1.0;
  const double residual = rules_.squared ? target - u : (u < 1.0 ? 1.0 : 0.0);
  loss_ += rules_.squared ? 0.5 * residual * residual : std::max(1.0 - u, 0.0);
  weights_.multiply(std::max(1.0 - 1.0 / k, kLeastShrink));
  if (residual != 0.0) {
    const double c = residual / (rules_.alpha * k * weights_.scale());
    if (!std::isfinite(c)) return false;
    if (i >= 0) weights_.add(x, i, c);
    if (rules_.project) {
      // |v + c x_i|^2, then |v + c x_i - c x_j|^2.
      if (i >= 0) squared_norm_ += c * (2.0 * v_i + c * x.squared_norm(i));
      if (j >= 0) squared_norm_ += c * (c * x.squared_norm(j) - 2.0 * x.dot(j, v.data()));
      if (one != 0.0) squared_norm_ += c * (c + 2.0 * one * weights_.last());
    }
    if (j >= 0) weights_.add(x, j, -c);
    if (one != 0.0) weights_.add_to_last(c * one);
  }
  if (rules_.project) {
    const double size = rules_.alpha * squared_norm_ * weights_.scale() * weights_.scale();
    if (!std::isfinite(size)) return false;
    if (size > 1.0) weights_.multiply(1.0 / std::sqrt(size));
  }
  if (weights_.end_step() && rules_.project) squared_norm_ = sum_of_squares(v);
  return true;
}

#define TOPRANK_ROWS(...)                                                             \
  template std::int64_t CombinedDescent::run(const __VA_ARGS__&, const std::int64_t*, \
                                             const std::int64_t*, std::int64_t, bool);
TOPRANK_EACH_ROWS(TOPRANK_ROWS)
#undef TOPRANK_ROWS

}  // namespace toprank
