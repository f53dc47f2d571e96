// Dual coordinate descent with local subspace acceleration for the pushes to the top:
//   min over w, b  alpha/2 |w|^2 + sum_i p_i l(-(w.x_i + b)) + sum_j q_j h(w.x_j + b)
//   s.t.  w.x_j + b <= 0 for every negative j;   h = 0 for TopPush, h = l for RectPush,
//   or without such a ceiling, where h is l, steeper above zero, as for RectPushApp,
// through its dual  min over a, delta >= 0  f = alpha/2 |w|^2 + sum_i F_i(a_i) + sum_j G_j(delta_j),
//   w = (sum_i a_i x_i - sum_j delta_j x_j) / alpha,   sum a = sum delta,
// the equality carried by a multiplier b and a penalty rho. The parts of one round are methods,
// so that the loop over them can be read beside the description of the algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "matrix/row_reader.hpp"
#include "push/push_sweep.hpp"

namespace toprank {

struct DualCheck {
  double primal, dual;  // the best bounds so far
  double violation;     // how far rows that are not listed may be from where they should be
};

class DualDescent {
 public:
  virtual ~DualDescent() = default;

  // Takes over duals (positives first) and the multiplier b of an earlier solution.
  virtual void restart(const double* duals, double bias) = 0;

  // One pass over the active rows in random order; a row whose dual is zero and whose gradient
  // exceeds `shrink` leaves the list. Returns the largest step, in score units.
  virtual double epoch(double shrink) = 0;

  // Passes over the negatives at their constraint only: late, their scores are still to level.
  virtual void sweep_hard(int times) = 0;
  virtual std::int64_t hard_entries() const = 0;

  // The exact minimum over the few duals that moved most in this round: their rows are often almost
  // equal, and single steps hand their duals over slowly. For losses whose dual is quadratic.
  virtual void settle() = 0;

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

std::unique_ptr<DualDescent> make_dual_descent(std::unique_ptr<RowReader>,
                                               std::unique_ptr<PushSweep>, PushProblem);

template <class Rows>
std::unique_ptr<DualDescent> make_dual_descent(const Rows& x, PushProblem problem) {
  auto sweep = make_push_sweep(x, problem.loss, problem.negatives);
  return make_dual_descent(make_row_reader(x), std::move(sweep), std::move(problem));
}

}  // namespace toprank
