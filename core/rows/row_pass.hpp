// One reading of the rows for all that a solver of a smooth sum over rows asks at a point (w, b): a
// block of rows is scored, its slopes are taken, and its gradient is summed while it is in cache.
//   value  sum_r f_r(z_r)      pull  X'v      shifted  X'u      z = X w + b; v, u: see RowSums
// Blocks depend on the shape only and are added in their order: the same bits for any number of
// threads. Rows of a dense matrix are computed with in A, float or double; sums over blocks are
// double. Those of a sparse matrix are computed with in double, which costs nothing there.
#pragma once

#include <cstdint>

#include "matrix/matrix.hpp"
#include "rows/row_loss.hpp"

namespace toprank {

struct RowAsk {
  const double* w;
  double b;
  const double* tilt;  // the weights of the rows, below zero for negatives
  RowLoss loss;
  // Scores are moved by what rounding may have done to them, so that the value is a bound from
  // above: by so much for a row of length one. Only then the sums for bounds are taken.
  bool bounds;
  double per_length;
  int n_threads;
};

template <class A>
struct RowAnswer {
  RowSums sums;
  double* pull;      // n_cols
  double* shifted;   // n_cols, or nullptr
  A* scores;         // the z of every row, or nullptr
  A* squares;        // |x|^2 of every row, or nullptr
};

template <class A, class T>
void row_pass(const DenseRows<T>&, const RowAsk&, RowAnswer<A>&);
template <class A, class T>
void row_pass(const DenseColumns<T>&, const RowAsk&, RowAnswer<A>&);
template <class T>
void row_pass(const SparseRows<T>&, const RowAsk&, RowAnswer<double>&);

// The slopes, or nullptr, and curvatures of rows whose scores are known; returns their sums.
template <class A>
RowSums row_terms(const A* z, std::int64_t n, const double* tilt, const RowLoss&, A* slope,
                  A* curvature, int n_threads);

// Value, slope and curvature along z + step dz.
template <class A>
struct Along {
  double value = 0, slope = 0, curvature = 0;
};
template <class A>
Along<A> along(const A* z, const A* dz, std::int64_t n, double step, const double* tilt,
               const RowLoss&, int n_threads);

}  // namespace toprank
