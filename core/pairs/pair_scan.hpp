// The loss of all pairs of a positive and a negative row, by sorting the two classes.
//
//   F(s) = sum_i sum_j p_i q_j h(r - s_i + s_j),   r = 1 unless it is set otherwise,
//
// h the hinge [u]_+ rounded off over 0 < u < width (h = u^2 / (2 width) there, u - width/2 beyond),
// or its square for an infinite width. The pairs are never listed: with both classes in order,
// the pairs of a row that count are a prefix of the other class, and the prefix only grows from
// one row to the next. The same order gives the lower tail of the margins s_i - s_j.
#pragma once

#include <cstdint>
#include <vector>

#include "support/sort.hpp"

namespace toprank {

struct PairSums {
  double value = 0;  // F
  double hinge = 0;  // sum p_i q_j [u]_+
  double total = 0;  // sum p_i q_j h'(u): the sum of the duals of all pairs
  double bend = 0;   // sum p_i q_j u (1 - u / width) over 0 < u < width: what rounding off costs
  double bent = 0;   // sum p_i q_j over 0 < u < width
};

// Pairs one by one, and what each weighs.
struct ListedPairs {
  std::vector<std::int64_t> positives, negatives;  // rows
  std::vector<double> weights, margins;
};

class PairScan {
 public:
  // Rows of the two classes and their weights; weights may be null: then all are the same.
  PairScan(std::int64_t n_rows, const std::int64_t* positives, const double* p, std::int64_t m,
           const std::int64_t* negatives, const double* q, std::int64_t n);

  // Sorts both classes by the scores of all rows.
  void sort(const double* scores);
  // F at the sorted scores: one sweep.
  PairSums value(double width);
  // The same with dF/ds of every row, and the windows that `curvature` needs: two sweeps.
  PairSums slope(double width, double* v);
  // The second derivative of F times r, both of all rows; after `slope`.
  void curvature(const double* r, double* out);

  // r, and the r at which the duals sum to `total`, which is set: safeguarded Newton steps.
  void set_reach(double reach) { reach_ = reach; }
  double reach() const { return reach_; }
  PairSums balance(double width, double total);

  // The lower tail of the margins s_i - s_j, from pair_tail.cpp. The smallest margin such that
  // the pairs up to it weigh `share` or more, or `strictly` more; the largest where none is.
  double quantile(double share, bool strictly) const;
  // What the pairs of every row weigh whose margins are below `level`, and at it.
  void marginals(double level, double* below, double* at) const;
  // How many pairs have margins from `low` up to `high`; and those pairs, where they are no more
  // than `most`.
  std::int64_t list(double low, double high, std::int64_t most, ListedPairs& pairs) const;

  std::int64_t n_rows() const { return n_rows_; }

  // A class in ascending order of badness: -s of positives, s of negatives. u = 1 + bad + bad'.
  struct Side {
    double sign;
    std::vector<std::uint32_t> rows;  // as given
    std::vector<double> weights;      // as given; empty where all are one
    std::vector<std::uint32_t> sorted_rows;
    std::vector<double> bad, sorted_weights;
    // The pairs of the k-th that lie on the bend are first[k] .. last[k] of the other class,
    // counted from its worst.
    std::vector<std::uint32_t> first, last;
    std::vector<double> prefix;

    std::uint32_t size() const { return static_cast<std::uint32_t>(rows.size()); }
    std::uint32_t row(std::uint32_t k) const { return sorted_rows[k]; }
    double weight(std::uint32_t k) const { return weights.empty() ? 1.0 : sorted_weights[k]; }
  };
  const Side& positives() const { return positives_; }
  const Side& negatives() const { return negatives_; }

 private:
  void sort_side(Side& side, const double* scores);
  template <class Visit>
  void sweep(const Side& movers, const Side& others, double width, Visit&& visit) const;
  PairSums sweep_slope(Side& movers, const Side& others, double width, double* v) const;
  void curve_side(const Side& movers, Side& others, const double* r, double* out) const;

  struct Upto {
    double weight = 0;
    std::int64_t count = 0;
  };
  Upto upto(double level, bool strictly) const;

  std::int64_t n_rows_;
  double scale_;      // of a pair of weights one
  double reach_ = 1;  // r
  double width_ = 0;  // of the windows
  Side positives_, negatives_;
  Sorter sorter_;
  std::vector<double> values_;
  std::vector<std::uint32_t> order_;
};

}  // namespace toprank
