#include <string>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "online/crr.hpp"

using namespace nanobind::literals;

namespace toprank {

void bind_crr(nb::module_& module) {
  nb::class_<CombinedDescent>(module, "CombinedDescent")
      .def("__init__",
           [](CombinedDescent* self, Doubles w, std::int64_t steps, double alpha,
              const std::string& loss, bool project) {
             require(steps >= 0, "steps is a count");
             require(alpha > 0, "alpha is above zero");
             require(loss == "hinge" || loss == "squared", "unknown loss");
             const StepRules rules{alpha, loss == "squared", project};
             new (self) CombinedDescent(w.data(), length(w), steps, rules);
           },
           "w"_a.noconvert(), "steps"_a, "alpha"_a, "loss"_a, "project"_a)
      .def("run",
           [](CombinedDescent& self, const Matrix& x, Indices positives, Indices negatives,
              bool summed) {
             const auto n = x.n_rows(), size = length(positives);
             require(length(negatives) == size, "a draw has two sides");
             const auto more = static_cast<std::int64_t>(self.total().size()) - x.n_cols();
             require(more == 0 || more == 1, "w has one entry a column, and one for the bias");
             require(x.n_cols() > 0, "a matrix has columns");
             for (std::int64_t k = 0; k < size; ++k) {
               const auto i = positives.data()[k], j = negatives.data()[k];
               if (i < -1 || j < -1 || i >= n || j >= n) throw nb::index_error("row out of range");
               require(i >= 0 || j >= 0, "a draw has a row");
             }
             return x.with_rows([&](const auto& rows) {
               return interruptible([&] {
                 return self.run(rows, positives.data(), negatives.data(), size, summed);
               });
             });
           },
           "x"_a, "positives"_a.noconvert(), "negatives"_a.noconvert(), "summed"_a)
      .def_prop_ro(
          "weights", [](const CombinedDescent& self) { return copy(self.weights()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "total", [](const CombinedDescent& self) { return copy(self.total()); },
          nb::rv_policy::move)
      .def_prop_ro("loss", &CombinedDescent::loss);
}

}  // namespace toprank
