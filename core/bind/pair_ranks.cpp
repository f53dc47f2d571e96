#include <tuple>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "bind/pair_classes.hpp"
#include "pairs/pair_ranks.hpp"

using namespace nanobind::literals;

namespace toprank {

void bind_pair_ranks(nb::module_& module) {
  nb::class_<PairRanks>(module, "PairRanks")
      .def("__init__",
           [](PairRanks* self, std::int64_t n_rows, Indices positives, std::optional<Doubles> p,
              Indices negatives, std::optional<Doubles> q) {
             check_classes(n_rows, positives, negatives);
             new (self) PairRanks(n_rows, positives.data(), check_weights(p, positives),
                                  length(positives), negatives.data(),
                                  check_weights(q, negatives), length(negatives));
           },
           "n_rows"_a, "positives"_a.noconvert(), "p"_a.noconvert().none(),
           "negatives"_a.noconvert(), "q"_a.noconvert().none())
      .def("slope",
           [](PairRanks& self, Doubles scores) {
             require(length(scores) == self.n_rows(), "one score a row");
             PairRanks::Sums sums;
             auto v = new_vector(self.n_rows(),
                                 [&](double* out) { sums = self.slope(scores.data(), out); });
             return std::tuple{v, sums.value, sums.total};
           },
           "scores"_a.noconvert())
      .def("curvature",
           [](PairRanks& self, Doubles r) {
             require(length(r) == self.n_rows(), "one entry a row");
             require(self.known(), "the slope comes first");
             return new_vector(self.n_rows(),
                               [&](double* out) { self.curvature(r.data(), out); });
           },
           "r"_a.noconvert())
      .def("search",
           [](PairRanks& self, Doubles s, Doubles r, double slope, double linear, double square,
              double share, double first) {
             require(length(s) == self.n_rows() && length(r) == self.n_rows(), "one entry a row");
             require(slope < 0 && first > 0, "the slope leads down");
             PairRanks::Step step;
             nb::capsule owner;
             double* moved = allocate(self.n_rows(), owner);
             auto v = new_vector(self.n_rows(), [&](double* out) {
               step = self.search(s.data(), r.data(), {slope, linear, square, first}, share, moved, out);
             });
             Vector at(moved, {static_cast<std::size_t>(self.n_rows())}, owner);
             return std::tuple{step.theta, at, v, step.sums.value, step.left};
           },
           "s"_a.noconvert(), "r"_a.noconvert(), "slope"_a, "linear"_a, "square"_a, "share"_a,
           "first"_a = 1.0)
      .def("thinned",
           [](const PairRanks& self, double most) {
             require(self.known(), "the slope comes first");
             const auto kept = self.thinned(most);
             return std::tuple{copy(kept.rows), copy(kept.weights), copy(kept.last),
                               copy(kept.others), copy(kept.other_weights)};
           },
           "most"_a);
}

}  // namespace toprank
