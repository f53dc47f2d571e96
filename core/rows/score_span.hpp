// A smooth sum over rows by the scores of a few points alone: the best point in their span,
//   min over c, b   1/2 c'G c + sum_r f_r(sum_k c_k s_kr + b),
// s_k the scores of w_k, G the ridge of their weights, alpha w_k.w_l. Nothing of the matrix is read.
// Blocks depend on the number of rows only and are added in their order: the same bits for any
// number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "rows/row_loss.hpp"

namespace toprank {

inline constexpr int kMostSpan = 4;  // points, at the most

template <class A>
struct SpanAsk {
  std::vector<const A*> scores;  // of every point, n_rows each
  std::int64_t n_rows;
  const double* tilt;  // the weights of the rows, below zero for negatives
  RowLoss loss;
  const double* ridge;  // G, by rows
  bool free_bias;
  double enough;  // it ends where a step promises no more than this share of the value
  int n_threads;
  // Every so many blocks of rows are looked at. Where that is more than one, the slope at c and b
  // of the sum over all rows, one number a point and b's: the rows that are looked at, corrected to
  // have it, stand for all.
  std::int64_t stride = 1;
  const double* slope = nullptr;
};

// Goes from c and b to the best ones; returns the value there.
template <class A>
double span_minimum(const SpanAsk<A>& ask, double* c, double& b);

}  // namespace toprank
