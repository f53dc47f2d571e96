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

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoubleMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
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
