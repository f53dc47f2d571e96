// Dense products. Entries are read once, in the caller's dtype; sums are double.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "matrix/matrix.hpp"
#include "matrix/packed_rows.hpp"

namespace toprank {
namespace {

constexpr std::int64_t kTile = 512;  // rows of a column-major matrix summed at a time

// Rows scaled by the root of their weight, packed and multiplied.
template <class Fetch>
void gram(std::int64_t n_cols, const double* c, Subset subset, double* h, int n_threads,
          Fetch&& fetch) {
  const auto side = PackedRows::padded(n_cols);
  const auto entries = subset.size * n_cols;
  const auto blocks = reduced_blocks(subset.size, entries, side * side / 8);
  std::vector<double> sum(static_cast<std::size_t>(side * side));
  const auto threads = useful_threads(gram_work(entries, n_cols), n_threads);
  reduce(blocks, side * side, threads, sum.data(),
         [&](std::int64_t b, double* part) {
           PackedRows packed(n_cols);
           for (auto k = blocks.begin(b); k < blocks.end(b); ++k) {
             if (c[k] == 0) continue;
             const auto row = subset[k];
             const double root = std::sqrt(c[k]);
             packed.push(part, 1, [&](std::int64_t j, std::int64_t width, double* out) {
               for (std::int64_t l = 0; l < width; ++l)
                 out[l] = root * static_cast<double>(fetch(row, j + l));
             });
           }
           packed.flush(part, 1);
         });
  for (std::int64_t i = 0; i < n_cols; ++i)
    for (std::int64_t j = i; j < n_cols; ++j)
      h[i * n_cols + j] = h[j * n_cols + i] = sum[static_cast<std::size_t>(i * side + j)];
}

}  // namespace

template <class T>
void matrix_scores(const DenseRows<T>& x, const double* w, Subset subset, double* out,
                  int n_threads) {
  scores(x, w, subset, out, n_threads);
}

// Sums column by column, `term(column, entry)`, over tiles of rows that stay in cache.
template <class T, class Term>
void sum_columns(const DenseColumns<T>& x, Subset subset, double* out, int n_threads, Term&& term) {
  const Blocks tiles{subset.size, std::max<std::int64_t>(1, (subset.size + kTile - 1) / kTile)};
  parallel_for(tiles.count, useful_threads(subset.size * x.n_cols, n_threads),
               [&](std::int64_t b) {
                 const auto begin = tiles.begin(b), end = tiles.end(b);
                 std::fill(out + begin, out + end, 0.0);
                 for (std::int64_t j = 0; j < x.n_cols; ++j) {
                   const T* column = x.x + j * x.stride;
                   if (subset.rows == nullptr) {
#pragma omp simd
                     for (auto k = begin; k < end; ++k) out[k] += term(j, column[k]);
                   } else {
                     for (auto k = begin; k < end; ++k) out[k] += term(j, column[subset.rows[k]]);
                   }
                 }
               });
}

template <class T>
void matrix_scores(const DenseColumns<T>& x, const double* w, Subset subset, double* out,
                  int n_threads) {
  sum_columns(x, subset, out, n_threads,
              [&](std::int64_t j, double value) { return w[j] * value; });
}

template <class T>
void matrix_squared_norms(const DenseRows<T>& x, Subset subset, double* out, int n_threads) {
  squared_norms(x, subset, out, n_threads);
}

template <class T>
void matrix_squared_norms(const DenseColumns<T>& x, Subset subset, double* out, int n_threads) {
  sum_columns(x, subset, out, n_threads, [](std::int64_t, double value) { return value * value; });
}

template <class T>
void matrix_take(const DenseRows<T>& x, Subset subset, double* out) {
  for (std::int64_t k = 0; k < subset.size; ++k)
    std::copy_n(x.x + subset[k] * x.stride, x.n_cols, out + k * x.n_cols);
}

template <class T>
void matrix_take(const DenseColumns<T>& x, Subset subset, double* out) {
  for (std::int64_t j = 0; j < x.n_cols; ++j)
    for (std::int64_t k = 0; k < subset.size; ++k)
      out[k * x.n_cols + j] = static_cast<double>(x.x[j * x.stride + subset[k]]);
}

template <class T>
void matrix_pull_back(const DenseRows<T>& x, const double* v, Subset subset, double* out,
                     int n_threads) {
  pull_back(x, v, subset, out, n_threads);
}

template <class T>
void matrix_pull_back(const DenseColumns<T>& x, const double* v, Subset subset, double* out,
                     int n_threads) {
  parallel_for(x.n_cols, useful_threads(subset.size * x.n_cols, n_threads), [&](std::int64_t j) {
    const T* column = x.x + j * x.stride;
    double s = 0;
    if (subset.rows == nullptr) {
#pragma omp simd reduction(+ : s)
      for (std::int64_t k = 0; k < subset.size; ++k) s += v[k] * static_cast<double>(column[k]);
    } else {
      for (std::int64_t k = 0; k < subset.size; ++k)
        s += v[k] * static_cast<double>(column[subset.rows[k]]);
    }
    out[j] = s;
  });
}

template <class T>
void matrix_gram(const DenseRows<T>& x, const double* c, Subset subset, double* h, int n_threads) {
  gram(x.n_cols, c, subset, h, n_threads,
       [&](std::int64_t row, std::int64_t j) { return x.x[row * x.stride + j]; });
}

template <class T>
void matrix_gram(const DenseColumns<T>& x, const double* c, Subset subset, double* h,
                int n_threads) {
  gram(x.n_cols, c, subset, h, n_threads,
       [&](std::int64_t row, std::int64_t j) { return x.x[j * x.stride + row]; });
}

namespace {

constexpr std::int64_t kLine = 4096;  // entries that are looked at together

std::int64_t offset(std::int64_t at, std::int64_t by) { return at < 0 ? at : at + by; }

}  // namespace

template <class T>
std::int64_t first_unusable(const T* x, std::int64_t outer, std::int64_t inner,
                            std::int64_t stride, double limit, int n_threads) {
  const auto entries = outer * inner;
  if (stride == inner && inner < kLine && outer > 1) {  // short lines that touch: a few long ones
    const auto whole = entries / kLine * kLine;
    const auto at = first_unusable(x, whole / kLine, kLine, kLine, limit, n_threads);
    return at >= 0 || whole == entries
               ? at
               : offset(first_unusable(x + whole, 1, entries - whole, 0, limit, 1), whole);
  }
  const auto blocks = independent_blocks(outer, entries);
  const T most = static_cast<T>(std::min(limit, static_cast<double>(std::numeric_limits<T>::max())));
  std::vector<std::int64_t> found(static_cast<std::size_t>(blocks.count), -1);
  parallel_for(blocks.count, useful_threads(entries, n_threads), [&](std::int64_t b) {
    for (auto i = blocks.begin(b); i < blocks.end(b); ++i) {
      const T* v = x + i * stride;
      int bad = 0;  // counted, not branched on: a line is almost always good
#pragma omp simd reduction(+ : bad)
      for (std::int64_t j = 0; j < inner; ++j) bad += !(std::abs(v[j]) <= most);
      if (bad == 0) continue;
      for (std::int64_t j = 0; j < inner; ++j)
        if (!(std::abs(v[j]) <= most)) {
          found[static_cast<std::size_t>(b)] = i * inner + j;
          return;
        }
    }
  });
  for (const auto position : found)
    if (position >= 0) return position;
  return -1;
}

#define TOPRANK_DENSE(T)                                                                          \
  template void matrix_scores(const DenseRows<T>&, const double*, Subset, double*, int);           \
  template void matrix_scores(const DenseColumns<T>&, const double*, Subset, double*, int);        \
  template void matrix_squared_norms(const DenseRows<T>&, Subset, double*, int);                   \
  template void matrix_squared_norms(const DenseColumns<T>&, Subset, double*, int);                \
  template void matrix_take(const DenseRows<T>&, Subset, double*);                                 \
  template void matrix_take(const DenseColumns<T>&, Subset, double*);                              \
  template void matrix_pull_back(const DenseRows<T>&, const double*, Subset, double*, int);        \
  template void matrix_pull_back(const DenseColumns<T>&, const double*, Subset, double*, int);     \
  template void matrix_gram(const DenseRows<T>&, const double*, Subset, double*, int);             \
  template void matrix_gram(const DenseColumns<T>&, const double*, Subset, double*, int);          \
  template std::int64_t first_unusable(const T*, std::int64_t, std::int64_t, std::int64_t, double, \
                                       int);
TOPRANK_DENSE(float)
TOPRANK_DENSE(double)

}  // namespace toprank
