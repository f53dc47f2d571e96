// Dual coordinate descent for a weighted hinge loss of chosen pairs and points:
//   min over w  P = 1/2 |w|^2 + sum_q b_q [1 - w.z_q]_+
// through its dual
//   max over a  D = sum_q a_q - 1/2 |w|^2,   w = sum_q a_q z_q,   0 <= a_q <= b_q,
// where z_q = x_first - x_second is a difference of two rows; a side of kNoRow is the zero vector,
// so that z_q is a row itself, or minus a row. Pairs may be added while it runs.
#pragma once

#include <cstdint>
#include <memory>

#include "matrix/rows.hpp"

namespace toprank {

struct PairOutcome {
  std::int64_t epochs;
  double primal, dual;  // P at w, D at the duals
};

class PairDescent {
 public:
  virtual ~PairDescent() = default;

  // Appends pairs; their duals are clipped to the bounds.
  virtual void add(const std::int64_t* first, const std::int64_t* second, const double* bounds,
                   const double* duals, std::int64_t count) = 0;

  // A dual at its bound goes to the new one, the others are clipped.
  virtual void set_bounds(const double* bounds) = 0;

  // All bounds and duals, and with them w, times a factor.
  virtual void scale(double factor) = 0;

  // One step for every pair, in random order. Returns the largest violation met on the way.
  virtual double epoch() = 0;

  // Epochs with shrinking until P - D <= tol P, or one of the two limits is reached. P and D are
  // of all pairs at the end, whatever ended it.
  virtual PairOutcome solve(double tol, std::int64_t max_epochs, std::int64_t max_checks) = 0;

  virtual std::int64_t n_pairs() const = 0;
  virtual std::int64_t entries_read() const = 0;
  // The w of the last P: after `solve` the best multiple of what the duals say.
  virtual void weights(double* out) const = 0;
  virtual void duals(double* out) const = 0;
};

// Rows are numbered, and pairs counted, by 32-bit integers: there may be millions of pairs.
template <class Rows>
std::unique_ptr<PairDescent> make_pair_descent(const Rows&, std::uint64_t seed);

}  // namespace toprank
