// Sweeps of dual coordinate descent on the squared hinge of all pairs of sparse rows.
//
// The margin of a pair, 1 - s_i + s_j, is the mean of two: where only s_i has moved, twice as far,
// and where only s_j has. So F is no more than the mean of two sums over rows, each of which has a
// loss of its own against where the other class was. Within a sweep that is what is descended on:
// the best dual of a row is found among sums over the other class, sorted. The next sweep begins
// from where the rows were when they were visited, and takes no product to do so. At its end the
// duals are the slope of F. As F does not see what is added to all scores, a threshold is free, as
// in rows/dual_sweeps.hpp: so is the rest here, the rows that are visited again and the outlook.
#pragma once

#include <cstdint>

namespace toprank {

struct PairSweepAsk {
  const double* tilt;     // the weight of a row in its class, below zero for negatives
  const double* squares;  // |x|^2 of every row
  double typical;         // one of these
  double alpha;
  int most;       // sweeps over all rows
  double enough;  // the relative gap at which no more are made
  std::uint64_t seed;
};

struct PairSwept {
  int sweeps;
  std::int64_t entries;  // that were visited
};

// w has n_cols entries. In the arithmetic A.
template <class A, class View>
PairSwept pair_sweeps(const View& x, const PairSweepAsk& ask, double* w);

}  // namespace toprank
