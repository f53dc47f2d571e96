// What a descent over wide rows reads of the matrix, in the arithmetic A it is made in. Of a sparse
// matrix sums are A within some thousand rows and double beyond; of a dense one all are double.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "matrix/matrix.hpp"
#include "rows/dual_sweeps.hpp"
#include "rows/thin_copy.hpp"

namespace toprank {

template <class A>
class WideRows {
 public:
  virtual ~WideRows() = default;
  virtual std::int64_t n_rows() const = 0;
  virtual std::int64_t n_cols() const = 0;
  // X w
  virtual void scores(const A* w, A* out, int n_threads) const = 0;
  // X'v
  virtual void pull(const A* v, double* out, int n_threads) const = 0;
  // |x|^2 of every row.
  virtual void squares(double* out, int n_threads) const = 0;
  // Fills in the entries of `thin.rows`.
  virtual void copy(ThinCopy<A>& thin) const = 0;
  // Sweeps of dual coordinate descent, from duals of zero; w has n_cols entries. Not for columns
  // that are contiguous.
  virtual bool sweeps() const = 0;
  virtual Swept sweep(const SweepAsk& ask, double* w, double* slopes) const = 0;
};

template <class A, class View>
std::unique_ptr<WideRows<A>> wide_rows(const View& x);

}  // namespace toprank
