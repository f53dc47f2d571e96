// The little linear system of a step within a subspace.
#pragma once

#include <algorithm>
#include <cmath>

namespace toprank {

// Solves G c = -g for the n <= Most steps; false where G is singular. The diagonal is lifted by a
// share of it.
template <int Most>
inline bool solve_small(int n, const double (&gram)[Most][Most], const double (&g)[Most],
                        double (&c)[Most], double lift = 1e-9) {
  double a[Most][Most + 1], scale[Most];
  for (int k = 0; k < n; ++k) scale[k] = 1 / std::sqrt(std::max(gram[k][k], 1e-300));
  for (int k = 0; k < n; ++k) {
    for (int l = 0; l < n; ++l) a[k][l] = gram[k][l] * scale[k] * scale[l] + (k == l ? lift : 0);
    a[k][n] = -g[k] * scale[k];
  }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int r = k + 1; r < n; ++r)
      if (std::abs(a[r][k]) > std::abs(a[pivot][k])) pivot = r;
    if (!(std::abs(a[pivot][k]) > 1e-14)) return false;
    if (pivot != k) std::swap_ranges(a[k], a[k] + n + 1, a[pivot]);
    for (int r = 0; r < n; ++r) {
      if (r == k) continue;
      const double f = a[r][k] / a[k][k];
      for (int l = k; l <= n; ++l) a[r][l] -= f * a[k][l];
    }
  }
  for (int k = 0; k < n; ++k) c[k] = a[k][n] / a[k][k] * scale[k];
  return true;
}

}  // namespace toprank
