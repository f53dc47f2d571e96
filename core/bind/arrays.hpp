// The arrays that go in and out of the core, and how a kernel is called from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/interrupt.hpp"

namespace toprank {

namespace nb = nanobind;

// An array argument. Only objects with the method __dlpack__, such as NumPy's arrays, are read:
// nanobind trusts the buffers of all others, and those of datetime64 scalars have no strides.
template <class... Args>
struct ArrayArgument : nb::ndarray<Args..., nb::device::cpu> {
  using Base = nb::ndarray<Args..., nb::device::cpu>;
  using Base::Base;
  ArrayArgument() = default;
  explicit ArrayArgument(Base array) : Base(std::move(array)) {}
};

using AnyArray = ArrayArgument<nb::ro>;
using Doubles = ArrayArgument<const double, nb::ndim<1>, nb::c_contig>;
using Indices = ArrayArgument<const std::int64_t, nb::ndim<1>, nb::c_contig>;
using DoubleMatrix = ArrayArgument<const double, nb::ndim<2>, nb::c_contig>;
using Vector = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Square = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

inline std::int64_t length(const auto& array) { return static_cast<std::int64_t>(array.shape(0)); }

inline void require(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

template <class T = double>
T* allocate(std::int64_t n, nb::capsule& owner) {
  auto* values = new T[static_cast<std::size_t>(std::max<std::int64_t>(n, 1))];
  owner = nb::capsule(values, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return values;
}

// Runs `work(out)` without the GIL on a new array of n numbers.
template <class T = double, class Work>
nb::ndarray<nb::numpy, T, nb::ndim<1>> new_vector(std::int64_t n, Work&& work) {
  nb::capsule owner;
  T* out = allocate<T>(n, owner);
  {
    nb::gil_scoped_release release;
    work(out);
  }
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(out, {static_cast<std::size_t>(n)}, owner);
}

template <class T>
auto copy(const std::vector<T>& values) {
  return new_vector<T>(static_cast<std::int64_t>(values.size()),
                       [&](T* out) { std::copy(values.begin(), values.end(), out); });
}

template <class T>
T* data_of(const AnyArray& array) {
  return static_cast<T*>(array.data());
}

// Runs a kernel that may be interrupted, without the GIL: the hook has set the Python error by
// then.
template <class Work>
auto interruptible(Work&& work) {
  try {
    nb::gil_scoped_release release;
    return work();
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

}  // namespace toprank

template <class... Args>
struct nanobind::detail::type_caster<toprank::ArrayArgument<Args...>> {
  using Base = make_caster<typename toprank::ArrayArgument<Args...>::Base>;
  NB_TYPE_CASTER(toprank::ArrayArgument<Args...>, Base::Name)

  bool from_python(handle source, auto flags, cleanup_list* cleanup) noexcept {
    Base base;
    if (!hasattr(source, "__dlpack__") || !base.from_python(source, flags, cleanup)) return false;
    value = Value(std::move(base.value));
    return true;
  }
};
