#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "pairs/pair_descent.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

// PairDescent with the matrix it reads: the view's arrays must outlive the kernel.
struct BoundPairs {
  Matrix matrix;
  std::unique_ptr<PairDescent> core;

  BoundPairs(const Matrix& x, std::uint64_t seed) : matrix(x) {
    require(x.n_rows() <= kMost, "pairs are made of at most 2147483647 rows");
    core = matrix.with_rows([&](const auto& rows) { return make_pair_descent(rows, seed); });
  }

  void add(Indices first, Indices second, Doubles bounds, Doubles duals) {
    const auto count = length(first);
    require(length(second) == count && length(bounds) == count && length(duals) == count,
            "first, second, bounds and duals have one length");
    require(count <= kMost - core->n_pairs(), "at most 2147483647 pairs");
    const auto n = matrix.n_rows();
    for (std::int64_t k = 0; k < count; ++k) {
      const auto i = first.data()[k], j = second.data()[k];
      if (i < kNoRow || i >= n || j < kNoRow || j >= n) throw nb::index_error("row out of range");
      require(i != kNoRow || j != kNoRow, "a pair has a row on one side at least");
      require(std::isfinite(duals.data()[k]), "duals are finite");
    }
    check_bounds(bounds);
    interruptible([&] {
      core->add(first.data(), second.data(), bounds.data(), duals.data(), count);
    });
  }

  void set_bounds(Doubles bounds) {
    require(length(bounds) == core->n_pairs(), "one bound a pair");
    check_bounds(bounds);
    interruptible([&] { core->set_bounds(bounds.data()); });
  }

  static void check_bounds(Doubles bounds) {
    for (std::int64_t k = 0; k < length(bounds); ++k)
      require(std::isfinite(bounds.data()[k]) && bounds.data()[k] >= 0,
              "bounds are finite and not negative");
  }
};

}  // namespace

void bind_pairs(nb::module_& module) {
  nb::class_<BoundPairs>(module, "PairDescent")
      .def(nb::init<const Matrix&, std::uint64_t>(), "matrix"_a, "seed"_a)
      .def("add", &BoundPairs::add, "first"_a.noconvert(), "second"_a.noconvert(),
           "bounds"_a.noconvert(), "duals"_a.noconvert())
      .def("set_bounds", &BoundPairs::set_bounds, "bounds"_a.noconvert())
      .def("scale",
           [](BoundPairs& self, double factor) {
             require(std::isfinite(factor) && factor > 0, "the factor is positive and finite");
             self.core->scale(factor);
           },
           "factor"_a)
      .def("epoch",
           [](BoundPairs& self) { return interruptible([&] { return self.core->epoch(); }); })
      .def("solve",
           [](BoundPairs& self, double tol, std::int64_t max_epochs, std::int64_t max_checks) {
             const auto seen =
                 interruptible([&] { return self.core->solve(tol, max_epochs, max_checks); });
             return std::tuple{seen.epochs, seen.primal, seen.dual};
           },
           "tol"_a, "max_epochs"_a, "max_checks"_a = std::numeric_limits<std::int64_t>::max())
      .def_prop_ro("n_pairs", [](const BoundPairs& s) { return s.core->n_pairs(); })
      .def_prop_ro("entries_read", [](const BoundPairs& s) { return s.core->entries_read(); })
      .def_prop_ro(
          "weights",
          [](const BoundPairs& s) {
            return new_vector(s.matrix.n_cols(), [&](double* out) { s.core->weights(out); });
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "duals",
          [](const BoundPairs& s) {
            return new_vector(s.core->n_pairs(), [&](double* out) { s.core->duals(out); });
          },
          nb::rv_policy::move);
}

}  // namespace toprank
