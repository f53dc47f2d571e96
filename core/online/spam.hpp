// SPAM: stochastic proximal steps on the pairwise squared loss, O(entries of the row) each. With p
// the positives' share, m1 and m0 the class means, step k on row x of weight v:
//   e = v min(eta / sqrt(k), cap)
//   g = 2 (1-p) (w.x - m0.w - 1)  if x is positive,  2 p (w.x - m1.w + 1)  if it is negative
//   w <- (w - e g x) / (1 + e beta)
// which is the published step with its a, b and alpha put in. m1.w and m0.w are kept as numbers:
// a step changes them by m1.x and m0.x, which are given for all rows.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/rows.hpp"
#include "online/reading.hpp"
#include "online/scaled_weights.hpp"
#include "support/interrupt.hpp"

namespace toprank {

struct ProximalRules {
  double eta, cap, beta, share;
};

// The scores of the class means: m1.w and m0.w, or m1.x and m0.x of every row.
struct MeanScores {
  double above, below;
};

class ProximalDescent {
 public:
  // Goes on from `w` after `steps` steps.
  ProximalDescent(const double* w, std::int64_t n_weights, std::int64_t steps, ProximalRules rules)
      : rules_(rules), steps_(steps), weights_(w, n_weights) {}

  // A step a row. Returns how many were taken before one that overflowed, all if none did.
  template <class Rows>
  std::int64_t run(const Rows& x, const Reading& reading, MeanScores means, const double* above,
                   const double* below);

  std::vector<double> weights() const { return weights_.weights(); }
  const std::vector<double>& total() const { return weights_.total(); }

 private:
  ProximalRules rules_;
  std::int64_t steps_;
  ScaledWeights weights_;
  Poll poll_;
};

}  // namespace toprank
