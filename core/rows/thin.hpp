// A few rows that stand for the Hessian of all: those kept weigh what those left out do.
#pragma once

#include <cstdint>
#include <span>
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
             const RowLoss& loss, double wanted, std::uint64_t seed, int n_threads);

// How many rows have weights above zero and below, and what these sum to.
struct Sides {
  std::int64_t n_pos, n_neg;
  double of_pos, of_neg;
};
Sides sides(const double* tilt, std::int64_t n);

// The rows at these places among those of weights above zero, and below; places must not decrease.
std::vector<std::int64_t> rows_of_places(const double* tilt, std::int64_t n,
                                         std::span<const std::int64_t> of_pos,
                                         std::span<const std::int64_t> of_neg);

}  // namespace toprank
