// A matrix seen row by row: dense (row-major) or CSR. Entries stay in the caller's dtype,
// sums are in the type of the vector. The sequential kernels are written once over these two views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "support/row_products.hpp"

namespace toprank {

// In place of a row: the zero vector, in a difference of two rows.
inline constexpr std::int64_t kNoRow = -1;

// Asks for a cache line. The empty assembly keeps it: GCC takes a function that does nothing but
// prefetch for one without effects, and drops the calls of it.
inline void ask_for(const void* at) {
  __builtin_prefetch(at);
  asm volatile("");
}

template <class T>
struct DenseRows {
  using Value = T;
  static constexpr std::int64_t kEntryCost = 1;  // see support/threads.hpp
  const T* x;
  std::int64_t n_rows, n_cols, stride;

  std::int64_t entries(std::int64_t) const { return n_cols; }
  std::int64_t entries_before(std::int64_t row) const { return row * n_cols; }

  // Always inlined: with few columns the call would be what takes the time.
  template <class A>
  [[gnu::always_inline]] A dot(std::int64_t row, const A* w) const {
    return dense_dot(x + row * stride, n_cols, w);
  }
  template <class A>
  void add(std::int64_t row, std::type_identity_t<A> c, A* out) const {
    dense_add(x + row * stride, n_cols, c, out);
  }
  double squared_norm(std::int64_t row) const {
    const T* v = x + row * stride;
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t j = 0; j < n_cols; ++j) s += static_cast<double>(v[j]) * v[j];
    return s;
  }
  double squared_distance(std::int64_t row, std::int64_t other) const {
    const T *u = x + row * stride, *v = x + other * stride;
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t j = 0; j < n_cols; ++j) {
      const double by = static_cast<double>(u[j]) - static_cast<double>(v[j]);
      s += by * by;
    }
    return s;
  }
  void prefetch_place(std::int64_t) const {}
  void prefetch(std::int64_t row) const { ask_for(x + row * stride); }
};

// CSR rows. Column indices are int32; bind/matrix.cpp converts others.
template <class T>
struct SparseRows {
  using Value = T;
  static constexpr std::int64_t kEntryCost = 2;  // columns lie anywhere
  const T* data;
  const std::int32_t* indices;
  const std::int64_t* indptr;
  std::int64_t n_rows, n_cols;

  std::int64_t entries(std::int64_t row) const { return indptr[row + 1] - indptr[row]; }
  std::int64_t entries_before(std::int64_t row) const { return indptr[row]; }

  template <class A>
  A dot(std::int64_t row, const A* w) const {
    const auto begin = indptr[row];
    return sparse_dot(data + begin, indices + begin, indptr[row + 1] - begin, w);
  }
  template <class A>
  void add(std::int64_t row, std::type_identity_t<A> c, A* out) const {
    const auto begin = indptr[row];
    sparse_add(data + begin, indices + begin, indptr[row + 1] - begin, c, out);
  }
  double squared_norm(std::int64_t row) const {
    double s = 0;
    const std::int64_t begin = indptr[row], end = indptr[row + 1];
#pragma omp simd reduction(+ : s)
    for (std::int64_t q = begin; q < end; ++q) s += static_cast<double>(data[q]) * data[q];
    return s;
  }
  // Both rows in the order of their columns, which increase.
  double squared_distance(std::int64_t row, std::int64_t other) const {
    std::int64_t p = indptr[row], q = indptr[other];
    const std::int64_t p_end = indptr[row + 1], q_end = indptr[other + 1];
    double s = 0;
    while (p < p_end || q < q_end) {
      const bool ours = q == q_end || (p < p_end && indices[p] <= indices[q]);
      const bool theirs = p == p_end || (q < q_end && indices[q] <= indices[p]);
      const double by = (ours ? static_cast<double>(data[p]) : 0.0) -
                        (theirs ? static_cast<double>(data[q]) : 0.0);
      s += by * by;
      p += ours;
      q += theirs;
    }
    return s;
  }
  // out = 0 where the row has entries.
  void clear(std::int64_t row, double* out) const {
    for (std::int64_t q = indptr[row]; q < indptr[row + 1]; ++q) out[indices[q]] = 0;
  }
  void prefetch_place(std::int64_t row) const { ask_for(indptr + row); }
  // The whole row, as far as 4 kB.
  void prefetch(std::int64_t row) const {
    lines(data + indptr[row], data + indptr[row + 1]);
    lines(indices + indptr[row], indices + indptr[row + 1]);
  }

 private:
  template <class U>
  static void lines(const U* begin, const U* end) {
    const char *p = reinterpret_cast<const char*>(begin), *q = reinterpret_cast<const char*>(end);
    if (q - p > 4096) q = p + 4096;
    p -= reinterpret_cast<std::uintptr_t>(p) % 64;  // or the last line is missed
    for (; p < q; p += 64) ask_for(p);
  }
};

}  // namespace toprank
