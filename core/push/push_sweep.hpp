// A pass of coordinate steps over listed rows: the loop in which a push to the top spends its
// time. It is compiled for every matrix and every loss; the rest of DualDescent, which sees rows
// through RowReader, for every loss only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "matrix/rows.hpp"
#include "push/surrogates.hpp"
#include "support/interrupt.hpp"

namespace toprank {

struct PushProblem {
  std::vector<std::int64_t> rows;  // the positive rows, then the negative ones
  std::vector<double> weight;      // p of the positives, then q of the negatives
  std::int64_t n_positives;
  double alpha;
  Surrogate loss;
  NegativeSide negatives;
  std::uint64_t seed;
};

// What a pass reads and writes. DualDescent is made of it.
struct PushState {
  PushState(PushProblem problem, std::int64_t n_cols)
      : rows_(std::move(problem.rows)),
        weight_(std::move(problem.weight)),
        alpha_(problem.alpha),
        n_(static_cast<std::int64_t>(rows_.size())),
        m_(problem.n_positives),
        w_(static_cast<std::size_t>(n_cols)),
        y_(rows_.size()),
        stiffness_(rows_.size()) {}

  double sign(std::int64_t i) const { return i < m_ ? 1 : -1; }

  const std::vector<std::int64_t> rows_;
  const std::vector<double> weight_;
  const double alpha_;
  const std::int64_t n_, m_;
  std::vector<double> w_, y_;
  std::vector<double> stiffness_;  // |x|^2 / alpha + rho: the curvature of a row
  double rho_ = 0, bias_ = 0, excess_ = 0;
  std::int64_t entries_read_ = 0;
  Poll poll_;
};

class PushSweep {
 public:
  virtual ~PushSweep() = default;

  // One step for each of the first `count` rows of the list. A row whose dual is zero and whose
  // gradient exceeds `shrink` leaves them. The scores met go to `seen`, if it is not null.
  // Returns the largest step, in score units.
  virtual double run(PushState& state, std::int64_t* list, std::int64_t& count, double shrink,
                     double* seen) const = 0;
};

template <class Rows>
std::unique_ptr<PushSweep> make_push_sweep(const Rows&, Surrogate, NegativeSide);

}  // namespace toprank
