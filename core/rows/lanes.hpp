// Vectors of 32 bytes, written out: what a compiler makes of a loop with many choices is a matter of
// luck.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace toprank {

typedef float FloatLanes __attribute__((vector_size(32)));
typedef double DoubleLanes __attribute__((vector_size(32)));
typedef float FloatHalf __attribute__((vector_size(16)));
typedef double DoubleHalf __attribute__((vector_size(16)));
typedef std::int32_t IntLanes __attribute__((vector_size(32)));
typedef std::int64_t LongLanes __attribute__((vector_size(32)));

template <class A>
struct LanesOf;
template <>
struct LanesOf<float> {
  using Numbers = FloatLanes;
  using Bits = IntLanes;  // what comparisons give, too
};
template <>
struct LanesOf<double> {
  using Numbers = DoubleLanes;
  using Bits = LongLanes;
};

template <class A>
using Lanes = typename LanesOf<A>::Numbers;
template <class A>
using BitLanes = typename LanesOf<A>::Bits;
template <class A>
inline constexpr std::int64_t kLanes = 32 / sizeof(A);

template <class A>
[[gnu::always_inline]] inline Lanes<A> load(const A* at) {
  Lanes<A> x;
  std::memcpy(&x, at, sizeof x);
  return x;
}

// The same of numbers that are stored in another type.
template <class A, class T>
[[gnu::always_inline]] inline Lanes<A> load_as(const T* at) {
  if constexpr (std::is_same_v<A, T>) {
    return load(at);
  } else if constexpr (std::is_same_v<A, double>) {
    FloatHalf x;
    std::memcpy(&x, at, sizeof x);
    return __builtin_convertvector(x, DoubleLanes);
  } else {
    const FloatHalf low = __builtin_convertvector(load(at), FloatHalf);
    const FloatHalf high = __builtin_convertvector(load(at + kLanes<T>), FloatHalf);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

template <class A>
[[gnu::always_inline]] inline void store(Lanes<A> x, A* at) {
  std::memcpy(at, &x, sizeof x);
}

template <class A>
[[gnu::always_inline]] inline Lanes<A> all(A x) {
  return x - Lanes<A>{};  // not + , which would make 0 of -0
}

[[gnu::always_inline]] inline FloatHalf folded(FloatLanes x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
}

[[gnu::always_inline]] inline DoubleHalf folded(DoubleLanes x) {
  return __builtin_shufflevector(x, x, 0, 1) + __builtin_shufflevector(x, x, 2, 3);
}

[[gnu::always_inline]] inline float total(FloatLanes x) {
  const FloatHalf half = folded(x);
  return (half[0] + half[2]) + (half[1] + half[3]);
}

[[gnu::always_inline]] inline double total(DoubleLanes x) {
  const DoubleHalf half = folded(x);
  return half[0] + half[1];
}

// The totals of four, to the bit what `total` gives of each.
[[gnu::always_inline]] inline void totals(const FloatLanes (&x)[4], float* out) {
  const FloatHalf a = folded(x[0]), b = folded(x[1]), c = folded(x[2]), d = folded(x[3]);
  const FloatHalf ab =
      __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const FloatHalf cd =
      __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const FloatHalf all =
      __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  std::memcpy(out, &all, sizeof all);
}

[[gnu::always_inline]] inline void totals(const DoubleLanes (&x)[4], double* out) {
  for (int i = 0; i < 4; ++i) out[i] = total(x[i]);
}

}  // namespace toprank
