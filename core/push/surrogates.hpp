// The convex losses l(z) in the form dual coordinate descent wants them: for a row of weight p
// the dual carries  F(a) = p l*(a / p),  and one coordinate step solves
//   F'(x) + v + k (x - a) = 0.
// rise(z) = l(z) - l(0), exact to its own rounding: see losses/threshold.py. rate = l', bend = l''.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "support/root.hpp"

namespace toprank {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kStepTolerance = 1e-6;  // of the logarithm or logit of a dual
constexpr int kRootLooks = 60;           // of Newton's method for one dual

struct Box {
  double low, high;
};

// l(z) = [1 + z]_+^2,  F(a) = a^2 / (4 p) - a,  a >= 0
struct SquaredHinge {
  static constexpr double at_zero = 1;
  static constexpr double rate_at_zero = 2;
  static constexpr bool quadratic = true;  // F is; zeros are common, so rows can be shrunk
  // Without branches: the vector units take several rows at once.
  static double value(double z) { return part(z) * part(z); }
  static double rate(double z) { return 2 * part(z); }
  static double bend(double z) { return z > -1 ? 2 : 0; }
  static double rise(double z) {
    const double above = std::max(z, -1.0);
    return above * (2 + above);
  }
  static double part(double z) { return std::max(1 + z, 0.0); }
  static double start(double) { return 0; }
  static double dual(double a, double p) { return a * (a / (4 * p) - 1); }
  static double slope(double a, double p) { return a / (2 * p) - 1; }
  static double curvature(double, double p) { return 1 / (2 * p); }
  static double solve(double a, double v, double k, double p) {
    return std::max(a - (v + slope(a, p)) / (k + 1 / (2 * p)), 0.0);
  }
  static double inside(double a, double) { return std::max(a, 0.0); }
  static Box box(double, double) { return {0, kInfinity}; }
  static double most_multiple(double, double) { return kInfinity; }
};

// l(z) = [1 + z]_+,  F(a) = -a,  0 <= a <= p
struct Hinge {
  static constexpr double at_zero = 1;
  static constexpr double rate_at_zero = 1;
  static constexpr bool quadratic = true;
  static double value(double z) { return std::max(1 + z, 0.0); }
  static double rate(double z) { return z > -1 ? 1 : 0; }
  static double bend(double) { return 0; }
  static double rise(double z) { return std::max(z, -1.0); }
  static double start(double) { return 0; }
  static double dual(double a, double) { return -a; }
  static double slope(double, double) { return -1; }
  static double curvature(double, double) { return 0; }
  static double solve(double a, double v, double k, double p) {
    return std::clamp(a - (v - 1) / k, 0.0, p);
  }
  static double inside(double a, double p) { return std::clamp(a, 0.0, p); }
  static Box box(double, double p) { return {0, p}; }
  static double most_multiple(double a, double p) { return a > 0 ? p / a : kInfinity; }
};

// l(z) = log(1 + e^z),  F(a) = p (r log r + (1 - r) log(1 - r)),  r = a / p in (0, 1)
struct Logistic {
  static constexpr double at_zero = 0.6931471805599453;
  static constexpr double rate_at_zero = 0.5;
  static constexpr bool quadratic = false;
  static double value(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }
  static double rate(double z) { return 1 / (1 + std::exp(-z)); }
  static double bend(double z) { return rate(z) * rate(-z); }
  static double rise(double z) {
    return std::max(z, 0.0) + std::log1p(0.5 * std::expm1(-std::abs(z)));
  }
  static double start(double p) { return 0.5 * p; }
  static double dual(double a, double p) {
    const double r = a / p;
    return p * ((r > 0 ? r * std::log(r) : 0) + (r < 1 ? (1 - r) * std::log1p(-r) : 0));
  }
  static double slope(double a, double p) { return std::log(a / (p - a)); }
  static double curvature(double a, double p) { return p / (a * (p - a)); }
  static double solve(double a, double v, double k, double p) {
    // The slope in the logit is at least one, and a coordinate step needs five digits.
    auto look = [&](double logit) {
      const double r = 1 / (1 + std::exp(-logit));
      return Residual<double>{logit + v + k * (p * r - a), 1 + k * p * r * (1 - r)};
    };
    const double start = a < p ? slope(a, p) : 0;
    const double t = bracketed_root(look, start, -kInfinity, kInfinity, kStepTolerance, kRootLooks);
    const double r = 1 / (1 + std::exp(-t));
    return p * std::clamp(r, 1e-12, 1 - 1e-12);
  }
  static double inside(double a, double p) { return std::clamp(a, 1e-9 * p, (1 - 1e-9) * p); }
  static Box box(double a, double p) { return {0.1 * a, a + 0.9 * (p - a)}; }
};

// l(z) = e^z,  F(a) = a log(a / p) - a,  a > 0
struct Exponential {
  static constexpr double at_zero = 1;
  static constexpr double rate_at_zero = 1;
  static constexpr bool quadratic = false;
  static double value(double z) { return std::exp(z); }
  static double rate(double z) { return std::exp(z); }
  static double bend(double z) { return std::exp(z); }
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
    for (int i = 0; i < kRootLooks; ++i) {
      const double x = p * std::exp(t), step = (t + v + k * (x - a)) / (1 + k * x);
      t -= step;
      if (std::abs(step) <= kStepTolerance) break;
    }
    return p * std::exp(std::max(t, -27.0));  // not below 1e-12 p
  }
  static double inside(double a, double p) { return std::max(a, 1e-9 * p); }
  static Box box(double a, double) { return {0.1 * a, 10 * a}; }
};

// What the negatives lose, on top of having to stay at or below the threshold where there is a
// ceiling. Their coordinate steps have -v where the positives' have v.

// Nothing: TopPush.
struct Unloaded {
  static constexpr double at_zero = 0;
  static constexpr bool lossless = true, shrinks = true, ceiling = true;
  static double value(double) { return 0; }
  static double rate(double) { return 0; }
  static double bend(double) { return 0; }
  static double rise(double) { return 0; }
  static double cap(double) { return 0; }
  static double dual(double, double) { return 0; }
  static double slope(double, double) { return 0; }
  static double curvature(double, double) { return 0; }
  static double solve(double a, double v, double k, double) { return std::max(a - v / k, 0.0); }
  static double inside(double a, double) { return std::max(a, 0.0); }
  static Box box(double, double) { return {0, kInfinity}; }
};

// l itself: RectPush. Beyond the cap, q l'(0), the constraint takes over, and F is constant.
template <class Loss>
struct Rectified {
  static constexpr double at_zero = Loss::at_zero;
  static constexpr bool lossless = false, shrinks = Loss::quadratic, ceiling = true;
  static double value(double z) { return Loss::value(z); }
  static double rate(double z) { return Loss::rate(z); }
  static double bend(double z) { return Loss::bend(z); }
  static double rise(double z) { return Loss::rise(z); }
  static double cap(double q) { return Loss::rate_at_zero * q; }
  static double dual(double a, double q) { return Loss::dual(std::min(a, cap(q)), q); }
  static double slope(double a, double q) { return a < cap(q) ? Loss::slope(a, q) : 0; }
  static double curvature(double a, double q) { return a < cap(q) ? Loss::curvature(a, q) : 0; }
  static double solve(double a, double v, double k, double q) {
    const double straight = a - v / k, most = cap(q);
    if (a >= most && straight >= most) return straight;
    const double next = Loss::solve(a, v, k, q);
    return next > most ? std::max(most, straight) : next;
  }
  static double inside(double a, double q) { return a < cap(q) ? Loss::inside(a, q) : a; }
  static Box box(double a, double q) { return {Loss::box(std::min(a, cap(q)), q).low, kInfinity}; }
};

// l(z) up to zero, l(k z) / k and a constant above: RectPushApp, and l itself where k is one. There is
// no ceiling. Beyond the same cap F is that of l, divided by k.
template <class Loss>
struct Steeper {
  static constexpr double at_zero = Loss::at_zero;
  static constexpr bool lossless = false, shrinks = Loss::quadratic, ceiling = false;
  double k = 1, share = 1 / k;
  double value(double z) const {
    const double own = Loss::value(steeper(z)), above = (own - at_zero) * share + at_zero;
    return z > 0 ? above : own;
  }
  double rate(double z) const { return Loss::rate(steeper(z)); }
  double bend(double z) const { return Loss::bend(steeper(z)) * (z > 0 ? k : 1); }
  double rise(double z) const { return Loss::rise(steeper(z)) * (z > 0 ? share : 1); }
  static double cap(double q) { return Loss::rate_at_zero * q; }
  double dual(double a, double q) const {
    const double inner = Loss::dual(a, q), bend = q * at_zero;
    return a > cap(q) ? (inner + bend) / k - bend : inner;
  }
  double slope(double a, double q) const { return Loss::slope(a, q) / of(a, q); }
  double curvature(double a, double q) const { return Loss::curvature(a, q) / of(a, q); }
  double solve(double a, double v, double stiff, double q) const {
    const double next = Loss::solve(a, v, stiff, q);
    return next > cap(q) ? std::max(cap(q), Loss::solve(a, k * v, k * stiff, q)) : next;
  }
  static double inside(double a, double q) { return Loss::inside(a, q); }
  static Box box(double a, double q) { return Loss::box(a, q); }

 private:
  double steeper(double z) const { return std::max(z, k * z); }  // k is one at the least
  double of(double a, double q) const { return a > cap(q) ? k : 1; }
};

enum class Surrogate { squared_hinge, logistic, exponential, hinge };

// How the negatives lose: nothing and the positives' loss, both below a ceiling, or that loss, k times
// as steep above zero, without one.
struct NegativeSide {
  bool rectified = false;
  double steeper = 0;  // k; zero: there is a ceiling
};

// work(loss of the positives, loss of the negatives). The hinge of the negatives is not smooth, and
// without a ceiling there is the squared hinge and the logistic loss.
template <class Work>
auto with_surrogate(Surrogate loss, NegativeSide negatives, Work&& work) {
  auto with = [&]<class Loss>(Loss of_positives) {
    if constexpr (std::is_same_v<Loss, SquaredHinge> || std::is_same_v<Loss, Logistic>)
      if (negatives.steeper > 0) return work(of_positives, Steeper<Loss>{negatives.steeper});
    if constexpr (!std::is_same_v<Loss, Hinge>)
      if (negatives.rectified) return work(of_positives, Rectified<Loss>{});
    return work(of_positives, Unloaded{});
  };
  switch (loss) {
    case Surrogate::logistic:
      return with(Logistic{});
    case Surrogate::exponential:
      return with(Exponential{});
    case Surrogate::hinge:
      return with(Hinge{});
    default:
      return with(SquaredHinge{});
  }
}

}  // namespace toprank
