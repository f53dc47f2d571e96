// The arrays that go in and out of the core, and how a kernel is called from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "interrupt.hpp"

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

inline double* allocate(std::int64_t n, nb::capsule& owner) {
  auto* values = new double[static_cast<std::size_t>(std::max<std::int64_t>(n, 1))];
  owner = nb::capsule(values, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return values;
}

// Runs `work(out)` without the GIL on a new array of n doubles.
template <class Work>
Vector new_vector(std::int64_t n, Work&& work) {
  nb::capsule owner;
  double* out = allocate(n, owner);
  {
    nb::gil_scoped_release release;
    work(out);
  }
  return Vector(out, {static_cast<std::size_t>(n)}, owner);
}

inline Vector copy(const std::vector<double>& values) {
  return new_vector(static_cast<std::int64_t>(values.size()),
                    [&](double* out) { std::copy(values.begin(), values.end(), out); });
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
