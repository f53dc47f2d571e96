// Products with a CSR matrix, and the one pass that makes sure it is one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "matrix/matrix.hpp"

namespace toprank {

template <class T, class I>
void sparse_scores(const SparseRows<T, I>& x, const double* w, Subset subset, double* out,
                   int n_threads) {
  scores(x, w, subset, out, n_threads);
}

template <class T, class I>
void sparse_pull_back(const SparseRows<T, I>& x, const double* v, Subset subset, double* out,
                      int n_threads) {
  pull_back(x, v, subset, out, n_threads);
}

template <class T, class I>
void sparse_squared_norms(const SparseRows<T, I>& x, Subset subset, double* out, int n_threads) {
  squared_norms(x, subset, out, n_threads);
}

template <class T, class I>
void sparse_take(const SparseRows<T, I>& x, Subset subset, double* out) {
  std::fill(out, out + subset.size * x.n_cols, 0.0);
  for (std::int64_t k = 0; k < subset.size; ++k) x.add(subset[k], 1.0, out + k * x.n_cols);
}

// Indices are sorted, so the second half of each outer product falls in the upper triangle.
template <class T, class I>
void sparse_gram(const SparseRows<T, I>& x, const double* c, Subset subset, double* h,
                 int n_threads) {
  const auto d = x.n_cols;
  const auto entries = planned_entries(x, subset.size);
  const auto blocks = reduced_blocks(subset.size, entries, d * d / 8);
  reduce(blocks, d * d, useful_threads(entries, n_threads), h,
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

template <class T, class I>
Inspection inspect(const SparseRows<T, I>& x, std::int64_t n_stored, double limit, int n_threads) {
  if (x.indptr[0] != 0) return {Flaw::pointers, 0, 0, false};
  for (std::int64_t row = 0; row < x.n_rows; ++row)
    if (x.indptr[row + 1] < x.indptr[row] || x.indptr[row + 1] > n_stored)
      return {Flaw::pointers, row, x.indptr[row + 1], false};
  const auto entries = x.indptr[x.n_rows];
  const auto blocks = independent_blocks(x.n_rows, entries);
  std::vector<Inspection> found(static_cast<std::size_t>(blocks.count));
  parallel_for(blocks.count, useful_threads(entries, n_threads), [&](std::int64_t b) {
    auto& seen = found[static_cast<std::size_t>(b)];
    // Values and order are counted, not branched on: flaws are looked for only where there are any.
    const auto begin = x.indptr[blocks.begin(b)], end = x.indptr[blocks.end(b)];
    std::int64_t bad = 0;
#pragma omp simd reduction(+ : bad)
    for (auto q = begin; q < end; ++q) bad += !(std::abs(static_cast<double>(x.data[q])) <= limit);
    bool ordered = true;
    for (auto row = blocks.begin(b); row < blocks.end(b); ++row) {
      const auto first = x.indptr[row], last = x.indptr[row + 1];
      if (first == last) continue;
      bool increasing = x.indices[first] >= 0 && x.indices[last - 1] < x.n_cols;
      for (auto q = first + 1; q < last; ++q) increasing &= x.indices[q - 1] < x.indices[q];
      ordered = ordered && increasing;
    }
    if (ordered && bad == 0) return;  // increasing, from zero on, and ending inside
    seen.canonical = ordered;
    for (auto row = blocks.begin(b); row < blocks.end(b); ++row)
      for (auto q = x.indptr[row]; q < x.indptr[row + 1]; ++q) {
        const auto j = static_cast<std::int64_t>(x.indices[q]);
        if (j < 0 || j >= x.n_cols) {
          seen = {Flaw::index, row, q, false};
          return;
        }
        if (!(std::abs(static_cast<double>(x.data[q])) <= limit)) {
          seen = {Flaw::value, row, q, false};
          return;
        }
      }
  });
  Inspection all;
  for (const auto& seen : found) {
    if (seen.flaw != Flaw::none) return seen;
    all.canonical = all.canonical && seen.canonical;
  }
  return all;
}

#define TOPRANK_SPARSE(T, I)                                                                      \
  template void sparse_scores(const SparseRows<T, I>&, const double*, Subset, double*, int);      \
  template void sparse_pull_back(const SparseRows<T, I>&, const double*, Subset, double*, int);   \
  template void sparse_squared_norms(const SparseRows<T, I>&, Subset, double*, int);              \
  template void sparse_take(const SparseRows<T, I>&, Subset, double*);                            \
  template void sparse_gram(const SparseRows<T, I>&, const double*, Subset, double*, int);        \
  template Inspection inspect(const SparseRows<T, I>&, std::int64_t, double, int);
TOPRANK_SPARSE(float, std::int32_t)
TOPRANK_SPARSE(float, std::int64_t)
TOPRANK_SPARSE(double, std::int32_t)
TOPRANK_SPARSE(double, std::int64_t)

}  // namespace toprank
