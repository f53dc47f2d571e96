// A smooth sum over rows by its scores alone, z = s + step ds + b: nothing of the matrix is read.
// Blocks depend on the number of rows only and are added in their order: the same bits for any
// number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "rows/row_loss.hpp"

namespace toprank {

// Sums at scores z. Slopes are taken apart: those of rows that pull the threshold down, and up.
struct LineSums {
  double value = 0;
  double up = 0, down = 0;            // sums of f' of negatives, and of -f' of positives
  double up_bend = 0, down_bend = 0;  // of f''
  double rate = 0, mixed = 0, bent = 0;  // of f' ds, f'' ds and f'' ds^2

  double slope() const { return up - down; }
  double curvature() const { return up_bend + down_bend; }
  void add(const LineSums& other);
};

template <class A>
class ScoreLine {
 public:
  ScoreLine(std::int64_t n_rows, const double* tilt, const RowLoss& loss, bool free_bias,
            int n_threads);

  // The scores without their threshold, what a whole step adds to them, and the slopes and
  // curvatures of the last point that was looked at.
  std::vector<A> scores, steps, slope, curvature;

  // The best b at a step, from a guess of it, and the sums there; false where there is no such
  // number.
  bool settle(double step, double& b, LineSums& sums);

  // The step at which the objective, with the best b at every step, has `share` of its slope left;
  // zero where there is none. Along the line the ridge has the slope linear + step square.
  double search(double linear, double square, double slope, double share, double& b,
                double turn, LineSums& sums);

  // The sums at a step and a b.
  void look(double step, double b, LineSums& sums) { sums = at(step, b); }

  // The scores of that step.
  void move(double step);

 private:
  LineSums at(double step, double b);

  std::int64_t n_rows_;
  const double* tilt_;
  RowLoss loss_;
  RowMath<A> math_;
  bool free_bias_;
  int n_threads_;
};

}  // namespace toprank
