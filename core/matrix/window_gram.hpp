// Sums of products over pairs of rows that form windows.
#pragma once

#include <cstdint>

#include "matrix/rows.hpp"

namespace toprank {

// Rows of one side, and of the other side the window that each is paired with. Both ends of the
// windows must not go back from one row to the next.
struct Windows {
  const std::int64_t* rows;
  const std::int64_t *first, *last;  // into `others`
  const double* weights;
  std::int64_t size;
  const std::int64_t* others;
  const double* other_weights;
};

// out = sum_a sum_{b in window of a} w_a w_b x_a x_b', d x d and row-major.
template <class T>
void window_cross(const SparseRows<T>& x, const Windows& windows, double* out);

}  // namespace toprank
