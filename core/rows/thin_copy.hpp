// A copy of a few rows that stand for the Hessian of all, and Newton's step of them by conjugate
// gradients. It has the columns that these rows have, and no others.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace toprank {

template <class A>
struct ThinCopy {
  std::vector<std::int64_t> rows;    // which rows of the matrix they are
  std::vector<A> weight;             // what each adds to the Hessian
  // Where rows bend together: the Hessian of their scores, applied in place. The weights are its
  // diagonal then.
  std::function<void(A*)> bend;
  std::vector<std::int64_t> indptr;  // where the entries of each begin
  std::vector<A> entries;
  std::vector<std::uint32_t> places;  // of the entries, among `columns`; empty: all, in order
  std::vector<std::int64_t> columns;  // which columns of the matrix those are

  // Makes `places` of column numbers, and `columns`.
  void number(std::int64_t n_cols);

  std::int64_t n_entries() const { return static_cast<std::int64_t>(entries.size()); }
};

struct StepAsk {
  double alpha;
  bool free_bias;
  double share;   // of the gradient that may be left
  double enough;  // or this much of it, squared
  int max_iter;
  int n_threads;
};

struct Stepped {
  int iterations;
  double left;  // of the gradient, squared
};

// The step p with H p = -gradient, H = alpha I + sum_r weight_r x_r x_r', or by `bend`, as near as
// asked for. Where
// the threshold is free, and at its best, x_r are the rows less their mean, and the last of the
// n_cols + 1 entries of p is what the step adds to it.
template <class A>
Stepped newton_step(const ThinCopy<A>& rows, std::int64_t n_cols, const double* gradient,
                    const StepAsk& ask, double* step);

}  // namespace toprank
