#include <memory>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "bind/sides.hpp"
#include "rows/wide_descent.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

// A descent with what it reads: the arrays must outlive it.
struct BoundWide {
  Matrix matrix;
  Doubles tilt;
  std::unique_ptr<WideDescent> core;

  std::int64_t n_cols() const { return matrix.n_cols(); }
};

std::unique_ptr<WideDescent> made(const Matrix& x, const WideAsk& ask, bool single) {
  std::unique_ptr<WideDescent> core;
  interruptible([&] {
    x.with_view({}, [&](const auto& view, Subset) {
      if constexpr (requires { view.indptr; })
        if (single) {
          core = wide_descent<float>(wide_rows<float>(view), ask);
          return;
        }
      core = wide_descent<double>(wide_rows<double>(view), ask);
    });
  });
  return core;
}

}  // namespace

void bind_wide(nb::module_& module) {
  nb::class_<BoundWide>(module, "WideDescent")
      .def(
          "__init__",
          [](BoundWide* self, const Matrix& x, Doubles tilt, const Side& positives,
             const Side& negatives, bool free_bias, bool single, int n_threads) {
            require(length(tilt) == x.n_rows() && x.n_rows() > 0, "one weight a row");
            require(x.n_rows() < (std::int64_t(1) << 31), "rows are numbered by 32 bits");
            require(x.n_cols() > 0 && x.n_cols() < 0xffffffffLL, "columns have numbers of 32 bits");
            const WideAsk ask{tilt.data(), loss_of(positives, negatives), free_bias, n_threads};
            auto core = made(x, ask, single);
            new (self) BoundWide{x, tilt, std::move(core)};
          },
          "x"_a, "tilt"_a.noconvert(), "positives"_a, "negatives"_a, "free_bias"_a, "single"_a,
          "n_threads"_a)
      .def(
          "begin",
          [](BoundWide& self, std::optional<Doubles> w, double b) {
            require(!w || length(*w) == self.n_cols(), "w has one entry a column");
            return interruptible([&] { return self.core->begin(w ? w->data() : nullptr, b); });
          },
          "w"_a.noconvert().none(), "b"_a)
      .def(
          "place",
          [](BoundWide& self, Doubles scores, double b) {
            require(length(scores) == length(self.tilt), "one score a row");
            return interruptible([&] { return self.core->place(scores.data(), b); });
          },
          "scores"_a.noconvert(), "b"_a)
      .def(
          "sweep",
          [](const BoundWide& self, double alpha, double level, int most, double enough,
             std::uint64_t seed) -> nb::object {
            require(alpha > 0 && most > 0, "alpha is above zero, and a sweep is made");
            nb::capsule owner;
            double* w = allocate<double>(self.n_cols(), owner);
            nb::capsule owner_of_slopes;
            double* slopes = allocate<double>(length(self.tilt), owner_of_slopes);
            SweepAsk ask{};
            ask.alpha = alpha, ask.level = level, ask.seed = seed;
            ask.most = most, ask.enough = enough;
            Swept swept{};
            if (!interruptible([&] { return self.core->sweep(ask, w, slopes, swept); })) return nb::none();
            const auto size = static_cast<std::size_t>(self.n_cols());
            const auto rows = static_cast<std::size_t>(length(self.tilt));
            return nb::make_tuple(Vector(w, {size}, owner), Vector(slopes, {rows}, owner_of_slopes),
                                  swept.level, swept.entries, swept.left.of_slopes,
                                  swept.left.of_duals);
          },
          "alpha"_a, "level"_a, "most"_a, "enough"_a, "seed"_a)
      .def("pull",
           [](const BoundWide& self) {
             return new_vector(self.n_cols(), [&](double* out) { self.core->pull(out); });
           })
      .def(
          "thin",
          [](BoundWide& self, double tau, double least, std::uint64_t seed) {
            require(least > 0, "some rows are kept");
            return interruptible([&] { return self.core->thin(tau, least, seed); });
          },
          "tau"_a, "least"_a, "seed"_a)
      .def(
          "step",
          [](const BoundWide& self, Doubles gradient, double alpha, double share, double enough,
             int max_iter) {
            require(length(gradient) == self.n_cols() + 1, "one entry a column, and b's");
            require(alpha > 0, "alpha is above zero");
            const auto size = self.n_cols() + 1;
            nb::capsule owner;
            double* out = allocate<double>(size, owner);
            const StepAsk ask{alpha, false, share, enough, max_iter, 1};
            const Stepped made =
                interruptible([&] { return self.core->step(gradient.data(), ask, out); });
            return nb::make_tuple(Vector(out, {static_cast<std::size_t>(size)}, owner),
                                  made.iterations, made.left);
          },
          "gradient"_a.noconvert(), "alpha"_a, "share"_a, "enough"_a, "max_iter"_a)
      .def(
          "advance",
          [](BoundWide& self, Doubles step, double linear, double square, double slope,
             double share) {
            require(length(step) == self.n_cols() + 1, "one entry a column, and b's");
            return interruptible(
                [&] { return self.core->advance(step.data(), linear, square, slope, share); });
          },
          "step"_a.noconvert(), "linear"_a, "square"_a, "slope"_a, "share"_a)
      .def_prop_ro("b", [](const BoundWide& self) { return self.core->b; })
      .def_prop_ro("value", [](const BoundWide& self) { return self.core->sums.value; })
      .def_prop_ro("typical", [](const BoundWide& self) { return self.core->typical; })
      .def_prop_ro("thinned_entries",
                   [](const BoundWide& self) { return self.core->thinned_entries; });
}

}  // namespace toprank
