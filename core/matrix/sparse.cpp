// Products with a CSR matrix.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "matrix/matrix.hpp"

namespace toprank {

template <class T>
void matrix_scores(const SparseRows<T>& x, const double* w, Subset subset, double* out,
                   int n_threads) {
  scores(x, w, subset, out, n_threads);
}

template <class T>
void matrix_pull_back(const SparseRows<T>& x, const double* v, Subset subset, double* out,
                      int n_threads) {
  pull_back(x, v, subset, out, n_threads);
}

template <class T>
void matrix_squared_norms(const SparseRows<T>& x, Subset subset, double* out, int n_threads) {
  squared_norms(x, subset, out, n_threads);
}

template <class T>
void matrix_take(const SparseRows<T>& x, Subset subset, double* out) {
  std::fill(out, out + subset.size * x.n_cols, 0.0);
  for (std::int64_t k = 0; k < subset.size; ++k) x.add(subset[k], 1.0, out + k * x.n_cols);
}

// Indices are sorted, so the second half of each outer product falls in the upper triangle.
template <class T>
void matrix_gram(const SparseRows<T>& x, const double* c, Subset subset, double* h,
                 int n_threads) {
  const auto d = x.n_cols;
  const auto entries = planned_entries(x, subset.size);
  const auto blocks = reduced_blocks(subset.size, entries, d * d / 8);
  const auto in_a_row = entries / std::max<std::int64_t>(subset.size, 1);
  reduce(blocks, d * d, useful_threads(entries * (2 + in_a_row), n_threads), h,
         [&](std::int64_t b, double* part) {
           for (auto k = blocks.begin(b); k < blocks.end(b); ++k) {
             if (c[k] == 0) continue;
             const auto row = subset[k];
             const auto begin = x.indptr[row], end = x.indptr[row + 1];
             for (auto p = begin; p < end; ++p) {
               const double cx = c[k] * static_cast<double>(x.data[p]);
               double* line = part + static_cast<std::int64_t>(x.indices[p]) * d;
               for (auto q = p; q < end; ++q) line[x.indices[q]] += cx * x.data[q];
             }
           }
         });
  for (std::int64_t i = 0; i < d; ++i)
    for (std::int64_t j = i + 1; j < d; ++j) h[j * d + i] = h[i * d + j];
}

#define TOPRANK_SPARSE(T)                                                                      \
  template void matrix_scores(const SparseRows<T>&, const double*, Subset, double*, int);      \
  template void matrix_pull_back(const SparseRows<T>&, const double*, Subset, double*, int);   \
  template void matrix_squared_norms(const SparseRows<T>&, Subset, double*, int);              \
  template void matrix_take(const SparseRows<T>&, Subset, double*);                            \
  template void matrix_gram(const SparseRows<T>&, const double*, Subset, double*, int);
TOPRANK_SPARSE(float)
TOPRANK_SPARSE(double)

}  // namespace toprank
