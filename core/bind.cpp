// The module. The files bind* are all that knows of Python. They check everything once: lengths,
// dtypes, strides and row numbers, so that the core never reads where it should not.
#include "bind.hpp"

#include "bind_matrix.hpp"
#include "interrupt.hpp"

#ifndef TOPRANK_MODULE
#define TOPRANK_MODULE _baseline
#endif

using namespace nanobind::literals;
using namespace toprank;

namespace {

bool signal_pending() {
  nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

bool has_x86_64_v3() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

}  // namespace

NB_MODULE(TOPRANK_MODULE, module) {
  interrupt_hook = signal_pending;
  module.def("has_x86_64_v3", &has_x86_64_v3);

  nb::class_<Matrix>(module, "Matrix")
      .def_static("dense", &Matrix::dense, "x"_a.noconvert())
      .def_static("csr", &Matrix::csr, "data"_a.noconvert(), "indices"_a.noconvert(),
                  "indptr"_a.noconvert(), "n_cols"_a)
      .def("scores", &Matrix::scores, "w"_a.noconvert(), "rows"_a.noconvert().none(), "n_threads"_a)
      .def("pull_back", &Matrix::pull_back, "v"_a.noconvert(), "rows"_a.noconvert().none(),
           "n_threads"_a)
      .def("gram", &Matrix::gram, "c"_a.noconvert(), "rows"_a.noconvert().none(), "n_threads"_a)
      .def("window_cross", &Matrix::window_cross, "rows"_a.noconvert(), "first"_a.noconvert(),
           "last"_a.noconvert(), "weights"_a.noconvert(), "others"_a.noconvert(),
           "other_weights"_a.noconvert())
      .def("take", &Matrix::take, "rows"_a.noconvert())
      .def("squared_norms", &Matrix::squared_norms, "rows"_a.noconvert().none(), "n_threads"_a)
      .def("first_unusable", &Matrix::first_unusable, "limit"_a, "n_threads"_a)
      .def("inspect", &Matrix::inspect, "n_stored"_a, "limit"_a, "n_threads"_a);

  bind_crr(module);
  bind_moments(module);
  bind_online(module);
  bind_push(module);
  bind_pair_scan(module);
  bind_pairs(module);
  bind_sampling(module);
  bind_stumps(module);
}
