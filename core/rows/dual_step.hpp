// One coordinate of the dual of a smooth sum over rows: Yu, Huang and Lin, Dual coordinate descent
// methods for logistic regression and maximum entropy models, Machine Learning 85, 2011.
//
// A row of weight c that is wrong by m has the dual a; a unit of it makes the row less wrong by q.
// The best dual, all others as they are, is a' = c l'(z) with z + q c l'(z) = m + q a.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "rows/row_loss.hpp"
#include "support/root.hpp"

namespace toprank {

// The w > 0 with w + log w = x: a guess, and a step of fourth order (Fritsch, Shafer and Crowley).
template <class A>
inline A wright_omega(A x) {
  if (x < A(-8)) return std::exp(x);
  A w = x < 1 ? std::exp(x) / (1 + A(0.76) * std::exp(x)) : x - std::log(x) * x / (1 + x);
  for (int k = 0; k < 2; ++k) {
    const A off = x - w - std::log(w), more = 1 + w, twice = 2 * more * (more + off * (A(2) / 3));
    w *= 1 + off / more * (twice - off) / (twice - 2 * off);
  }
  return w;
}

// `k` of the half that z is in: the one above zero is tried first.
template <class A, class Root>
inline A in_its_half(const RowSide& side, Root&& root) {
  const A high = root(static_cast<A>(side.high));
  if (high > 0 || side.low == side.high) return high;
  return std::min(root(static_cast<A>(side.low)), A(0));
}

// A step that is no longer than this, in units of 1 / k, leads to the root: its square is left.
template <class A>
inline constexpr A kNearStep = std::is_same_v<A, float> ? A(0.02) : A(1e-3);
constexpr int kRootSteps = 10;  // at the most; two or three are what it takes

// z + qc / (1 + e^(-k z)) = level, from a guess of z.
template <class A>
inline A logistic_root(A k, A qc, A level, A guess) {
  const A low = level - qc;
  A z = guess;
  if (!(low <= z && z <= level)) {  // where the row is right its slope is an exponential
    z = level - wright_omega(std::min(k * level, A(60)) + std::log(k * qc)) / k;
    if (!(low <= z && z <= level)) z = A(0.5) * (low + level);
  }
  auto look = [&](A z) __attribute__((always_inline)) {
    const A e = std::exp(-std::abs(k * z)), near = 1 / (1 + e), far = e * near;
    return Residual<A>{z - level + qc * (z > 0 ? near : far), 1 + qc * k * near * far};
  };
  return bracketed_root(look, z, low, level, kNearStep<A> / k, kRootSteps);
}

// How the loss bends there: of the dual and, of the squared hinge, of z.
template <class A>
inline A dual_bend(const RowSide& side, A c, A dual, A z) {
  const A k = static_cast<A>(z > 0 ? side.high : side.low);
  switch (side.kind) {
    case RowKind::squared_hinge:
      return 1 + k * z > 0 ? 2 * c * k : A(0);
    case RowKind::exponential:
      return k * dual;
    default:
      return k * dual * std::max(1 - dual / c, A(0));
  }
}

// The z of the best dual; `guess` is that of the last one.
template <class A>
inline A dual_root(const RowSide& side, A c, A m, A a, A q, A guess) {
  const A qc = q * c, level = m + q * a;
  if (side.kind != RowKind::squared_hinge) {
    // Newton's step from there: the dual tells the slope and how it bends.
    const A by = (m - guess) / (1 + q * dual_bend<A>(side, c, a, guess)), next = guess + by;
    const bool same = side.low == side.high || (next > 0) == (guess > 0);
    if (same && static_cast<A>(std::max(side.low, side.high)) * std::abs(by) < kNearStep<A>)
      return next;
    guess = next;
  }
  switch (side.kind) {
    case RowKind::squared_hinge:
      return in_its_half<A>(side, [&](A k) {
        const A bent = (level - 2 * qc) / (1 + 2 * qc * k);
        return 1 + k * bent > 0 ? bent : level;
      });
    case RowKind::exponential:
      return in_its_half<A>(side, [&](A k) {
        const A w = wright_omega(k * level + std::log(k * qc));
        return std::min(level, std::log(w / (k * qc)) / k);
      });
    default:
      return in_its_half<A>(side, [&](A k) { return logistic_root(k, qc, level, guess); });
  }
}

}  // namespace toprank
