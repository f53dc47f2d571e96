#include <string>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "online/moment_descent.hpp"
#include "online/oam.hpp"
#include "online/spam.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

std::vector<double> vector_of(const Doubles& values, std::int64_t size, const char* message) {
  require(length(values) == size, message);
  return {values.data(), values.data() + size};
}

Reading checked_reading(const Matrix& x, std::int64_t n_weights, const Indices& rows,
                        const Doubles& signs, const Doubles& weights) {
  const auto n = x.n_rows();
  require(x.n_cols() == n_weights && n_weights > 0, "w has one entry a column");
  require(length(signs) == n && length(weights) == n, "one sign and one weight a row");
  for (std::int64_t k = 0; k < length(rows); ++k) {
    const auto i = rows.data()[k];
    if (i < 0 || i >= n) throw nb::index_error("row out of range");
    require(weights.data()[i] > 0.0, "a row that is read has a weight above zero");
  }
  return {rows.data(), length(rows), signs.data(), weights.data()};
}

// Runs a kernel over checked rows.
template <class Core, class... More>
std::int64_t run_over(Core& self, std::int64_t n_weights, const Matrix& x, const Indices& rows,
                      const Doubles& signs, const Doubles& weights, More... more) {
  const auto reading = checked_reading(x, n_weights, rows, signs, weights);
  return x.with_rows([&](const auto& view) {
    return interruptible([&] { return self.run(view, reading, more...); });
  });
}

std::int64_t size_of(const std::vector<double>& values) {
  return static_cast<std::int64_t>(values.size());
}

template <class Core>
std::int64_t run_plainly(Core& self, const Matrix& x, Indices rows, Doubles signs,
                         Doubles weights) {
  return run_over(self, size_of(self.weights()), x, rows, signs, weights);
}

// Two classes in one array, the negatives first.
std::vector<double> joined(const std::vector<double>& below, const std::vector<double>& above) {
  std::vector<double> both(below);
  both.insert(both.end(), above.begin(), above.end());
  return both;
}

void bind_spam(nb::module_& module) {
  nb::class_<ProximalDescent>(module, "ProximalDescent")
      .def("__init__",
           [](ProximalDescent* self, Doubles w, std::int64_t steps, double eta, double cap,
              double beta, double share) {
             require(steps >= 0, "steps is a count");
             require(eta > 0 && cap > 0 && beta >= 0, "steps and beta are above zero");
             require(share > 0 && share < 1, "share is between zero and one");
             new (self) ProximalDescent(w.data(), length(w), steps, {eta, cap, beta, share});
           },
           "w"_a.noconvert(), "steps"_a, "eta"_a, "cap"_a, "beta"_a, "share"_a)
      .def("run",
           [](ProximalDescent& self, const Matrix& x, Indices rows, Doubles signs, Doubles weights,
              double above, double below, Doubles above_rows, Doubles below_rows) {
             require(length(above_rows) == x.n_rows() && length(below_rows) == x.n_rows(),
                     "the scores of the means are one a row");
             return run_over(self, size_of(self.total()), x, rows, signs, weights,
                             MeanScores{above, below}, above_rows.data(), below_rows.data());
           },
           "x"_a, "rows"_a.noconvert(), "signs"_a.noconvert(), "weights"_a.noconvert(), "above"_a,
           "below"_a, "above_rows"_a.noconvert(), "below_rows"_a.noconvert())
      .def_prop_ro(
          "w", [](const ProximalDescent& self) { return copy(self.weights()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "total", [](const ProximalDescent& self) { return copy(self.total()); },
          nb::rv_policy::move);
}

void bind_moment_descent(nb::module_& module) {
  using Core = MomentDescent;
  nb::class_<Core>(module, "MomentDescent")
      .def("__init__",
           [](Core* self, double alpha, double eta, bool adaptive, Doubles w, Doubles squares,
              Doubles sizes, Doubles weight, Doubles mean, Doubles scatter) {
             require(alpha > 0, "alpha is above zero");
             require(eta > 0 || (eta == 0 && !adaptive), "eta is above zero");
             const auto n = length(w), half = n * (n + 1) / 2;
             require(length(weight) == 2 && length(sizes) == 2, "one weight a class, two sizes");
             require(length(mean) == 2 * n, "one mean a class");
             require(length(scatter) == 2 * half, "one triangle a class");
             ClassMoments classes[2];
             for (int c = 0; c < 2; ++c) {
               const double *m = mean.data() + c * n, *s = scatter.data() + c * half;
               classes[c] = {weight.data()[c], {m, m + n}, {s, s + half}};
             }
             new (self) Core({alpha, eta, adaptive}, vector_of(w, n, ""),
                             vector_of(squares, n, "squares has one entry a column"),
                             {sizes.data()[0], sizes.data()[1]},
                             std::move(classes[0]), std::move(classes[1]));
           },
           "alpha"_a, "eta"_a, "adaptive"_a, "w"_a.noconvert(), "squares"_a.noconvert(),
           "sizes"_a.noconvert(), "weight"_a.noconvert(), "mean"_a.noconvert(), "scatter"_a.noconvert())
      .def("run", &run_plainly<Core>, "x"_a, "rows"_a.noconvert(), "signs"_a.noconvert(),
           "weights"_a.noconvert())
      .def_prop_ro("w", [](const Core& self) { return copy(self.weights()); }, nb::rv_policy::move)
      .def_prop_ro(
          "squares", [](const Core& self) { return copy(self.squares()); }, nb::rv_policy::move)
      .def_prop_ro(
          "sizes",
          [](const Core& self) {
            return copy(std::vector<double>{self.sizes().longest, self.sizes().heaviest});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "weight",
          [](const Core& self) {
            return copy(std::vector<double>{self.moments(0).weight, self.moments(1).weight});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "mean",
          [](const Core& self) { return copy(joined(self.moments(0).mean, self.moments(1).mean)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "scatter",
          [](const Core& self) {
            return copy(joined(self.moments(0).scatter, self.moments(1).scatter));
          },
          nb::rv_policy::move);
}

// The rows kept of both classes, the negatives first, as one CSR matrix.
Buffer made_buffer(const Indices& n_read, const Doubles& weight, const Doubles& row_weights,
                   const Doubles& data, const Indices& indices, const Indices& indptr,
                   std::int64_t first, std::int64_t last, int positive) {
  Buffer made;
  made.n_read = n_read.data()[positive];
  made.weight = weight.data()[positive];
  for (auto k = first; k < last; ++k) {
    const auto begin = indptr.data()[k], end = indptr.data()[k + 1];
    auto& row = made.rows.emplace_back();
    row.data.assign(data.data() + begin, data.data() + end);
    row.indices.assign(indices.data() + begin, indices.data() + end);
    for (const double value : row.data) row.squared_norm += value * value;
    row.weight = row_weights.data()[k];
  }
  return made;
}

template <class T, class Read>
auto gathered(const BufferedDescent& self, Read&& read) {
  std::vector<T> all;
  for (int c = 0; c < 2; ++c)
    for (const auto& row : self.buffer(c).rows) read(row, all);
  return copy(all);
}

void bind_oam(nb::module_& module) {
  using Core = BufferedDescent;
  nb::class_<Core>(module, "BufferedDescent")
      .def("__init__",
           [](Core* self, double C, std::int64_t capacity, bool sequential, std::uint64_t seed,
              Doubles w, Indices n_read, Doubles weight, Doubles row_weights, Doubles data,
              Indices indices, Indices indptr) {
             require(C > 0, "C is above zero");
             require(capacity > 0, "capacity is above zero");
             require(length(n_read) == 2 && length(weight) == 2, "one count and weight a class");
             const auto *read = n_read.data(), *ends = indptr.data();
             require(read[0] >= 0 && read[1] >= 0, "counts are not below zero");
             const auto below = std::min(read[0], capacity), kept = below + std::min(read[1], capacity);
             require(length(row_weights) == kept && length(indptr) == kept + 1,
                     "the buffers hold the rows read, as far as they have room");
             require(length(data) == length(indices) && ends[0] == 0 && ends[kept] == length(data),
                     "data, indices and indptr go together");
             for (std::int64_t k = 0; k < kept; ++k) require(ends[k] <= ends[k + 1], "indptr increases");
             for (std::int64_t q = 0; q < length(indices); ++q)
               require(indices.data()[q] >= 0 && indices.data()[q] < length(w), "index out of range");
             auto buffer = [&](std::int64_t first, std::int64_t last, int positive) {
               return made_buffer(n_read, weight, row_weights, data, indices, indptr, first, last,
                                  positive);
             };
             new (self) Core({C, capacity, sequential}, seed, read[0] + read[1],
                             vector_of(w, length(w), ""), buffer(0, below, 0), buffer(below, kept, 1));
           },
           "C"_a, "capacity"_a, "sequential"_a, "seed"_a, "w"_a.noconvert(),
           "n_read"_a.noconvert(), "weight"_a.noconvert(), "row_weights"_a.noconvert(),
           "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert())
      .def("run", &run_plainly<Core>, "x"_a, "rows"_a.noconvert(), "signs"_a.noconvert(),
           "weights"_a.noconvert())
      .def_prop_ro("w", [](const Core& self) { return copy(self.weights()); }, nb::rv_policy::move)
      .def_prop_ro(
          "n_read",
          [](const Core& self) {
            return copy(std::vector<std::int64_t>{self.buffer(0).n_read, self.buffer(1).n_read});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "weight",
          [](const Core& self) {
            return copy(std::vector<double>{self.buffer(0).weight, self.buffer(1).weight});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "row_weights",
          [](const Core& self) {
            return gathered<double>(
                self, [](const KeptRow& row, auto& all) { all.push_back(row.weight); });
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "data",
          [](const Core& self) {
            return gathered<double>(self, [](const KeptRow& row, auto& all) {
              all.insert(all.end(), row.data.begin(), row.data.end());
            });
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "indices",
          [](const Core& self) {
            return gathered<std::int64_t>(self, [](const KeptRow& row, auto& all) {
              all.insert(all.end(), row.indices.begin(), row.indices.end());
            });
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "indptr",
          [](const Core& self) {
            std::vector<std::int64_t> ends{0};
            for (int c = 0; c < 2; ++c)
              for (const auto& row : self.buffer(c).rows)
                ends.push_back(ends.back() + static_cast<std::int64_t>(row.data.size()));
            return copy(ends);
          },
          nb::rv_policy::move);
}

}  // namespace

void bind_online(nb::module_& module) {
  bind_spam(module);
  bind_moment_descent(module);
  bind_oam(module);
}

}  // namespace toprank
