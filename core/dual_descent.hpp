// Dual coordinate descent with local subspace acceleration for TopPush:
//   min over w  alpha/2 |w|^2 + sum_i p_i l(t - w.x_i),   t = max_j w.x_j
// through its dual  min over a, delta >= 0  f = alpha/2 |w|^2 + sum_i F_i(a_i),
//   w = (sum_i a_i x_i - sum_j delta_j x_j) / alpha,   sum a = sum delta,
// the equality carried by a multiplier b and a penalty rho. The parts of one round are methods,
// so that the loop over them can be read beside the description of the algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rows.hpp"

namespace toprank {

struct DualCheck {
  double primal, dual;  // the best bounds so far
  double violation;     // how far the highest negative stands above the current threshold
};

class DualDescent {
 public:
  virtual ~DualDescent() = default;

  // Takes over duals (positives first) and the multiplier b of an earlier solution.
  virtual void restart(const double* duals, double bias) = 0;

  // One pass over the active rows in random order; a row whose dual is zero and whose gradient
  // exceeds `shrink` leaves the list. Returns the largest step, in score units.
  virtual double epoch(double shrink) = 0;

  // Passes over the listed negatives only: what is left to do late is to level their scores.
  virtual void sweep_hard(int times) = 0;
  virtual std::int64_t hard_entries() const = 0;

  // The exact minimum over the last three total steps: no product with the matrix.
  virtual void subspace_step() = 0;

  // The method of multipliers, once the rows' own error is the smaller one.
  virtual void update_bias(double largest_step) = 0;

  // One pass: exact scores, primal and dual bounds.
  virtual DualCheck check(int n_threads) = 0;

  // The best dual bound computed afresh, and w made what the duals say; a bound that had drifted
  // is taken back. Returns it.
  virtual double verify() = 0;

  // A new list of active rows from the last known scores.
  virtual void rebuild(double violation) = 0;

  virtual std::int64_t entries_read() const = 0;
  virtual double bias() const = 0;
  virtual const std::vector<double>& best_weights() const = 0;
  virtual const std::vector<double>& best_duals() const = 0;
  virtual const std::vector<double>& duals() const = 0;
};

enum class Surrogate { squared_hinge, logistic, exponential };

struct TopProblem {
  std::vector<std::int64_t> rows;  // the positive rows, then the negative ones
  std::vector<double> weight;      // p, of the positives
  double alpha;
  Surrogate loss;
  std::uint64_t seed;
};

template <class Rows>
std::unique_ptr<DualDescent> make_dual_descent(const Rows&, TopProblem);

}  // namespace toprank
