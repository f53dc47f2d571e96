// Weights, means and scatters of groups of rows, in one pass:
//   n = sum v,   m = sum v x / n,   M = sum v (x - m)(x - m)'
// A row may be the difference of two rows of the matrix. Sums are taken about a row near by, so
// that a large offset costs no digits, and parts are merged in an order that the shape of the data
// alone decides: the bits are the same for any number of threads.
#pragma once

#include <cstdint>

#include "matrix/matrix.hpp"

namespace toprank {

// Which row goes where: groups from 0 on, -1 for none. nullptr: all in group 0, all of weight 1.
struct Groups {
  const std::int32_t* group;
  const double* weight;
  std::int64_t count;

  std::int64_t of(std::int64_t row) const { return group == nullptr ? 0 : group[row]; }
  double weight_of(std::int64_t row) const { return weight == nullptr ? 1.0 : weight[row]; }
};

// weight: count; mean: count x d; scatter: count x d x d, both triangles. square: count x d, the
// sums v (x - c)^2 about the places c where they were taken: rounding is relative to these.
struct MomentsOut {
  double *weight, *mean, *scatter, *square;
};

// How many roundings the sums of n rows of d columns may go through, one after the other.
std::int64_t moment_depth(std::int64_t n, std::int64_t d, std::int64_t n_groups);

template <class Dense>
void group_moments(const Dense& x, const Groups& groups, const MomentsOut& out, int n_threads);

// Of the differences x_first[k] - x_second[k].
template <class Dense>
void pair_moments(const Dense& x, const std::int64_t* first, const std::int64_t* second,
                  std::int64_t n_pairs, const double* weight, const MomentsOut& out,
                  int n_threads);

}  // namespace toprank
