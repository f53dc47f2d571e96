// The losses of single rows, as a fused pass wants them: a block of scores at a time.
//
// A row of weight c that is wrong by z (minus its score for a positive, its score for a negative)
// loses  f(z) = c (l(k z) / k + offset),  where k and the offset are one pair for z <= 0 and
// another for z > 0. With k = 1 that is l; a steeper upper half and e^(k z) / k are too. l = z is for
// positives beside exponential negatives.
#pragma once

#include <cstdint>

namespace toprank {

enum class RowKind { squared_hinge, logistic, exponential, linear };

struct RowSide {
  RowKind kind;
  double low, high;  // k for z <= 0, and above
  double low_offset, high_offset;
};

struct RowLoss {
  RowSide positives, negatives;
};

// Sums over rows; v = f' with the sign of the score, D = f''. A dual vector must sum to zero where
// the threshold is free: v - eps u does for one eps, and its conjugate exceeds that of v by no more
// than eps^2 `bound`, beside the linear term, while |eps| max(k, 1) <= 1. u is D, or |v| for the
// squared hinge, whose conjugate ends at zero.
struct RowSums {
  double value = 0, slope = 0, curvature = 0, shift = 0, bound = 0;
  // For bounds that include rounding: sums of v z, u z, |v|, |v z|, |v| |x| and u |x|, z the score
  // with its threshold.
  double moment = 0, shift_moment = 0, size = 0, size_moment = 0, pull_size = 0, shift_size = 0;
  double squares = 0;  // the sum of |x|^2, where it is taken
  std::int64_t depth = 0;  // additions that a term goes through in any of the sums, at the most

  void add(const RowSums& other);
};

// What a block of scores gives, row by row.
template <class A>
struct RowTerms {
  A *slope, *curvature, *shift;
};

// n rows: their scores with the threshold, and their weights, below zero for negatives; a row of
// weight zero is absent. A is float or double, and so are the sums of a block.
template <class A>
using RowMath = void (*)(std::int64_t n, const A* z, const double* tilt, const RowLoss& loss,
                         const RowTerms<A>& out, RowSums& sums);

template <class A>
RowMath<A> row_math(const RowLoss& loss);

// The rows that a block may have.
inline constexpr std::int64_t kMostRows = 128;

}  // namespace toprank
