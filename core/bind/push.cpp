#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "push/active_set.hpp"
#include "push/dual_descent.hpp"
#include "push/projection.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

PushProblem push_problem(const Matrix& x, Indices positives, Indices negatives, Doubles p,
                         Doubles q, double alpha, const std::string& loss, bool rectified,
                         std::uint64_t seed, double steeper) {
  require(length(p) == length(positives), "p has one entry a positive row");
  require(length(q) == length(negatives), "q has one entry a negative row");
  require(length(positives) > 0 && length(negatives) > 0, "both classes need a row");
  PushProblem problem;
  auto join = [](auto& out, const auto& one, const auto& other) {
    out.assign(one.data(), one.data() + length(one));
    out.insert(out.end(), other.data(), other.data() + length(other));
  };
  join(problem.rows, positives, negatives);
  join(problem.weight, p, q);
  for (const auto row : problem.rows)
    if (row < 0 || row >= x.n_rows()) throw nb::index_error("row out of range");
  problem.n_positives = length(positives);
  problem.alpha = alpha;
  problem.negatives = {rectified, steeper};
  problem.seed = seed;
  if (loss == "squared_hinge") problem.loss = Surrogate::squared_hinge;
  else if (loss == "logistic") problem.loss = Surrogate::logistic;
  else if (loss == "exponential") problem.loss = Surrogate::exponential;
  else if (loss == "hinge") problem.loss = Surrogate::hinge;
  else throw nb::value_error("unknown loss");
  require(!rectified || problem.loss != Surrogate::hinge, "a rectified loss is smooth");
  require(steeper == 0 || (!rectified && steeper >= 1), "without a ceiling, no less steep");
  require(steeper == 0 || problem.loss == Surrogate::squared_hinge ||
              problem.loss == Surrogate::logistic,
          "without a ceiling, the squared hinge or the logistic loss");
  return problem;
}

// DualDescent with the matrix it reads: the view's arrays must outlive the kernel.
struct BoundDescent {
  Matrix matrix;
  std::unique_ptr<DualDescent> core;
};

}  // namespace

void bind_push(nb::module_& module) {
  nb::class_<ActiveSet>(module, "ActiveSet")
      .def("__init__",
           [](ActiveSet* self, Doubles y0) { new (self) ActiveSet(y0.data(), length(y0)); },
           "y0"_a.noconvert())
      .def("append",
           [](ActiveSet& self, DoubleMatrix z, Doubles v) {
             require(z.shape(0) == v.shape(0), "one offset a row");
             require(z.shape(1) == self.y().size(), "rows of Z are as long as y");
             self.append(z.data(), v.data(), length(v));
           },
           "z"_a.noconvert(), "v"_a.noconvert())
      .def("warm",
           [](ActiveSet& self, Indices guess) {
             for (std::int64_t k = 0; k < length(guess); ++k)
               if (guess.data()[k] < 0 || guess.data()[k] >= self.n_rows())
                 throw nb::index_error("row out of range");
             interruptible([&] { self.warm(guess.data(), length(guess)); });
           },
           "guess"_a.noconvert())
      .def("solve",
           [](ActiveSet& self, double tol, std::int64_t max_steps) {
             return interruptible([&] { return self.solve(tol, max_steps); });
           },
           "tol"_a, "max_steps"_a)
      .def_prop_ro("y", [](const ActiveSet& self) { return copy(self.y()); },
                   nb::rv_policy::move)
      .def_prop_ro("multipliers", [](const ActiveSet& self) {
        return new_vector(self.n_rows(), [&](double* out) { self.multipliers(out); });
      }, nb::rv_policy::move);

  nb::class_<BoundDescent>(module, "DualDescent")
      .def("__init__",
           [](BoundDescent* self, const Matrix& matrix, Indices positives, Indices negatives,
              Doubles p, Doubles q, double alpha, const std::string& loss, bool rectified,
              std::uint64_t seed, double steeper) {
             auto problem = push_problem(matrix, positives, negatives, p, q, alpha, loss,
                                         rectified, seed, steeper);
             auto core = interruptible([&] {
               return matrix.with_rows(
                   [&](const auto& x) { return make_dual_descent(x, std::move(problem)); });
             });
             new (self) BoundDescent{matrix, std::move(core)};
           },
           "matrix"_a, "positives"_a.noconvert(), "negatives"_a.noconvert(),
           "p"_a.noconvert(), "q"_a.noconvert(), "alpha"_a, "loss"_a, "rectified"_a,
           "seed"_a, "steeper"_a = 0.0)
      .def("restart",
           [](BoundDescent& self, Doubles duals, double bias) {
             require(duals.shape(0) == self.core->duals().size(), "one dual a row");
             interruptible([&] { self.core->restart(duals.data(), bias); });
           },
           "duals"_a.noconvert(), "bias"_a)
      .def("epoch",
           [](BoundDescent& self, double shrink) {
             return interruptible([&] { return self.core->epoch(shrink); });
           },
           "shrink"_a)
      .def("sweep_hard",
           [](BoundDescent& self, int times) {
             interruptible([&] { self.core->sweep_hard(times); });
           },
           "times"_a)
      .def("settle", [](BoundDescent& self) { interruptible([&] { self.core->settle(); }); })
      .def("subspace_step",
           [](BoundDescent& self) { interruptible([&] { self.core->subspace_step(); }); })
      .def("update_bias",
           [](BoundDescent& self, double largest) { self.core->update_bias(largest); },
           "largest_step"_a)
      .def("check",
           [](BoundDescent& self, int n_threads) {
             const auto seen = interruptible([&] { return self.core->check(n_threads); });
             return std::tuple{seen.primal, seen.dual, seen.violation};
           },
           "n_threads"_a)
      .def("verify",
           [](BoundDescent& self) { return interruptible([&] { return self.core->verify(); }); })
      .def("rebuild",
           [](BoundDescent& self, double violation) {
             interruptible([&] { self.core->rebuild(violation); });
           },
           "violation"_a)
      .def_prop_ro("hard_entries", [](const BoundDescent& s) { return s.core->hard_entries(); })
      .def_prop_ro("entries_read", [](const BoundDescent& s) { return s.core->entries_read(); })
      .def_prop_ro("bias", [](const BoundDescent& s) { return s.core->bias(); })
      .def_prop_ro(
          "best_weights", [](const BoundDescent& s) { return copy(s.core->best_weights()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "best_duals", [](const BoundDescent& s) { return copy(s.core->best_duals()); },
          nb::rv_policy::move);

  module.def(
      "project_balanced",
      [](Doubles a, Doubles b) {
        require(length(a) > 0 && length(b) > 0, "both parts need an entry");
        auto a_out = new_vector(length(a), [&](double* out) { std::copy_n(a.data(), length(a), out); });
        auto b_out = new_vector(length(b), [&](double* out) { std::copy_n(b.data(), length(b), out); });
        nb::gil_scoped_release release;
        project_balanced(a_out.data(), length(a), b_out.data(), length(b));
        return std::pair{a_out, b_out};
      },
      "a"_a.noconvert(), "b"_a.noconvert());
}

}  // namespace toprank
