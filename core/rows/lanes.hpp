// Vectors of 32 bytes, written out: what a compiler makes of a loop with many choices is a matter of
// luck.
#pragma once

#include <cstdint>
#include <cstring>

namespace toprank {

typedef float FloatLanes __attribute__((vector_size(32)));
typedef double DoubleLanes __attribute__((vector_size(32)));
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

template <class A>
[[gnu::always_inline]] inline void store(Lanes<A> x, A* at) {
  std::memcpy(at, &x, sizeof x);
}

template <class A>
[[gnu::always_inline]] inline Lanes<A> all(A x) {
  return x - Lanes<A>{};  // not + , which would make 0 of -0
}

[[gnu::always_inline]] inline float total(FloatLanes x) {
  typedef float Half __attribute__((vector_size(16)));
  Half low, high;
  std::memcpy(&low, &x, sizeof low);
  std::memcpy(&high, reinterpret_cast<const char*>(&x) + sizeof low, sizeof high);
  low += high;
  return (low[0] + low[2]) + (low[1] + low[3]);
}

[[gnu::always_inline]] inline double total(DoubleLanes x) { return (x[0] + x[2]) + (x[1] + x[3]); }

}  // namespace toprank
