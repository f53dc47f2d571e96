// A few rows that stand for the Hessian of all: those kept weigh what those left out do.
#pragma once

#include <cstdint>
#include <vector>

#include "rows/row_loss.hpp"

namespace toprank {

struct Thinned {
  std::vector<std::int64_t> rows;
  std::vector<double> curvature;  // of each, divided by the chance it had to be kept
};

// Keeps a row of curvature D with probability min(1, m / tau), m = D (1 + |x|^2 / typical) / 2, so
// that about `wanted` rows are left: a row counts by what it adds to the Hessian of w, and to that
// of the threshold. `squares` is |x|^2 of every row, or nullptr where all are about typical.
template <class A>
Thinned thin(const A* z, const A* squares, double typical, std::int64_t n, const double* tilt,
             const RowLoss& loss, double wanted, std::uint64_t seed);

}  // namespace toprank
