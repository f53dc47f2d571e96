#include "rows/score_span.hpp"

#include <algorithm>
#include <cmath>

#include "matrix/products.hpp"
#include "support/small_system.hpp"

namespace toprank {
namespace {

constexpr int kDims = kMostSpan + 1;  // the points, and b
constexpr int kNewtonSteps = 30, kHalvings = 30;
// Points of a path are almost multiples of each other: what is added to the diagonal, as a share.
template <class A>
inline constexpr double kLift = std::is_same_v<A, float> ? 1e-7 : 1e-11;

struct SpanSums {
  double value = 0, slope[kDims] = {}, bend[kDims][kDims] = {};

  void add(const SpanSums& other) {
    value += other.value;
    for (int k = 0; k < kDims; ++k) {
      slope[k] += other.slope[k];
      for (int l = 0; l <= k; ++l) bend[k][l] += other.bend[k][l];
    }
  }
};

template <class A>
class Span {
 public:
  explicit Span(const SpanAsk<A>& ask)
      : ask_(ask),
        points_(static_cast<int>(ask.scores.size())),
        dims_(points_ + (ask.free_bias ? 1 : 0)),
        math_(row_math<A>(ask.loss)) {}

  int dims() const { return dims_; }

  // Makes slopes at x what they are of all rows.
  void correct(const double (&x)[kDims]) {
    if (ask_.stride == 1) return;
    const SpanSums known = at(x);
    std::copy_n(x, kDims, from_);
    for (int k = 0; k < dims_; ++k) {
      lacks_[k] = ask_.slope[k] - known.slope[k];
      for (int l = 0; l < points_ && k < points_; ++l)
        lacks_[k] += ask_.ridge[k * points_ + l] * x[l];
    }
  }

  // The objective at x, c and then b, and its slopes and curvatures.
  SpanSums at(const double (&x)[kDims]) const {
    const auto ranges = reduced_blocks(ask_.n_rows, ask_.n_rows, 8);
    std::vector<SpanSums> parts(static_cast<std::size_t>(ranges.count));
    std::vector<std::int64_t> seen(parts.size());
    parallel_for(ranges.count, useful_threads(kEntriesOfRowLoss * ask_.n_rows, ask_.n_threads), [&](std::int64_t k) {
      SpanSums& own = parts[static_cast<std::size_t>(k)];
      for (auto at = ranges.begin(k); at < ranges.end(k); at += ask_.stride * kMostRows) {
        const auto n = std::min(kMostRows, ranges.end(k) - at);
        seen[static_cast<std::size_t>(k)] += n;
        block(at, n, x, own);
      }
    });
    SpanSums all;
    std::int64_t n_seen = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) all.add(parts[k]), n_seen += seen[k];
    return with_ridge(all, x, static_cast<double>(ask_.n_rows) / static_cast<double>(n_seen));
  }

 private:
  void block(std::int64_t begin, std::int64_t n, const double (&x)[kDims], SpanSums& own) const {
    // All loops are as long as a block can be: what is beyond the rows counts for nothing.
    A s[kDims][kMostRows], z[kMostRows] = {}, slope[kMostRows], curvature[kMostRows],
        shift[kMostRows];
    for (int k = 0; k < points_; ++k) {
      std::fill(std::copy_n(ask_.scores[static_cast<std::size_t>(k)] + begin, n, s[k]),
                s[k] + kMostRows, A(0));
      const A c = static_cast<A>(x[k]);
      for (std::int64_t i = 0; i < kMostRows; ++i) z[i] += c * s[k][i];
    }
    if (ask_.free_bias) {
      std::fill_n(s[points_], kMostRows, A(1));
      const A b = static_cast<A>(x[points_]);
      for (std::int64_t i = 0; i < kMostRows; ++i) z[i] += b;
    }
    RowSums sums;
    math_(n, z, ask_.tilt + begin, ask_.loss, {slope, curvature, shift}, sums);
    own.value += sums.value;
    std::fill(slope + n, slope + kMostRows, A(0));
    std::fill(curvature + n, curvature + kMostRows, A(0));
    for (int k = 0; k < dims_; ++k) {
      own.slope[k] += static_cast<double>(product(slope, s[k]));
      A turned[kMostRows];
      for (std::int64_t i = 0; i < kMostRows; ++i) turned[i] = curvature[i] * s[k][i];
      for (int l = 0; l <= k; ++l) own.bend[k][l] += static_cast<double>(product(turned, s[l]));
    }
  }

  static A product(const A (&u)[kMostRows], const A (&v)[kMostRows]) {
    A sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < kMostRows; ++i) sum += u[i] * v[i];
    return sum;
  }

  SpanSums with_ridge(SpanSums sums, const double (&x)[kDims], double scale) const {
    sums.value *= scale;
    for (int k = 0; k < dims_; ++k) {
      sums.slope[k] = sums.slope[k] * scale + lacks_[k];
      sums.value += lacks_[k] * (x[k] - from_[k]);
      for (int l = 0; l <= k; ++l) sums.bend[k][l] *= scale;
    }
    for (int k = 0; k < points_; ++k) {
      double pull = 0;
      for (int l = 0; l < points_; ++l) {
        const double g = ask_.ridge[k * points_ + l];
        pull += g * x[l];
        if (l <= k) sums.bend[k][l] += g;
      }
      sums.value += 0.5 * x[k] * pull;
      sums.slope[k] += pull;
    }
    for (int k = 0; k < dims_; ++k)
      for (int l = 0; l < k; ++l) sums.bend[l][k] = sums.bend[k][l];
    return sums;
  }

  const SpanAsk<A>& ask_;
  int points_, dims_;
  RowMath<A> math_;
  double from_[kDims] = {}, lacks_[kDims] = {};  // what is added to slopes, and from where
};

// Newton's method; steps that do not descend are halved.
template <class A>
double descend(const Span<A>& span, double enough, double (&x)[kDims]) {
  SpanSums here = span.at(x);
  for (int k = 0; k < kNewtonSteps && std::isfinite(here.value); ++k) {
    double by[kDims], next[kDims];
    if (!solve_small<kDims>(span.dims(), here.bend, here.slope, by, kLift<A>)) break;
    double gain = 0;
    for (int j = 0; j < span.dims(); ++j) gain -= here.slope[j] * by[j];
    if (!(gain > enough * std::abs(here.value))) break;
    bool moved = false;
    double theta = 1;
    for (int halving = 0; halving < kHalvings && !moved; ++halving, theta *= 0.5) {
      std::copy_n(x, kDims, next);
      for (int j = 0; j < span.dims(); ++j) next[j] += theta * by[j];
      const SpanSums there = span.at(next);
      moved = there.value < here.value;
      if (moved) here = there;
    }
    if (!moved) break;
    std::copy_n(next, kDims, x);
  }
  return here.value;
}

}  // namespace

template <class A>
double span_minimum(const SpanAsk<A>& ask, double* c, double& b) {
  Span<A> span(ask);
  const auto points = ask.scores.size();
  double x[kDims] = {};
  std::copy_n(c, points, x);
  if (ask.free_bias) x[points] = b;
  span.correct(x);
  const double value = descend(span, ask.enough, x);
  std::copy_n(x, points, c);
  if (ask.free_bias) b = x[points];
  return value;
}

template double span_minimum(const SpanAsk<float>&, double*, double&);
template double span_minimum(const SpanAsk<double>&, double*, double&);

}  // namespace toprank
