// Newton's method over wide rows, by parts that a solver puts together: where it stands, the step of
// a few rows that stand for all, and the way along it.
//   min over w, b   alpha/2 |w|^2 + sum_r f_r(x_r.w + b)
// It keeps scores, slopes and curvatures of all rows, and the best b for them; w is the solver's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rows/score_line.hpp"
#include "rows/wide_rows.hpp"

namespace toprank {

struct WideAsk {
  const double* tilt;
  RowLoss loss;
  bool free_bias;
  int n_threads;
};

class WideDescent {
 public:
  virtual ~WideDescent() = default;

  // Begins at w, or at w = 0 where that is nullptr, with the best b from a guess of it.
  virtual bool begin(const double* w, double b) = 0;
  // The same at scores that are known, without their threshold: nothing of the matrix is read.
  virtual bool place(const double* scores, double b) = 0;
  // The sweeps of dual descent; false where the matrix cannot be read so.
  virtual bool sweep(SweepAsk ask, double* w, double* slopes, Swept& swept) const = 0;
  // X'v, v the slopes.
  virtual void pull(double* out) const = 0;
  // Keeps rows of curvature times |x|^2 above tau, and others with a chance; see `thin`.
  virtual std::int64_t thin(double tau, double least, std::uint64_t seed) = 0;
  // Newton's step of those rows: n_cols + 1 entries.
  virtual Stepped step(const double* gradient, StepAsk ask, double* out) const = 0;
  // Goes along a step as far as it descends; returns how far. The rows that ended it early, where a
  // loss has no curvature before its kink, count in the next Hessian.
  virtual double advance(const double* step, double linear, double square, double slope,
                         double share) = 0;

  double b = 0;
  LineSums sums;
  double typical = 1;             // |x|^2 of a row
  std::int64_t thinned_entries = 0;
};

template <class A>
std::unique_ptr<WideDescent> wide_descent(std::unique_ptr<WideRows<A>> rows, const WideAsk& ask);

}  // namespace toprank
