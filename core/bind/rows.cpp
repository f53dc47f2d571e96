#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bind/matrix.hpp"
#include "bind/module.hpp"
#include "bind/sides.hpp"
#include "rows/highest.hpp"
#include "rows/row_pass.hpp"
#include "rows/score_span.hpp"
#include "rows/thin.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

template <class A>
using Scores = ArrayArgument<const A, nb::ndim<1>, nb::c_contig>;
template <class A>
using NewScores = nb::ndarray<nb::numpy, A, nb::ndim<1>>;

nb::tuple values(const RowSums& s) {
  return nb::make_tuple(s.value, s.slope, s.curvature, s.shift, s.bound, s.moment, s.shift_moment,
                        s.size, s.size_moment, s.pull_size, s.shift_size, s.squares, s.depth);
}

// What a pass is asked to keep, in the arithmetic it is made in.
template <class A>
class Kept {
 public:
  Kept(bool asked, std::int64_t n) : asked_(asked), size_(static_cast<std::size_t>(n)) {
    if (asked) values_ = allocate<A>(n, owner_);
  }
  A* values() { return values_; }
  nb::object array() const {
    return asked_ ? nb::cast(NewScores<A>(values_, {size_}, owner_)) : nb::object(nb::none());
  }

 private:
  bool asked_;
  std::size_t size_;
  nb::capsule owner_;
  A* values_ = nullptr;
};

template <class A>
nb::tuple pass(const Matrix& x, const RowAsk& ask, bool shifted, bool scores, bool squares) {
  const auto d = x.n_cols(), n = x.n_rows();
  Kept<double> pull(true, d), other(shifted, d);
  Kept<A> kept(scores, n), lengths(squares, n);
  RowAnswer<A> answer{{}, pull.values(), other.values(), kept.values(), lengths.values()};
  interruptible([&] {
    x.with_view({}, [&](const auto& view, Subset) {
      if constexpr (!requires { view.indptr; }) row_pass(view, ask, answer);
      else if constexpr (std::is_same_v<A, double>) row_pass(view, ask, answer);
    });
  });
  return nb::make_tuple(values(answer.sums), pull.array(), other.array(), kept.array(),
                        lengths.array());
}

nb::tuple row_sums(const Matrix& x, Doubles tilt, const Side& positives, const Side& negatives,
                   Doubles w, double b, bool shifted, bool scores, bool squares, bool single,
                   std::optional<double> per_length, int n_threads) {
  require(length(w) == x.n_cols() && length(w) > 0, "w has one entry a column");
  require(length(tilt) == x.n_rows(), "one weight a row");
  require(!single || !per_length, "bounds are computed in double");
  const RowAsk ask{w.data(),
                   b,
                   tilt.data(),
                   loss_of(positives, negatives),
                   per_length.has_value(),
                   per_length.value_or(0.0),
                   n_threads};
  bool sparse = false;
  x.with_view({}, [&](const auto& view, Subset) { sparse = requires { view.indptr; }; });
  if (single && !sparse) return pass<float>(x, ask, shifted, scores, squares);
  return pass<double>(x, ask, shifted, scores, squares);
}

template <class A>
nb::tuple slopes(Scores<A> z, Doubles tilt, const Side& positives, const Side& negatives,
                 int n_threads) {
  require(length(z) == length(tilt), "one weight a row");
  const auto n = length(z);
  Kept<A> slope(true, n), curvature(true, n);
  RowSums sums;
  const RowLoss loss = loss_of(positives, negatives);
  interruptible([&] {
    sums = row_terms<A>(z.data(), n, tilt.data(), loss, slope.values(), curvature.values(),
                        n_threads);
  });
  return nb::make_tuple(values(sums), slope.array(), curvature.array());
}

template <class A>
nb::tuple step_along(Scores<A> z, Scores<A> dz, double step, Doubles tilt, const Side& positives,
                     const Side& negatives, int n_threads) {
  require(length(z) == length(tilt) && length(z) == length(dz), "one weight and one step a row");
  const RowLoss loss = loss_of(positives, negatives);
  Along<A> found;
  interruptible([&] {
    found = along<A>(z.data(), dz.data(), length(z), step, tilt.data(), loss, n_threads);
  });
  return nb::make_tuple(found.value, found.slope, found.curvature);
}

template <class A>
nb::tuple thinned(Scores<A> z, std::optional<Scores<A>> squares, double typical, Doubles tilt,
                  const Side& positives, const Side& negatives, double wanted,
                  std::uint64_t seed, int n_threads) {
  require(length(z) == length(tilt), "one weight a row");
  require(!squares || length(*squares) == length(z), "one length a row");
  require(typical > 0, "a typical row has a length");
  const RowLoss loss = loss_of(positives, negatives);
  Thinned kept;
  interruptible([&] {
    kept = thin<A>(z.data(), squares ? squares->data() : nullptr, typical, length(z), tilt.data(),
                   loss, wanted, seed, n_threads);
  });
  return nb::make_tuple(copy(kept.rows), copy(kept.curvature));
}

// The best point in the span of a few whose scores are known: its coefficients, b and value.
template <class A>
nb::tuple span(std::vector<Scores<A>> scores, DoubleMatrix ridge, Doubles c, double b, Doubles tilt,
               const Side& positives, const Side& negatives, bool free_bias, double enough,
               std::int64_t stride, std::optional<Doubles> slope, int n_threads) {
  const auto k = static_cast<std::int64_t>(scores.size());
  require(k > 0 && k <= kMostSpan, "some points, but few");
  require(length(c) == k && length(ridge) == k && static_cast<std::int64_t>(ridge.shape(1)) == k,
          "one coefficient a point");
  SpanAsk<A> ask{{}, length(tilt), tilt.data(), loss_of(positives, negatives), ridge.data(),
                 free_bias, enough, n_threads, stride};
  require(stride == 1 || (stride > 1 && slope), "some rows alone need the slope of all");
  require(!slope || length(*slope) == k + free_bias, "one slope a point, and b's");
  if (slope) ask.slope = slope->data();
  for (const auto& one : scores) {
    require(length(one) == ask.n_rows && ask.n_rows > 0, "one score a row");
    ask.scores.push_back(one.data());
  }
  std::vector<double> found(c.data(), c.data() + k);
  double value = 0;
  interruptible([&] { value = span_minimum(ask, found.data(), b); });
  return nb::make_tuple(copy(found), b, value);
}

// The highest negatives, and the score of the first of them.
template <class A>
nb::tuple highest_rows(Scores<A> z, Doubles tilt, std::int64_t count) {
  require(length(z) == length(tilt), "one weight a row");
  std::vector<std::int64_t> rows;
  interruptible([&] { rows = highest<A>(z.data(), tilt.data(), length(z), count); });
  double top = -std::numeric_limits<double>::infinity();
  for (const auto row : rows) top = std::max(top, static_cast<double>(z.data()[row]));
  return nb::make_tuple(copy(rows), top);
}

template <class A>
void bind_scores(nb::module_& module) {
  module.def("highest_rows", &highest_rows<A>, "z"_a.noconvert(), "tilt"_a.noconvert(),
             "count"_a);
  module.def("span_minimum", &span<A>, "scores"_a.noconvert(), "ridge"_a.noconvert(),
             "c"_a.noconvert(), "b"_a, "tilt"_a.noconvert(), "positives"_a, "negatives"_a,
             "free_bias"_a, "enough"_a, "stride"_a, "slope"_a.noconvert().none(), "n_threads"_a);
  module.def("row_terms", &slopes<A>, "z"_a.noconvert(), "tilt"_a.noconvert(), "positives"_a,
             "negatives"_a, "n_threads"_a);
  module.def("row_losses_along", &step_along<A>, "z"_a.noconvert(), "dz"_a.noconvert(), "step"_a,
             "tilt"_a.noconvert(), "positives"_a, "negatives"_a, "n_threads"_a);
  module.def("thin_rows", &thinned<A>, "z"_a.noconvert(), "squares"_a.noconvert().none(),
             "typical"_a, "tilt"_a.noconvert(), "positives"_a, "negatives"_a, "wanted"_a,
             "seed"_a, "n_threads"_a);
}

}  // namespace

void bind_rows(nb::module_& module) {
  module.def("row_sums", &row_sums, "x"_a, "tilt"_a.noconvert(), "positives"_a, "negatives"_a,
             "w"_a.noconvert(), "b"_a, "shifted"_a, "scores"_a, "squares"_a, "single"_a,
             "per_length"_a.none(), "n_threads"_a);
  module.def(
      "row_sides",
      [](Doubles tilt) {
        const auto found = sides(tilt.data(), length(tilt));
        return nb::make_tuple(found.n_pos, found.n_neg, found.of_pos, found.of_neg);
      },
      "tilt"_a.noconvert());
  module.def(
      "rows_of_places",
      [](Doubles tilt, Indices of_pos, Indices of_neg) {
        for (const auto& places : {of_pos, of_neg}) {
          const auto* first = places.data();
          require(places.size() == 0 || first[0] >= 0, "places are not negative");
          require(std::is_sorted(first, first + places.size()), "places increase");
        }
        return copy(rows_of_places(tilt.data(), length(tilt), {of_pos.data(), of_pos.size()},
                                   {of_neg.data(), of_neg.size()}));
      },
      "tilt"_a.noconvert(), "of_pos"_a.noconvert(), "of_neg"_a.noconvert());
  bind_scores<float>(module);
  bind_scores<double>(module);
}

}  // namespace toprank
