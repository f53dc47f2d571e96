#include "urn/urn.hpp"

#include "bind/arrays.hpp"
#include "bind/module.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

Urn urn_of(std::int64_t n, std::int64_t m) {
  require(n >= 0 && m >= 0, "an urn has no fewer than no items");
  return {n, m};
}

auto quantiles(std::int64_t n, std::int64_t m, Indices c, double level, bool upper) {
  const Urn urn = urn_of(n, m);
  nb::capsule owner;
  auto* out = allocate<std::int64_t>(length(c), owner);
  interruptible([&] {
    Poll poll;
    for (std::int64_t i = 0; i < length(c); ++i) {
      out[i] = upper ? upper_quantile(urn, c.data()[i], level) : lower_quantile(urn, c.data()[i], level);
      poll(100'000);
    }
  });
  return nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(out, {c.shape(0)}, owner);
}

double crossing(std::int64_t n, std::int64_t m, Indices grid, Indices lower, Indices upper) {
  const Urn urn = urn_of(n, m);
  require(length(lower) == length(grid) && length(upper) == length(grid), "two bounds a place");
  for (std::int64_t i = 0; i < length(grid); ++i)
    require(grid.data()[i] >= (i > 0 ? grid.data()[i - 1] + 1 : 0) && grid.data()[i] < n,
            "places rise from 0 to n - 1");
  return interruptible([&] {
    return crossing_probability(urn, grid.data(), lower.data(), upper.data(), length(grid));
  });
}

}  // namespace

void bind_urn(nb::module_& module) {
  module.def("urn_quantiles", &quantiles, "n"_a, "m"_a, "c"_a.noconvert(), "level"_a, "upper"_a);
  module.def("urn_crossing", &crossing, "n"_a, "m"_a, "grid"_a.noconvert(), "lower"_a.noconvert(),
             "upper"_a.noconvert());
}

}  // namespace toprank
