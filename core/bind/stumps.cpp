#include <limits>
#include <optional>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "pairs/exponential_pairs.hpp"
#include "stumps/stumps.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

nb::tuple as_tuple(const Stump& stump) {
  return nb::make_tuple(stump.cut, stump.missing_above, stump.merit);
}

void check(const StumpTable& self, Doubles weights, std::int64_t column = 0) {
  require(length(weights) == self.n_rows(), "one weight a row");
  if (column < 0 || column >= self.n_columns()) throw nb::index_error("column out of range");
}

}  // namespace

void bind_stumps(nb::module_& module) {
  nb::class_<StumpTable>(module, "StumpTable")
      .def("__init__",
           [](StumpTable* self, const Matrix& x, Indices rows, int n_threads) {
             require(length(rows) >= 1, "stumps are of at least one row");
             require(length(rows) < std::numeric_limits<std::int32_t>::max(), "too many rows");
             x.with_view(std::optional<Indices>(rows), [&](const auto& view, Subset subset) {
               interruptible([&] { new (self) StumpTable(view, subset, n_threads); });
             });
           },
           "x"_a, "rows"_a.noconvert(), "n_threads"_a)
      .def("edges",
           [](const StumpTable& self, Doubles s, int n_threads) {
             check(self, s);
             return new_vector(self.n_columns(),
                               [&](double* out) { self.edges(s.data(), out, n_threads); });
           },
           "s"_a.noconvert(), "n_threads"_a)
      .def("best_edge",
           [](const StumpTable& self, Doubles s, std::int64_t column) {
             check(self, s, column);
             return as_tuple(self.best_edge(s.data(), column));
           },
           "s"_a.noconvert(), "column"_a)
      .def("decreases",
           [](const StumpTable& self, Doubles w, std::int64_t n_positive, double p,
              int n_threads) {
             check(self, w);
             require(p > 0, "p is above zero");
             return new_vector(self.n_columns(), [&](double* out) {
               self.decreases(w.data(), n_positive, p, out, n_threads);
             });
           },
           "w"_a.noconvert(), "n_positive"_a, "p"_a, "n_threads"_a)
      .def("best_decrease",
           [](const StumpTable& self, Doubles w, std::int64_t n_positive, double p,
              std::int64_t column) {
             check(self, w, column);
             require(p > 0, "p is above zero");
             return as_tuple(self.best_decrease(w.data(), n_positive, p, column));
           },
           "w"_a.noconvert(), "n_positive"_a, "p"_a, "column"_a)
      .def("column",
           [](const StumpTable& self, std::int64_t column, std::int64_t cut, bool missing_above) {
             if (!self.has(column, cut)) throw nb::index_error("there is no such stump");
             return new_vector(self.n_rows(), [&](double* out) {
               self.fill(column, cut, missing_above, out);
             });
           },
           "column"_a, "cut"_a, "missing_above"_a)
      .def("levels",
           [](const StumpTable& self, std::int64_t column) {
             if (column < 0 || column >= self.n_columns())
               throw nb::index_error("column out of range");
             return copy(self.levels(column));
           },
           "column"_a)
      .def_prop_ro("n_rows", &StumpTable::n_rows)
      .def_prop_ro("n_stumps", &StumpTable::n_stumps);

  nb::class_<ExponentialPairs>(module, "ExponentialPairs")
      .def("__init__",
           [](ExponentialPairs* self, Doubles shares, std::int64_t n_positive, double p) {
             require(n_positive > 0 && n_positive < length(shares), "both sides have rows");
             require(p > 0, "p is above zero");
             new (self) ExponentialPairs(shares.data(), length(shares), n_positive, p);
           },
           "shares"_a.noconvert(), "n_positive"_a, "p"_a)
      .def("move",
           [](ExponentialPairs& self, Doubles h, double t) {
             require(length(h) == self.n_rows(), "h has one entry a row");
             return self.move(h.data(), t);
           },
           "h"_a.noconvert(), "t"_a)
      .def("exact_step",
           [](const ExponentialPairs& self, Doubles h, double most) {
             require(length(h) == self.n_rows(), "h has one entry a row");
             require(most > 0, "a step may be longer than zero");
             return interruptible([&] { return self.exact_step(h.data(), most); });
           },
           "h"_a.noconvert(), "most"_a)
      .def("edge_weights",
           [](const ExponentialPairs& self) {
             return new_vector(self.n_rows(), [&](double* out) { self.edge_weights(out); });
           })
      .def_prop_ro(
          "weights", [](const ExponentialPairs& self) { return copy(self.weights()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "scores", [](const ExponentialPairs& self) { return copy(self.scores()); },
          nb::rv_policy::move);
}

}  // namespace toprank
