// Stochastic gradient steps for combined regression and ranking, at given draws:
//   min over w  alpha/2 |w|^2 + E l(w.z),   z = x_i - x_j (a pair), x_i or -x_j (a point),
//   l(u) = [1 - u]_+  or  (t - u)^2 / 2,    t = 2 for a pair, 1 for a point.
// Step k:  w <- (1 - 1/k) w - eta l'(w.z) z,   eta = 1 / (alpha k),   w.z before the shrinking;
// with projection then  w <- w min(1, 1 / sqrt(alpha |w|^2)). A weight more than there are columns
// is that of a column of ones, which cancels in pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/rows.hpp"
#include "online/scaled_weights.hpp"
#include "support/interrupt.hpp"

namespace toprank {

struct StepRules {
  double alpha;
  bool squared;  // the squared loss; the hinge otherwise
  bool project;
};

class CombinedDescent {
 public:
  // Goes on from `w` after `steps` steps.
  CombinedDescent(const double* w, std::int64_t n_weights, std::int64_t steps, StepRules rules);

  // A step for each draw: rows i and j, -1 for the side that a point lacks. Sums the iterates if
  // `summed`. Returns how many steps were taken before one that overflowed, all if none did.
  template <class Rows>
  std::int64_t run(const Rows& x, const std::int64_t* positives, const std::int64_t* negatives,
                   std::int64_t n_draws, bool summed);

  std::vector<double> weights() const { return weights_.weights(); }
  const std::vector<double>& total() const { return weights_.total(); }
  double loss() const { return loss_; }  // the sum of l(w.z), each w before it saw its z

 private:
  template <class Rows>
  bool step(const Rows& x, std::int64_t i, std::int64_t j);

  StepRules rules_;
  std::int64_t steps_;
  double squared_norm_ = 0.0, loss_ = 0.0;  // squared_norm_ is that of v
  ScaledWeights weights_;
  Poll poll_;
};

}  // namespace toprank
