// A matrix seen row by row: dense (row-major) or CSR. Entries stay in the caller's dtype,
// sums are double. The sequential kernels are written once over these two views.
#pragma once

#include <cstddef>
#include <cstdint>

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
  const T* x;
  std::int64_t n_rows, n_cols, stride;

  std::int64_t entries(std::int64_t) const { return n_cols; }
  std::int64_t entries_before(std::int64_t row) const { return row * n_cols; }

  // Always inlined: with few columns the call would be what takes the time.
  [[gnu::always_inline]] double dot(std::int64_t row, const double* w) const {
    const T* v = x + row * stride;
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t j = 0; j < n_cols; ++j) s += static_cast<double>(v[j]) * w[j];
    return s;
  }
  void add(std::int64_t row, double c, double* out) const {
    const T* v = x + row * stride;
#pragma omp simd
    for (std::int64_t j = 0; j < n_cols; ++j) out[j] += c * static_cast<double>(v[j]);
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

template <class T, class I>
struct SparseRows {
  using Value = T;
  const T* data;
  const I* indices;
  const std::int64_t* indptr;
  std::int64_t n_rows, n_cols;

  std::int64_t entries(std::int64_t row) const { return indptr[row + 1] - indptr[row]; }
  std::int64_t entries_before(std::int64_t row) const { return indptr[row]; }

  // Four scalar sums: gather instructions are 3 to 5 times slower per entry here.
  double dot(std::int64_t row, const double* w) const {
    std::int64_t q = indptr[row];
    const std::int64_t end = indptr[row + 1];
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; q + 4 <= end; q += 4) {
      s0 += data[q] * w[indices[q]];
      s1 += data[q + 1] * w[indices[q + 1]];
      s2 += data[q + 2] * w[indices[q + 2]];
      s3 += data[q + 3] * w[indices[q + 3]];
    }
    for (; q < end; ++q) s0 += data[q] * w[indices[q]];
    return (s0 + s1) + (s2 + s3);
  }
  void add(std::int64_t row, double c, double* out) const {
    std::int64_t q = indptr[row];
    const std::int64_t end = indptr[row + 1];
    // The columns of a row differ: four sums may be under way at once.
    for (; q + 4 <= end; q += 4) {
      double *o0 = out + indices[q], *o1 = out + indices[q + 1], *o2 = out + indices[q + 2],
             *o3 = out + indices[q + 3];
      const double v0 = *o0 + c * data[q], v1 = *o1 + c * data[q + 1],
                   v2 = *o2 + c * data[q + 2], v3 = *o3 + c * data[q + 3];
      *o0 = v0, *o1 = v1, *o2 = v2, *o3 = v3;
    }
    for (; q < end; ++q) out[indices[q]] += c * data[q];
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
