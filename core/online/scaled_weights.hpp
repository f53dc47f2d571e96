// Weights w = scale * v, so that shrinking them costs nothing, and the sum of their iterates.
// The sum of iterates s_k v_k is kept as S v - u, S the sum of the scales so far: a step changes v
// by c z and u by S c z, no more.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace toprank {

class ScaledWeights {
 public:
  ScaledWeights(const double* w, std::int64_t n_weights) : v_(w, w + n_weights), total_(v_.size()) {}

  const std::vector<double>& v() const { return v_; }
  double scale() const { return scale_; }
  double last() const { return v_.back(); }
  const std::vector<double>& total() const { return total_; }  // the sum of the iterates

  void multiply(double factor) { scale_ *= factor; }
  // Whether the iterates from now on are summed.
  void begin(bool summed) {
    summed_ = summed;
    if (summed) u_.resize(v_.size());
  }
  // v += c x_row
  template <class Rows>
  void add(const Rows& x, std::int64_t row, double c) {
    x.add(row, c, v_.data());
    if (summed_ && scales_ != 0.0) x.add(row, scales_ * c, u_.data());
  }
  void add_to_last(double c) {
    v_.back() += c;
    if (summed_ && scales_ != 0.0) u_.back() += scales_ * c;
  }
  // Takes the iterate into the sum. True if the scale was moved into v, being small.
  bool end_step() {
    if (summed_) scales_ += scale_;
    if (scale_ >= (summed_ ? kLeastSummedScale : kLeastScale)) return false;
    gather();
    for (double& x : v_) x *= scale_;
    scale_ = 1.0;
    return true;
  }
  // Moves S v - u to the total.
  void gather() {
    if (!summed_) return;
    for (std::size_t d = 0; d < v_.size(); ++d) total_[d] += scales_ * v_[d] - u_[d];
    std::fill(u_.begin(), u_.end(), 0.0);
    scales_ = 0.0;
  }
  bool finite() const {
    return std::all_of(v_.begin(), v_.end(), [](double x) { return std::isfinite(x); });
  }
  std::vector<double> weights() const {
    std::vector<double> w(v_);
    for (double& x : w) x *= scale_;
    return w;
  }

 private:
  static constexpr double kLeastScale = 1e-9;
  // S v and u lose what digits the scale has lost since S began.
  static constexpr double kLeastSummedScale = 1e-3;

  bool summed_ = false;
  double scale_ = 1.0, scales_ = 0.0;
  std::vector<double> v_, u_, total_;
};

}  // namespace toprank
