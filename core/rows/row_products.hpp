// Products of single rows with vectors in the arithmetic A, whatever the entries are stored in.
#pragma once

#include <cstdint>

#include "matrix/rows.hpp"

namespace toprank {

template <class A, class T, class I>
[[gnu::always_inline]] inline A dot(const SparseRows<T, I>& x, std::int64_t row, const A* w) {
  auto q = x.indptr[row];
  const auto end = x.indptr[row + 1];
  A s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (; q + 4 <= end; q += 4) {
    s0 += static_cast<A>(x.data[q]) * w[x.indices[q]];
    s1 += static_cast<A>(x.data[q + 1]) * w[x.indices[q + 1]];
    s2 += static_cast<A>(x.data[q + 2]) * w[x.indices[q + 2]];
    s3 += static_cast<A>(x.data[q + 3]) * w[x.indices[q + 3]];
  }
  for (; q < end; ++q) s0 += static_cast<A>(x.data[q]) * w[x.indices[q]];
  return (s0 + s1) + (s2 + s3);
}

template <class A, class T, class I>
[[gnu::always_inline]] inline void add(const SparseRows<T, I>& x, std::int64_t row, A c, A* out) {
  auto q = x.indptr[row];
  const auto end = x.indptr[row + 1];
  for (; q + 4 <= end; q += 4) {  // the columns of a row differ: four sums at once
    A *o0 = out + x.indices[q], *o1 = out + x.indices[q + 1], *o2 = out + x.indices[q + 2],
      *o3 = out + x.indices[q + 3];
    const A v0 = *o0 + c * static_cast<A>(x.data[q]), v1 = *o1 + c * static_cast<A>(x.data[q + 1]),
            v2 = *o2 + c * static_cast<A>(x.data[q + 2]),
            v3 = *o3 + c * static_cast<A>(x.data[q + 3]);
    *o0 = v0, *o1 = v1, *o2 = v2, *o3 = v3;
  }
  for (; q < end; ++q) out[x.indices[q]] += c * static_cast<A>(x.data[q]);
}

template <class A, class T>
inline A dot(const DenseRows<T>& x, std::int64_t row, const A* w) {
  const T* v = x.x + row * x.stride;
  A s = 0;
#pragma omp simd reduction(+ : s)
  for (std::int64_t j = 0; j < x.n_cols; ++j) s += static_cast<A>(v[j]) * w[j];
  return s;
}

template <class A, class T>
inline void add(const DenseRows<T>& x, std::int64_t row, A c, A* out) {
  const T* v = x.x + row * x.stride;
#pragma omp simd
  for (std::int64_t j = 0; j < x.n_cols; ++j) out[j] += c * static_cast<A>(v[j]);
}

}  // namespace toprank
