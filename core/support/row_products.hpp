// Products of one row with a vector, in the arithmetic A of the vector. The entries of the row are
// stored in T. All kernels that read single rows use these four.
#pragma once

#include <cstdint>
#include <type_traits>

namespace toprank {

template <class T, class A>
[[gnu::always_inline]] inline A dense_dot(const T* x, std::int64_t n, const A* w) {
  A s = 0;
#pragma omp simd reduction(+ : s)
  for (std::int64_t j = 0; j < n; ++j) s += static_cast<A>(x[j]) * w[j];
  return s;
}

// out += c x
template <class T, class A>
[[gnu::always_inline]] inline void dense_add(const T* x, std::int64_t n, std::type_identity_t<A> c,
                                             A* out) {
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) out[j] += c * static_cast<A>(x[j]);
}

// Four scalar sums: gather instructions are 3 to 5 times slower per entry here.
template <class T, class Index, class A>
[[gnu::always_inline]] inline A sparse_dot(const T* x, const Index* columns, std::int64_t n,
                                           const A* w) {
  std::int64_t q = 0;
  A s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (; q + 4 <= n; q += 4) {
    s0 += static_cast<A>(x[q]) * w[columns[q]];
    s1 += static_cast<A>(x[q + 1]) * w[columns[q + 1]];
    s2 += static_cast<A>(x[q + 2]) * w[columns[q + 2]];
    s3 += static_cast<A>(x[q + 3]) * w[columns[q + 3]];
  }
  for (; q < n; ++q) s0 += static_cast<A>(x[q]) * w[columns[q]];
  return (s0 + s1) + (s2 + s3);
}

// out += c x. The columns of a row are distinct, so four sums can be under way at once.
template <class T, class Index, class A>
[[gnu::always_inline]] inline void sparse_add(const T* x, const Index* columns, std::int64_t n,
                                              std::type_identity_t<A> c, A* out) {
  std::int64_t q = 0;
  for (; q + 4 <= n; q += 4) {
    A *o0 = out + columns[q], *o1 = out + columns[q + 1], *o2 = out + columns[q + 2],
      *o3 = out + columns[q + 3];
    const A v0 = *o0 + c * static_cast<A>(x[q]), v1 = *o1 + c * static_cast<A>(x[q + 1]),
            v2 = *o2 + c * static_cast<A>(x[q + 2]), v3 = *o3 + c * static_cast<A>(x[q + 3]);
    *o0 = v0, *o1 = v1, *o2 = v2, *o3 = v3;
  }
  for (; q < n; ++q) out[columns[q]] += c * static_cast<A>(x[q]);
}

}  // namespace toprank
