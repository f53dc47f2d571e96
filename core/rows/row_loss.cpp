// Written for the vector units: no calls, no branches. An exponential is a polynomial times a power
// of two, a logarithm a series; both are good to a few units in the last place.
#include "rows/row_loss.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "rows/lanes.hpp"

namespace toprank {
namespace {

template <class A>
struct Arithmetic;

template <>
struct Arithmetic<float> {
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float magic = 12582912.0F;  // 1.5 2^23: adding it rounds to a whole number
  static constexpr std::int32_t magic_bits = 0x4B400000;
  static constexpr float most = 87.0F;  // e^-87 is still a normal number
  static constexpr float ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
  static constexpr float exponential[] = {1.0F,      1.0F,       1.0F / 2,   1.0F / 6,
                                          1.0F / 24, 1.0F / 120, 1.0F / 720, 1.0F / 5040};
  static constexpr int terms = 5;  // of the logarithm
};

template <>
struct Arithmetic<double> {
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double magic = 6755399441055744.0;  // 1.5 2^52
  static constexpr std::int64_t magic_bits = 0x4338000000000000;
  static constexpr double most = 708.0;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double exponential[] = {
      1.0,           1.0,            1.0 / 2,         1.0 / 6,         1.0 / 24,
      1.0 / 120,     1.0 / 720,      1.0 / 5040,      1.0 / 40320,     1.0 / 362880,
      1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  static constexpr int terms = 10;
};

// sum_i c_i x^i, even powers and odd ones apart: neither waits for the other.
template <class A, int terms>
[[gnu::always_inline]] inline Lanes<A> polynomial(const A (&c)[terms], Lanes<A> x) {
  const Lanes<A> square = x * x;
  Lanes<A> sums[2] = {all(c[(terms - 1) / 2 * 2]), all(c[terms / 2 * 2 - 1])};
#pragma GCC unroll 32
  for (int i = terms - 3; i >= 0; --i) sums[i % 2] = sums[i % 2] * square + c[i];
  return sums[0] + x * sums[1];
}

// The coefficients of artanh(t) / t in t^2.
template <class A>
struct Artanh {
  A c[Arithmetic<A>::terms + 1];
  constexpr Artanh() : c{} {
    for (int i = 0; i <= Arithmetic<A>::terms; ++i) c[i] = A(1) / (2 * i + 1);
  }
};

// e^-x, x >= 0; beyond `most` it stays what it is there.
template <class A>
[[gnu::always_inline]] inline Lanes<A> exp_minus(Lanes<A> x) {
  using F = Arithmetic<A>;
  x = x < F::most ? x : all(F::most);
  const Lanes<A> shifted = x * A(-1.4426950408889634) + F::magic;
  const Lanes<A> k = shifted - F::magic;
  const Lanes<A> r = (-x - k * F::ln2_high) - k * F::ln2_low;
  const Lanes<A> sum = polynomial<A>(F::exponential, r);
  const BitLanes<A> whole = std::bit_cast<BitLanes<A>>(shifted) - F::magic_bits;
  const BitLanes<A> power = (whole + F::bias) << F::mantissa;
  return sum * std::bit_cast<Lanes<A>>(power);
}

// log(1 + e), 0 <= e <= 1: 2 artanh(t) with t = e / (2 + e), or log 2 more than that of (1 + e) / 2,
// where t = (e - 1) / (3 + e), so that |t| < 0.18.
template <class A>
[[gnu::always_inline]] inline Lanes<A> log_one_plus(Lanes<A> e) {
  static constexpr Artanh<A> series;
  const Lanes<A> none = {}, one = all(A(1));
  const auto large = e > A(0.41421356);
  const Lanes<A> by = large ? one : none;
  const Lanes<A> t = (e - by) / (2 + e + by);
  return by * A(0.6931471805599453) + 2 * t * polynomial<A>(series.c, t * t);
}

template <class A>
struct Bend {
  Lanes<A> value, slope, curvature;
};

// l, l' and l''.
template <class A, RowKind kind>
[[gnu::always_inline]] inline Bend<A> bend(Lanes<A> t) {
  const Lanes<A> none = {};
  if constexpr (kind == RowKind::squared_hinge) {
    const Lanes<A> x = 1 + t, part = x > 0 ? x : none;
    return {part * part, 2 * part, x > 0 ? all(A(2)) : none};
  } else if constexpr (kind == RowKind::linear) {
    return {t, all(A(1)), none};
  } else {
    const Lanes<A> e = exp_minus<A>(t < 0 ? -t : t);
    if constexpr (kind == RowKind::exponential) {
      const Lanes<A> large = 1 / e, value = t > 0 ? large : e;
      const Lanes<A> power =
          t > Arithmetic<A>::most ? all(std::numeric_limits<A>::infinity()) : value;
      return {power, power, power};
    } else {
      const Lanes<A> near = 1 / (1 + e), far = e * near, above = t > 0 ? t : none;
      return {above + log_one_plus<A>(e), t > 0 ? near : far, near * far};
    }
  }
}

// What a side has where z <= 0, and above.
template <class A>
struct Halves {
  Lanes<A> k[2], share[2], offset[2], least;

  explicit Halves(const RowSide& side)
      : k{all(A(side.low)), all(A(side.high))},
        share{all(A(1 / side.low)), all(A(1 / side.high))},
        offset{all(A(side.low_offset)), all(A(side.high_offset))},
        least(all(A(1 / std::min(side.low, side.high)))) {}
};

template <class A>
struct Totals {
  Lanes<A> value = {}, slope = {}, curvature = {}, shift = {}, bound = {};
};

template <class A, RowKind of_positives, RowKind of_negatives>
[[gnu::always_inline]] inline void some_rows(const A* z, const A* weight, const Halves<A>& up,
                                             const Halves<A>& down, A* slope, A* curvature,
                                             A* shift, Totals<A>& totals) {
  const Lanes<A> turned = load(weight), s = load(z), none = {};
  const auto positive = turned > 0, there = turned != 0;
  const Lanes<A> c = positive ? turned : -turned;
  const Lanes<A> score = there ? s : none, bad = positive ? -score : score;
  const auto high = bad > 0;
  auto half = [&](const Lanes<A>(&of_up)[2], const Lanes<A>(&of_down)[2],
                  Lanes<A>& out) __attribute__((always_inline)) {
    const Lanes<A> above = positive ? of_up[1] : of_down[1];
    const Lanes<A> below = positive ? of_up[0] : of_down[0];
    out = high ? above : below;
  };
  Lanes<A> k, share, offset;
  half(up.k, down.k, k);
  half(up.share, down.share, share);
  half(up.offset, down.offset, offset);
  const Lanes<A> least = positive ? up.least : down.least;
  const Lanes<A> t = k * bad;
  Bend<A> l = bend<A, of_negatives>(t);
  if constexpr (of_positives != of_negatives) {
    const Bend<A> other = bend<A, of_positives>(t);
    l.value = positive ? other.value : l.value;
    l.slope = positive ? other.slope : l.slope;
    l.curvature = positive ? other.curvature : l.curvature;
  }
  const Lanes<A> level = l.value * share + offset;
  const Lanes<A> value = there ? c * level : none;
  const Lanes<A> rate = there ? c * l.slope : none;
  const Lanes<A> bent = there ? c * k * l.curvature : none;
  Lanes<A> moved = bent, charge = bent * k * least;
  if constexpr (of_positives == RowKind::squared_hinge || of_negatives == RowKind::squared_hinge) {
    const Lanes<A> own = c * l.value * least;
    if constexpr (of_positives == of_negatives) {
      moved = rate;
      charge = own;
    } else {
      const auto kinked = of_positives == RowKind::squared_hinge ? positive : ~positive;
      moved = kinked ? rate : moved;
      charge = kinked ? own : charge;
    }
  }
  const Lanes<A> v = positive ? -rate : rate;
  store<A>(v, slope);
  store<A>(bent, curvature);
  store<A>(moved, shift);
  totals.value += value + (bad - bad);  // an infinite score is no number
  totals.slope += v;
  totals.curvature += bent;
  totals.shift += moved;
  totals.bound += charge;
}

template <class A, RowKind of_positives, RowKind of_negatives>
void math(std::int64_t n, const A* z, const double* tilt, const RowLoss& loss,
          const RowTerms<A>& out, RowSums& sums) {
  const Halves<A> up(loss.positives), down(loss.negatives);
  constexpr std::int64_t kWide = kLanes<A>;
  A weight[kMostRows + kWide];
  for (std::int64_t i = 0; i < n; ++i) weight[i] = static_cast<A>(tilt[i]);
  Totals<A> totals;
  std::int64_t i = 0;
  for (; i + kWide <= n; i += kWide)
    some_rows<A, of_positives, of_negatives>(z + i, weight + i, up, down, out.slope + i,
                                             out.curvature + i, out.shift + i, totals);
  if (i < n) {  // absent rows make up the last vector
    A last[4][kWide] = {};
    std::copy(z + i, z + n, last[0]);
    std::fill(weight + n, weight + i + kWide, A(0));
    some_rows<A, of_positives, of_negatives>(last[0], weight + i, up, down, last[1], last[2],
                                             last[3], totals);
    std::copy_n(last[1], n - i, out.slope + i);
    std::copy_n(last[2], n - i, out.curvature + i);
    std::copy_n(last[3], n - i, out.shift + i);
  }
  sums.value += static_cast<double>(total(totals.value));
  sums.slope += static_cast<double>(total(totals.slope));
  sums.curvature += static_cast<double>(total(totals.curvature));
  sums.shift += static_cast<double>(total(totals.shift));
  sums.bound += static_cast<double>(total(totals.bound));
}

template <class A, RowKind of_positives>
RowMath<A> against(RowKind of_negatives) {
  switch (of_negatives) {
    case RowKind::logistic:
      return math<A, of_positives, RowKind::logistic>;
    case RowKind::exponential:
      return math<A, of_positives, RowKind::exponential>;
    default:
      return math<A, of_positives, RowKind::squared_hinge>;
  }
}

}  // namespace

void RowSums::add(const RowSums& other) {
  value += other.value;
  slope += other.slope;
  curvature += other.curvature;
  shift += other.shift;
  bound += other.bound;
  moment += other.moment;
  shift_moment += other.shift_moment;
  size += other.size;
  size_moment += other.size_moment;
  pull_size += other.pull_size;
  shift_size += other.shift_size;
  squares += other.squares;
  depth = std::max(depth, other.depth);
}

template <class A>
RowMath<A> row_math(const RowLoss& loss) {
  switch (loss.positives.kind) {
    case RowKind::logistic:
      return against<A, RowKind::logistic>(loss.negatives.kind);
    case RowKind::exponential:
      return against<A, RowKind::exponential>(loss.negatives.kind);
    case RowKind::linear:
      return math<A, RowKind::linear, RowKind::exponential>;
    default:
      return against<A, RowKind::squared_hinge>(loss.negatives.kind);
  }
}

template RowMath<float> row_math(const RowLoss&);
template RowMath<double> row_math(const RowLoss&);

}  // namespace toprank
