#include <memory>
#include <tuple>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "bind/pair_classes.hpp"
#include "pairs/pair_ranks.hpp"
#include "pairs/pair_steps.hpp"
#include "pairs/pair_sweeps.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

// Steps with what they read: the arrays must outlive them.
struct BoundSteps {
  Matrix matrix;
  std::unique_ptr<PairSteps> core;
  bool single;
  int n_threads;
};

std::unique_ptr<PairSteps> made(const Matrix& x, bool single, int n_threads) {
  std::unique_ptr<PairSteps> core;
  interruptible([&] {
    x.with_view({}, [&](const auto& view, Subset) {
      if constexpr (requires { view.indptr; })
        if (single) {
          core = pair_steps<float>(wide_rows<float>(view), n_threads);
          return;
        }
      core = pair_steps<double>(wide_rows<double>(view), n_threads);
    });
  });
  return core;
}

}  // namespace

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

  nb::class_<BoundSteps>(module, "PairSteps")
      .def("__init__",
           [](BoundSteps* self, const Matrix& x, bool single, int n_threads) {
             require(x.n_rows() > 0 && x.n_rows() < (std::int64_t(1) << 31),
                     "rows are numbered by 32 bits");
             require(x.n_cols() > 0 && x.n_cols() < 0xffffffffLL,
                     "columns have numbers of 32 bits");
             new (self) BoundSteps{x, made(x, single, n_threads), single, n_threads};
           },
           "x"_a, "single"_a, "n_threads"_a)
      .def("step",
           [](BoundSteps& self, const PairRanks& ranks, Doubles gradient, double alpha,
              double least, double share, double enough, int max_iter) {
             const auto size = self.matrix.n_cols();
             require(length(gradient) == size, "one entry a column");
             require(ranks.n_rows() == self.matrix.n_rows(), "the ranks are of these rows");
             require(ranks.known(), "the slope comes first");
             require(alpha > 0 && least >= 0, "alpha is above zero");
             nb::capsule owner;
             double* out = allocate<double>(size + 1, owner);
             const StepAsk ask{alpha, false, share, enough, max_iter, self.n_threads};
             const Stepped made = interruptible(
                 [&] { return self.core->step(ranks, gradient.data(), ask, least, out); });
             return std::tuple{Vector(out, {static_cast<std::size_t>(size)}, owner),
                               made.iterations, made.left};
           },
           "ranks"_a, "gradient"_a.noconvert(), "alpha"_a, "least"_a, "share"_a, "enough"_a,
           "max_iter"_a)
      .def("sweep",
           [](const BoundSteps& self, Doubles tilt, double alpha, int most, double enough,
              std::uint64_t seed) {
             require(length(tilt) == self.matrix.n_rows(), "one weight a row");
             require(alpha > 0 && most > 0, "alpha is above zero, and a sweep is made");
             const PairSweepAsk ask{tilt.data(), self.core->squares.data(), self.core->typical,
                                    alpha,       most,                      enough,
                                    seed};
             const auto size = self.matrix.n_cols();
             nb::capsule owner;
             double* w = allocate<double>(size, owner);
             PairSwept swept{};
             interruptible([&] {
               self.matrix.with_view({}, [&](const auto& view, Subset) {
                 if constexpr (requires { view.indptr; })
                   swept = self.single ? pair_sweeps<float>(view, ask, w)
                                       : pair_sweeps<double>(view, ask, w);
               });
             });
             require(swept.sweeps > 0, "the rows are sparse");
             return std::tuple{Vector(w, {static_cast<std::size_t>(size)}, owner), swept.entries};
           },
           "tilt"_a.noconvert(), "alpha"_a, "most"_a, "enough"_a, "seed"_a)
      .def_prop_ro("typical", [](const BoundSteps& self) { return self.core->typical; })
      .def_prop_ro("entries", [](const BoundSteps& self) { return self.core->entries; });
}

}  // namespace toprank
