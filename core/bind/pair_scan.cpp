#include <tuple>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "bind/pair_classes.hpp"
#include "pairs/pair_scan.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

using Sums = std::tuple<double, double, double, double>;

Sums as_tuple(const PairSums& sums) { return {sums.value, sums.hinge, sums.total, sums.bend}; }

// Every step-th row of a class from its worst on, and how bad each is.
auto side_of(const PairScan::Side& side, std::int64_t step) {
  require(step > 0, "the step is positive");
  const auto size = static_cast<std::int64_t>(side.size()), offset = step / 2 % size;
  const auto count = (size - offset + step - 1) / step;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  auto bad = new_vector(count, [&](double* out) {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto place = static_cast<std::uint32_t>(size - 1 - (offset + k * step));
      rows[static_cast<std::size_t>(k)] = side.row(place);
      out[k] = side.bad[place];
    }
  });
  return std::pair{copy(rows), bad};
}

// The pairs on the bend: rows of one class, the best first, the window of each in the other class,
// and that class from its worst on.
auto windows_of(const PairScan::Side& rows, const PairScan::Side& others) {
  require(rows.first.size() == rows.rows.size(), "the slope comes first");
  std::vector<std::int64_t> reversed(others.sorted_rows.rbegin(), others.sorted_rows.rend());
  std::vector<std::int64_t> sorted(rows.sorted_rows.begin(), rows.sorted_rows.end());
  std::vector<std::int64_t> first(rows.first.begin(), rows.first.end());
  std::vector<std::int64_t> last(rows.last.begin(), rows.last.end());
  return std::tuple{copy(sorted), copy(first), copy(last), copy(reversed)};
}

}  // namespace

void bind_pair_scan(nb::module_& module) {
  nb::class_<PairScan>(module, "PairScan")
      .def("__init__",
           [](PairScan* self, std::int64_t n_rows, Indices positives, std::optional<Doubles> p,
              Indices negatives, std::optional<Doubles> q) {
             check_classes(n_rows, positives, negatives);
             new (self) PairScan(n_rows, positives.data(), check_weights(p, positives),
                                 length(positives), negatives.data(), check_weights(q, negatives),
                                 length(negatives));
           },
           "n_rows"_a, "positives"_a.noconvert(), "p"_a.noconvert().none(),
           "negatives"_a.noconvert(), "q"_a.noconvert().none())
      .def("sort",
           [](PairScan& self, Doubles scores) {
             require(length(scores) == self.n_rows(), "one score a row");
             nb::gil_scoped_release release;
             self.sort(scores.data());
           },
           "scores"_a.noconvert())
      .def("value",
           [](PairScan& self, double width) {
             nb::gil_scoped_release release;
             return as_tuple(self.value(width));
           },
           "width"_a)
      .def("slope",
           [](PairScan& self, double width) {
             PairSums sums;
             auto v = new_vector(self.n_rows(),
                                 [&](double* out) { sums = self.slope(width, out); });
             return std::pair{v, as_tuple(sums)};
           },
           "width"_a)
      .def("balance",
           [](PairScan& self, double width, double total) {
             require(width > 0 && total > 0, "the width and the total are positive");
             nb::gil_scoped_release release;
             const auto sums = self.balance(width, total);
             return std::tuple{self.reach(), sums.value, sums.total, sums.bent};
           },
           "width"_a, "total"_a)
      .def_prop_rw("reach", &PairScan::reach, &PairScan::set_reach)
      .def("quantile",
           [](const PairScan& self, double share, bool strictly) {
             nb::gil_scoped_release release;
             return self.quantile(share, strictly);
           },
           "share"_a, "strictly"_a = false)
      .def("marginals",
           [](const PairScan& self, double level) {
             const auto n = static_cast<std::size_t>(self.n_rows());
             std::vector<double> below(n), at(n);
             {
               nb::gil_scoped_release release;
               self.marginals(level, below.data(), at.data());
             }
             return std::pair{copy(below), copy(at)};
           },
           "level"_a)
      .def("list",
           [](const PairScan& self, double low, double high, std::int64_t most) {
             ListedPairs pairs;
             const auto count =
                 interruptible([&] { return self.list(low, high, most, pairs); });
             return std::tuple{count, copy(pairs.positives), copy(pairs.negatives),
                               copy(pairs.weights), copy(pairs.margins)};
           },
           "low"_a, "high"_a, "most"_a)
      .def("windows",
           [](const PairScan& self, bool of_positives) {
             return of_positives ? windows_of(self.positives(), self.negatives())
                                 : windows_of(self.negatives(), self.positives());
           },
           "of_positives"_a = true)
      .def("curvature",
           [](PairScan& self, Doubles r) {
             require(length(r) == self.n_rows(), "one entry a row");
             require(self.positives().first.size() == self.positives().rows.size(),
                     "the slope comes first");
             return new_vector(self.n_rows(),
                               [&](double* out) { self.curvature(r.data(), out); });
           },
           "r"_a.noconvert())
      .def("bent_rows",
           [](const PairScan& self) {
             std::vector<std::int64_t> rows;
             for (const auto* side : {&self.positives(), &self.negatives()})
               for (std::uint32_t k = 0; k < side->first.size(); ++k)
                 if (side->first[k] < side->last[k]) rows.push_back(side->row(k));
             std::sort(rows.begin(), rows.end());
             return copy(rows);
           },
           nb::rv_policy::move)
      .def("positives", [](const PairScan& self, std::int64_t step) {
        return side_of(self.positives(), step);
      }, "step"_a)
      .def("negatives", [](const PairScan& self, std::int64_t step) {
        return side_of(self.negatives(), step);
      }, "step"_a);
}

}  // namespace toprank
