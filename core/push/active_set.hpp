// A dual active-set method (Goldfarb and Idnani, 1983) with identity Hessian:
//   min over y  1/2 |y - y0|^2   s.t.   z_j . y + v_j <= 0  for every row z_j of Z.
// Rows may be appended between calls; the state (y, active rows, multipliers) stays valid.
#pragma once

#include <cstdint>
#include <vector>

#include "support/interrupt.hpp"

namespace toprank {

class ActiveSet {
 public:
  ActiveSet(const double* y0, std::int64_t dim);

  // Adds constraints: `count` rows of Z, row-major, and their offsets v.
  void append(const double* z, const double* v, std::int64_t count);

  // Starts from a guess of the active rows: those that are dependent or whose multiplier
  // would be negative are left out.
  void warm(const std::int64_t* guess, std::int64_t count);

  // Adds and drops rows until none is violated by more than `tol`; returns the number of steps.
  std::int64_t solve(double tol, std::int64_t max_steps);

  const std::vector<double>& y() const { return y_; }
  std::int64_t n_rows() const { return n_rows_; }
  void multipliers(double* out) const;  // one a row, zero off the active set

 private:
  const double* row(std::int64_t j) const { return z_.data() + j * dim_; }
  double violation(std::int64_t j) const;
  std::int64_t most_violated(double tol);
  double split_off(const double* z);  // z = Q'q_ + rest_, returns |rest_|^2
  void solve_r(std::vector<double>& x, bool transposed) const;
  void push(std::int64_t j, double norm, double multiplier);
  void drop(std::int64_t position);  // keeps q_ and rest_ those of the row under way
  void reset();
  void refresh();  // y and the multipliers from the active rows alone
  double r(std::int64_t i, std::int64_t j) const { return r_[j * capacity_ + i]; }

  Poll poll_;
  std::int64_t dim_, capacity_, n_rows_ = 0, size_ = 0;
  std::vector<double> y0_, y_, z_, v_;
  std::vector<std::int64_t> active_, shortlist_;
  std::vector<char> excluded_;            // active, or found to be numerically hopeless
  std::vector<double> u_;                 // multipliers of the active rows
  std::vector<double> q_basis_, r_;       // Z_active' = Q'R: Q row-major, R column-major
  std::vector<double> q_, rest_, step_;   // work
};

}  // namespace toprank
