// The module. The files of this folder are all that knows of Python. They check everything once:
// lengths, dtypes, strides and row numbers, so that the core never reads where it should not.
#include "bind/module.hpp"

#include "support/interrupt.hpp"

#ifndef TOPRANK_MODULE
#define TOPRANK_MODULE _baseline
#endif

namespace nb = nanobind;
using namespace toprank;

namespace {

bool signal_pending() {
  nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

bool has_x86_64_v3() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
  return __builtin_cpu_supports("x86-64-v3");
#elif defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

const char* compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

NB_MODULE(TOPRANK_MODULE, module) {
  interrupt_hook = signal_pending;
  module.def("has_x86_64_v3", &has_x86_64_v3);
  module.def("compiler", &compiler);

  bind_matrix(module);
  bind_crr(module);
  bind_moments(module);
  bind_online(module);
  bind_push(module);
  bind_pair_ranks(module);
  bind_pair_scan(module);
  bind_pairs(module);
  bind_rows(module);
  bind_sampling(module);
  bind_stumps(module);
  bind_text(module);
  bind_trees(module);
  bind_urn(module);
  bind_wide(module);
}
