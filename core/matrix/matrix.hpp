// The core's products, dense and sparse, as bind/module.cpp sees them.
#pragma once

#include <cstdint>

#include "matrix/products.hpp"
#include "matrix/rows.hpp"

namespace toprank {

// A dense matrix whose columns are contiguous (Fortran order).
template <class T>
struct DenseColumns {
  const T* x;
  std::int64_t n_rows, n_cols, stride;
};

template <class T>
void matrix_scores(const DenseRows<T>&, const double* w, Subset, double* out, int n_threads);
template <class T>
void matrix_scores(const DenseColumns<T>&, const double* w, Subset, double* out, int n_threads);
template <class T>
void matrix_pull_back(const DenseRows<T>&, const double* v, Subset, double* out, int n_threads);
template <class T>
void matrix_pull_back(const DenseColumns<T>&, const double* v, Subset, double* out, int n_threads);

template <class T>
void matrix_squared_norms(const DenseRows<T>&, Subset, double* out, int n_threads);
template <class T>
void matrix_squared_norms(const DenseColumns<T>&, Subset, double* out, int n_threads);

// The rows of a subset, row-major.
template <class T>
void matrix_take(const DenseRows<T>&, Subset, double* out);
template <class T>
void matrix_take(const DenseColumns<T>&, Subset, double* out);

// H is n_cols x n_cols, row-major; both triangles are filled. c >= 0.
template <class T>
void matrix_gram(const DenseRows<T>&, const double* c, Subset, double* h, int n_threads);
template <class T>
void matrix_gram(const DenseColumns<T>&, const double* c, Subset, double* h, int n_threads);

template <class T>
void matrix_scores(const SparseRows<T>&, const double* w, Subset, double* out, int n_threads);
template <class T>
void matrix_pull_back(const SparseRows<T>&, const double* v, Subset, double* out,
                      int n_threads);
template <class T>
void matrix_squared_norms(const SparseRows<T>&, Subset, double* out, int n_threads);
template <class T>
void matrix_take(const SparseRows<T>&, Subset, double* out);
template <class T>
void matrix_gram(const SparseRows<T>&, const double* c, Subset, double* h, int n_threads);

// What is wrong with a CSR matrix, if anything, and where it is first wrong.
enum class Flaw { none, pointers, index, value };  // value: NaN or beyond +-limit
struct Inspection {
  Flaw flaw = Flaw::none;
  std::int64_t row = -1, position = -1;
  bool canonical = true;  // indices strictly increasing in every row
};
// CSR arrays as given: int32 or int64 indices, not yet checked.
template <class T, class I>
struct CsrArrays {
  const T* data;
  const I* indices;
  const std::int64_t* indptr;
  std::int64_t n_rows, n_cols;
};
template <class T, class I>
Inspection inspect(const CsrArrays<T, I>&, std::int64_t n_stored, double limit, int n_threads);

// The first entry that is NaN or beyond +-limit, counted line by line; -1 if none.
template <class T>
std::int64_t first_unusable(const T* x, std::int64_t outer, std::int64_t inner,
                            std::int64_t stride, double limit, int n_threads);

}  // namespace toprank
