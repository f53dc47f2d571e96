// The exponential loss of all pairs along directions, for rows of which the positives come first:
//   J(s) = log sum_i r_i e^(-s_i) + 1/p log sum_j r_j e^(p s_j),   r sums to one on each side.
#pragma once

#include <cstdint>
#include <vector>

namespace toprank {

class ExponentialPairs {
 public:
  // At s = 0.
  ExponentialPairs(const double* shares, std::int64_t n_rows, std::int64_t n_positive, double p);

  std::int64_t n_rows() const { return static_cast<std::int64_t>(shares_.size()); }

  // s <- s + t h; returns J.
  double move(const double* h, double t);

  // The t at which J(s + t h) is least: in closed form where h has two values, else by Newton's
  // method. The step is no longer than `most` where the values of h are 2 apart, for where a value
  // has rows of one class only J falls for ever.
  double exact_step(const double* h, double most) const;

  // r_i e^(-s_i) and r_j e^(p s_j), each side scaled to sum to one.
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& scores() const { return scores_; }

  // Half the weights, with a minus on the negatives: the edge of h is their sum with h.
  void edge_weights(double* out) const;

 private:
  struct Slope {
    double first, second;
  };
  // J' and J'' along h where the weights are these.
  Slope slope(const double* h, const double* weights) const;
  double newton_step(const double* h, double unit, double most) const;

  std::int64_t n_positive_;
  double p_;
  std::vector<double> shares_, scores_, weights_;
};

}  // namespace toprank
