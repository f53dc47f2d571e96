#include "trees/trees.hpp"

#include <span>

#include "bind/matrix.hpp"
#include "bind/module.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

template <class T>
using Array = ArrayArgument<const T, nb::ndim<1>, nb::c_contig>;

template <class T>
std::span<const T> span_of(const Array<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.shape(0))};
}

void check_width(const Trees& self, const Matrix& x) {
  require(x.n_cols() == self.n_features(), "one column a feature");
}

}  // namespace

void bind_trees(nb::module_& module) {
  nb::class_<Trees>(module, "Trees")
      .def("__init__",
           [](Trees* self, Array<std::int32_t> feature, Doubles threshold,
              Array<std::int32_t> left, Array<std::int32_t> right, Array<bool> missing_left,
              Array<bool> zero_missing, Array<std::int32_t> category_set, Doubles value,
              Doubles weight, Indices tree_starts, Indices category_starts, Doubles categories,
              Indices set_starts, Array<std::uint32_t> set_words, std::int64_t n_features,
              double offset, bool average, bool round_to_float32, bool truncate_categories) {
             const TreeArrays arrays{
                 span_of(feature),      span_of(threshold),       span_of(left),
                 span_of(right),        span_of(missing_left),    span_of(zero_missing),
                 span_of(category_set), span_of(value),           span_of(weight),
                 span_of(tree_starts),  span_of(category_starts), span_of(categories),
                 span_of(set_starts),   span_of(set_words)};
             const TreeOptions options{n_features, offset, average, round_to_float32,
                                       truncate_categories};
             nb::gil_scoped_release release;
             new (self) Trees(arrays, options);
           },
           "feature"_a.noconvert(), "threshold"_a.noconvert(), "left"_a.noconvert(),
           "right"_a.noconvert(), "missing_left"_a.noconvert(), "zero_missing"_a.noconvert(),
           "category_set"_a.noconvert(), "value"_a.noconvert(), "weight"_a.noconvert(),
           "tree_starts"_a.noconvert(), "category_starts"_a.noconvert(),
           "categories"_a.noconvert(), "set_starts"_a.noconvert(), "set_words"_a.noconvert(),
           "n_features"_a, "offset"_a, "average"_a, "round_to_float32"_a,
           "truncate_categories"_a)
      .def("scores",
           [](const Trees& self, const Matrix& x, Indices numbers, int n_threads) {
             check_width(self, x);
             std::int64_t last = 0;
             for (const auto number : span_of(numbers)) {
               require(number > last && number <= self.n_trees(),
                       "numbers of trees increase up to n_trees");
               last = number;
             }
             const auto rows = x.n_rows(), lines = length(numbers);
             nb::capsule owner;
             double* out = allocate<double>(rows * lines, owner);
             x.with_dense([&](const auto& view) {
               interruptible([&] { self.scores(view, span_of(numbers), out, n_threads); });
             });
             return Square(out, {static_cast<std::size_t>(lines), static_cast<std::size_t>(rows)},
                           owner);
           },
           "x"_a, "numbers"_a.noconvert(), "n_threads"_a)
      .def("contributions",
           [](const Trees& self, const Matrix& x, int n_threads) {
             check_width(self, x);
             const auto rows = x.n_rows(), columns = x.n_cols();
             nb::capsule owner;
             double* out = allocate<double>(rows * columns, owner);
             x.with_dense([&](const auto& view) {
               interruptible([&] { self.contributions(view, out, n_threads); });
             });
             return Square(out,
                           {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)},
                           owner);
           },
           "x"_a, "n_threads"_a)
      .def_prop_ro("baseline", &Trees::baseline)
      .def_prop_ro("n_trees", &Trees::n_trees);
}

}  // namespace toprank
