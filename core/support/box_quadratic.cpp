#include "support/box_quadratic.hpp"

#include <algorithm>
#include <cmath>

#include "support/vectors.hpp"

namespace toprank {
namespace {

constexpr double kEnough = 1e-3;  // what is left of the strongest pull
constexpr int kRounds = 30;       // at the most; duplicates and clipped steps take several
constexpr int kSweeps = 3;        // of coordinate steps a round: they find who stays at a bound
constexpr double kRidge = 1e-8;   // of the diagonal: duplicates make G singular
constexpr double kLeast = 1e-12;  // of the diagonal: the least pivot, where rounding is larger

}  // namespace

void BoxQuadratic::solve() {
  const double enough = kEnough * strongest();
  for (int round = 0; round < kRounds; ++round) {
    coordinate_steps();
    if (!(strongest() > enough)) return;
    newton_step();
  }
}

double BoxQuadratic::strongest() const {
  double most = 0;
  for (int k = 0; k < n; ++k)
    if (may_go(k)) most = std::max(most, std::abs(pull[k]));
  return most;
}

void BoxQuadratic::coordinate_steps() {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int k = 0; k < n; ++k) {
      const double next = std::clamp(at[k] + pull[k] / gram[k][k], low[k], high[k]);
      const double by = next - at[k];
      if (by == 0) continue;
      at[k] = next;
      add_multiple(-by, gram[k], pull, n);
    }
  }
}

void BoxQuadratic::newton_step() {
  int free[kMost], count = 0;
  for (int k = 0; k < n; ++k)
    if (may_go(k)) free[count++] = k;
  double step[kMost];
  for (int a = 0; a < count; ++a) {  // Cholesky's factor, and the first triangular system
    const double* row = gram[free[a]];
    const double own = row[free[a]];
    for (int b = 0; b < a; ++b)
      factor_[a][b] = (row[free[b]] - dot(factor_[a], factor_[b], b)) / factor_[b][b];
    const double pivot = (1 + kRidge) * own - dot(factor_[a], factor_[a], a);
    factor_[a][a] = std::sqrt(std::max(pivot, kLeast * own));
    step[a] = (pull[free[a]] - dot(factor_[a], step, a)) / factor_[a][a];
  }
  for (int a = count - 1; a >= 0; --a) {
    step[a] /= factor_[a][a];
    add_multiple(-step[a], factor_[a], step, a);
  }
  double change[kMost] = {}, along = 0, bend = 0;  // G step; its slope and curvature
  for (int a = 0; a < count; ++a) {
    const int k = free[a];
    step[a] = std::clamp(at[k] + step[a], low[k], high[k]) - at[k];
    along += pull[k] * step[a];
    add_multiple(step[a], gram[k], change, n);
  }
  for (int a = 0; a < count; ++a) bend += change[free[a]] * step[a];
  if (!(along > 0)) return;  // clipping has turned it: coordinate steps go on
  const double theta = std::min(1.0, along / bend);
  for (int a = 0; a < count; ++a) at[free[a]] += theta * step[a];
  add_multiple(-theta, change, pull, n);
}

}  // namespace toprank
