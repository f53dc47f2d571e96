#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "sampling/pair_sampler.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

using NewIndices = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;

template <class Value>
Value named(const std::map<std::string, Value>& values, const std::string& name) {
  const auto found = values.find(name);
  require(found != values.end(), "unknown strategy or method");
  return found->second;
}

Strategy strategy_of(const std::string& name) {
  return named<Strategy>({{"random", Strategy::random},
                          {"soft-close", Strategy::soft_close},
                          {"soft-correct", Strategy::soft_correct},
                          {"hard-close", Strategy::hard_close},
                          {"hard-correct", Strategy::hard_correct}},
                         name);
}

Method method_of(const std::string& name) {
  return named<Method>({{"auto", Method::automatic},
                        {"lazy", Method::lazy},
                        {"envelope", Method::envelope},
                        {"enumeration", Method::enumeration}},
                       name);
}

// PairSampler with the arrays it reads, which must outlive it.
struct BoundSampler {
  Matrix matrix;
  Indices positives, negatives;
  std::unique_ptr<PairSampler> core;

  BoundSampler(const Matrix& x, Indices pos, Indices neg, double gamma, std::uint64_t seed)
      : matrix(x), positives(pos), negatives(neg) {
    require(length(pos) > 0 && length(neg) > 0, "both classes need a row");
    require(length(pos) < (1LL << 31) && length(neg) < (1LL << 31), "a class is too large");
    require(gamma >= 0 && gamma <= 1, "gamma is a share, in [0, 1]");
    for (const auto* rows : {&positives, &negatives})
      for (std::int64_t k = 0; k < length(*rows); ++k)
        if (rows->data()[k] < 0 || rows->data()[k] >= matrix.n_rows())
          throw nb::index_error("row out of range");
    auto reader = matrix.with_rows([](const auto& rows) { return make_row_reader(rows); });
    core = std::make_unique<PairSampler>(std::move(reader), pos.data(), length(pos), neg.data(),
                                         length(neg), gamma, seed);
  }

  NewIndices rows_of(const std::vector<Pair>& pairs, bool of_positives) const {
    return new_vector<std::int64_t>(
        static_cast<std::int64_t>(pairs.size()), [&](std::int64_t* out) {
          const auto* rows = (of_positives ? positives : negatives).data();
          for (const auto& pair : pairs) {
            const auto place = of_positives ? pair.i : pair.j;
            *out++ = place == kNoRow ? kNoRow : rows[place];
          }
        });
  }

  // (positive rows, negative rows, p, mean acceptance, pairs looked at)
  std::tuple<NewIndices, NewIndices, Vector, double, std::int64_t> draw(
      Doubles w, std::int64_t count, const std::string& strategy, const std::string& method,
      int n_threads) {
    check(w);
    require(count >= 0, "count is not negative");
    const auto how = strategy_of(strategy);
    const auto by = method_of(method);
    const auto round = interruptible([&] { return core->draw(w.data(), count, how, by, n_threads); });
    return {rows_of(round.pairs, true), rows_of(round.pairs, false), copy(round.p),
            round.acceptance, round.proposals};
  }

  Vector envelope_rows(Doubles w, const std::string& strategy, int n_threads) {
    check(w);
    const auto how = strategy_of(strategy);
    return copy(interruptible([&] { return core->envelope_rows(w.data(), how, n_threads); }));
  }

 private:
  void check(Doubles w) const {
    require(length(w) == matrix.n_cols(), "w has one entry a column");
  }
};

}  // namespace

void bind_sampling(nb::module_& module) {
  nb::class_<BoundSampler>(module, "PairSampler")
      .def(nb::init<const Matrix&, Indices, Indices, double, std::uint64_t>(), "matrix"_a,
           "positives"_a.noconvert(), "negatives"_a.noconvert(), "gamma"_a, "seed"_a)
      .def("draw", &BoundSampler::draw, "w"_a.noconvert(), "count"_a, "strategy"_a,
           "method"_a = "auto", "n_threads"_a = 1)
      .def("envelope_rows", &BoundSampler::envelope_rows, "w"_a.noconvert(), "strategy"_a,
           "n_threads"_a = 1)
      .def_prop_ro("n_chosen", [](const BoundSampler& s) { return s.core->pool().n_chosen(); })
      .def_prop_ro("n_pairs", [](const BoundSampler& s) { return s.core->pool().size(); });
}

}  // namespace toprank
