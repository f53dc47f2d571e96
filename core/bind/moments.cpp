#include <optional>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "matrix/moments.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

using GroupNumbers = ArrayArgument<const std::int32_t, nb::ndim<1>, nb::c_contig>;
using Cube = nb::ndarray<nb::numpy, double, nb::ndim<3>>;

// Runs `work(out)` on new arrays of weights, means, scatters and squares of `count` groups.
template <class Work>
nb::tuple new_moments(std::int64_t count, std::int64_t d, Work&& work) {
  nb::capsule weights, means, scatters, squares;
  const MomentsOut out{allocate(count, weights), allocate(count * d, means),
                       allocate(count * d * d, scatters), allocate(count * d, squares)};
  interruptible([&] { work(out); });
  const auto k = static_cast<std::size_t>(count), side = static_cast<std::size_t>(d);
  return nb::make_tuple(Vector(out.weight, {k}, weights), Square(out.mean, {k, side}, means),
                        Cube(out.scatter, {k, side, side}, scatters),
                        Square(out.square, {k, side}, squares));
}

const double* checked(const std::optional<Doubles>& weight, std::int64_t size) {
  if (!weight) return nullptr;
  require(length(*weight) == size, "one weight a row");
  for (std::int64_t k = 0; k < size; ++k)
    require(weight->data()[k] >= 0, "weights are not negative");
  return weight->data();
}

}  // namespace

void bind_moments(nb::module_& module) {
  module.def(
      "group_moments",
      [](const Matrix& x, GroupNumbers group, std::int64_t n_groups, std::optional<Doubles> weight,
         int n_threads) {
        require(length(group) == x.n_rows(), "one group a row");
        require(n_groups >= 1, "there is a group");
        for (std::int64_t k = 0; k < length(group); ++k)
          if (group.data()[k] < -1 || group.data()[k] >= n_groups)
            throw nb::index_error("group out of range");
        const Groups groups{group.data(), checked(weight, x.n_rows()), n_groups};
        return new_moments(n_groups, x.n_cols(), [&](const MomentsOut& out) {
          x.with_dense([&](const auto& dense) { group_moments(dense, groups, out, n_threads); });
        });
      },
      "x"_a, "group"_a.noconvert(), "n_groups"_a, "weight"_a.noconvert().none(), "n_threads"_a);
  module.def(
      "pair_moments",
      [](const Matrix& x, Indices first, Indices second, std::optional<Doubles> weight,
         int n_threads) {
        const auto n = x.n_rows(), size = length(first);
        require(length(second) == size, "a pair has two sides");
        for (std::int64_t k = 0; k < size; ++k) {
          const auto i = first.data()[k], j = second.data()[k];
          if (i < 0 || j < 0 || i >= n || j >= n) throw nb::index_error("row out of range");
        }
        const double* weights = checked(weight, size);
        return new_moments(1, x.n_cols(), [&](const MomentsOut& out) {
          x.with_dense([&](const auto& dense) {
            pair_moments(dense, first.data(), second.data(), size, weights, out, n_threads);
          });
        });
      },
      "x"_a, "first"_a.noconvert(), "second"_a.noconvert(), "weight"_a.noconvert().none(),
      "n_threads"_a);
  module.def("moment_depth", &moment_depth, "n_rows"_a, "n_cols"_a, "n_groups"_a);
}

}  // namespace toprank
