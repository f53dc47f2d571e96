// Newton's step of the squared hinge of all pairs over wide rows: by conjugate gradients, on a copy
// of a few rows whose pairs stand for all.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pairs/pair_ranks.hpp"
#include "rows/thin_copy.hpp"
#include "rows/wide_rows.hpp"

namespace toprank {

class PairSteps {
 public:
  virtual ~PairSteps() = default;
  // The step at the last scores that `ranks` saw: n_cols + 1 entries, the last of them zero. A row
  // that adds less to the Hessian than alpha does is kept with the share it adds for a chance, and
  // `least` more.
  virtual Stepped step(const PairRanks& ranks, const double* gradient, const StepAsk& ask,
                       double least, double* out) = 0;

  std::vector<double> squares;  // |x|^2 of every row
  double typical = 1;           // one of these
  std::int64_t entries = 0;     // of the last copy
};

template <class A>
std::unique_ptr<PairSteps> pair_steps(std::unique_ptr<WideRows<A>> rows, int n_threads);

}  // namespace toprank
