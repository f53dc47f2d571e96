// Roots of increasing functions of one variable, by Newton's method inside a bracket.
#pragma once

#include <cmath>
#include <limits>

namespace toprank {

// A function's value and slope at a point.
template <class A>
struct Residual {
  A f, slope;
};

// Returns the root of an increasing f in [low, high]; either end may be infinite. `look(t)` returns
// the Residual at t, with f = 0 where t is close enough to the root. A Newton step that would leave
// the bracket becomes a bisection or, where an end is infinite, a step twice as long as the last of
// its kind. Ends when a step is at most `tol`, or after `max_steps` looks. NaN counts as f > 0.
template <class A, class Look>
A bracketed_root(const Look& look, A t, A low, A high, A tol, int max_steps) {
  A stride = 1;
  for (int k = 0; k < max_steps; ++k) {
    const Residual<A> at = look(t);
    if (at.f == 0) break;
    (at.f < 0 ? low : high) = t;
    A next = t - at.f / at.slope;
    if (next == t) break;  // the step is below rounding
    if (!(low < next && next < high)) {
      next = A(0.5) * (low + high);
      if (!std::isfinite(next)) next = at.f < 0 ? t + stride : t - stride, stride *= 2;
      if (next == low || next == high) break;
    }
    const A step = std::abs(next - t);
    t = next;
    if (step <= tol) break;
  }
  return t;
}

// The next trial of a search for a root along a ray, low < root < high, after one at t: `next`, from
// Newton's method, if it lies inside. While `high` is infinite t grows by no more than growth^2, and by
// `growth` where Newton's method has no answer.
inline double ray_step(double low, double high, double t, double next, double growth) {
  const bool bounded = std::isfinite(high);
  if (low < next && next < high) return bounded ? next : std::fmin(next, growth * growth * t);
  if (!bounded) return growth * t;
  return low > 0 ? 0.5 * (low + high) : 0.1 * high;
}

}  // namespace toprank
