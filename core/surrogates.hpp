// The convex losses l(z) in the form dual coordinate descent wants them: for a positive row of
// weight p the dual carries  F(a) = p l*(a / p),  and one coordinate step solves
//   F'(x) + v + k (x - a) = 0.
// rise(z) = l(z) - l(0), exact to its own rounding: see losses/top.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace toprank {

struct Box {
  double low, high;
};

// l(z) = [1 + z]_+^2,  F(a) = a^2 / (4 p) - a,  a >= 0
struct SquaredHinge {
  static constexpr double at_zero = 1;
  static constexpr bool quadratic = true;  // F is; zeros are common, so rows can be shrunk
  static double value(double z) { return z > -1 ? (1 + z) * (1 + z) : 0; }
  static double rise(double z) { return z > -1 ? z * (2 + z) : -1; }
  static double start(double) { return 0; }
  static double dual(double a, double p) { return a * (a / (4 * p) - 1); }
  static double slope(double a, double p) { return a / (2 * p) - 1; }
  static double curvature(double, double p) { return 1 / (2 * p); }
  static double solve(double a, double v, double k, double p) {
    return std::max(a - (v + slope(a, p)) / (k + 1 / (2 * p)), 0.0);
  }
  static double inside(double a, double) { return std::max(a, 0.0); }
  static Box box(double, double) { return {0, std::numeric_limits<double>::infinity()}; }
};

// Newton's method for the increasing f(t) = t + v + k (x(t) - a), whose slope is at least one,
// so that its root lies within |f| of t; the steps of a coordinate need five digits at most.
template <class Step>
double increasing_root(double t, Step&& step) {
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  for (int i = 0; i < 60; ++i) {
    const auto [f, slope] = step(t);
    if (f > 0) high = std::min(high, t), low = std::max(low, t - f);
    else low = std::max(low, t), high = std::min(high, t - f);
    double next = t - f / slope;
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    if (std::abs(next - t) <= 1e-6) return next;
    t = next;
  }
  return t;
}

struct Residual {
  double f, slope;
};

// l(z) = log(1 + e^z),  F(a) = p (r log r + (1 - r) log(1 - r)),  r = a / p in (0, 1)
struct Logistic {
  static constexpr double at_zero = 0.6931471805599453;
  static constexpr bool quadratic = false;
  static double value(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }
  static double rise(double z) {
    return std::max(z, 0.0) + std::log1p(0.5 * std::expm1(-std::abs(z)));
  }
  static double start(double p) { return 0.5 * p; }
  static double dual(double a, double p) {
    const double r = a / p;
    auto entropy = [](double x) { return x > 0 ? x * std::log(x) : 0; };
    return p * (entropy(r) + entropy(1 - r));
  }
  static double slope(double a, double p) { return std::log(a / (p - a)); }
  static double curvature(double a, double p) { return p / (a * (p - a)); }
  static double solve(double a, double v, double k, double p) {
    const double t = increasing_root(slope(a, p), [&](double logit) {
      const double r = 1 / (1 + std::exp(-logit));
      return Residual{logit + v + k * (p * r - a), 1 + k * p * r * (1 - r)};
    });
    const double r = 1 / (1 + std::exp(-t));
    return p * std::clamp(r, 1e-12, 1 - 1e-12);
  }
  static double inside(double a, double p) { return std::clamp(a, 1e-9 * p, (1 - 1e-9) * p); }
  static Box box(double a, double p) { return {0.1 * a, a + 0.9 * (p - a)}; }
};

// l(z) = e^z,  F(a) = a log(a / p) - a,  a > 0
struct Exponential {
  static constexpr double at_zero = 1;
  static constexpr bool quadratic = false;
  static double value(double z) { return std::exp(z); }
  static double rise(double z) { return std::expm1(z); }
  static double start(double p) { return p; }
  static double dual(double a, double p) { return a > 0 ? a * (std::log(a / p) - 1) : 0; }
  static double slope(double a, double p) { return std::log(a / p); }
  static double curvature(double a, double) { return 1 / a; }
  // f(t) = t + v + k (p e^t - a) is convex, so Newton's method from the right of its root falls
  // towards it; with f < 0 at a itself the root lies below a - f/k.
  static double solve(double a, double v, double k, double p) {
    double t = slope(a, p);
    if (const double f = t + v; f < 0) t = std::min(t - f, std::log((a - f / k) / p));
    for (int i = 0; i < 60; ++i) {
      const double x = p * std::exp(t), step = (t + v + k * (x - a)) / (1 + k * x);
      t -= step;
      if (std::abs(step) <= 1e-6) break;
    }
    return p * std::exp(std::max(t, -27.0));  // not below 1e-12 p
  }
  static double inside(double a, double p) { return std::max(a, 1e-9 * p); }
  static Box box(double a, double) { return {0.1 * a, 10 * a}; }
};

}  // namespace toprank
