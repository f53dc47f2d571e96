#include "online/moment_descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/vectors.hpp"

namespace toprank {
namespace {

constexpr double kFloor = 1e-8;  // the delta of AdaOAM
// (x - m)(x - m)' + S is at most 5 max |x|^2 long: a step below 2 / (alpha + that) cannot blow up.
constexpr double kLengths = 4.0;

// out += c z z', lower triangle
void add_square(double c, const double* z, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; out += ++i) {
    if (z[i] != 0.0) add_multiple(c * z[i], z, out, i + 1);
  }
}

// out += c A w, A by its lower triangle, every entry of which is read once
void add_product(double c, const double* a, const double* w, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; a += ++i) {
    const double cw = c * w[i];
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t j = 0; j < i; ++j) {
      s += a[j] * w[j];
      out[j] += cw * a[j];
    }
    out[i] += c * s + cw * a[i];
  }
}

bool finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

MomentDescent::MomentDescent(MomentRules rules, std::vector<double> w, std::vector<double> squares,
                             Sizes sizes, ClassMoments negatives, ClassMoments positives)
    : rules_(rules),
      sizes_(sizes),
      moments_{std::move(negatives), std::move(positives)},
      w_(std::move(w)),
      squares_(std::move(squares)),
      gradient_(w_.size()),
      difference_(w_.size()) {}

// Sparse rows are learnt as sums of v x x', which cost entries^2 and not columns^2: the scatters
// are these sums for as long as a run takes.
template <class Rows>
std::int64_t MomentDescent::run(const Rows& x, const Reading& reading) {
  if constexpr (is_sparse<Rows>) shift_scatters(1.0);
  std::int64_t k = 0;
  for (; k < reading.size; ++k) {
    ask_ahead(x, reading, k);
    const auto i = reading.rows[k];
    const double v = reading.weights[i], sign = reading.signs[i];
    auto &own = moments_[sign > 0], &other = moments_[sign < 0];
    learn_moments(x, i, v, own);
    sizes_.longest = std::max(sizes_.longest, x.squared_norm(i));
    sizes_.heaviest = std::max(sizes_.heaviest, v);
    if (other.weight > 0.0 && !step(x, i, sign, v, other)) return k;
    poll_(static_cast<std::int64_t>(own.scatter.size()) * (is_sparse<Rows> ? 1 : 2));
  }
  if constexpr (is_sparse<Rows>) shift_scatters(-1.0);
  bool sound = finite(w_) && finite(squares_);
  for (const auto& own : moments_) sound = sound && finite(own.mean) && finite(own.scatter);
  return sound ? k : k - 1;
}

template <class Rows>
void MomentDescent::learn_moments(const Rows& x, std::int64_t i, double v, ClassMoments& own) {
  own.weight += v;
  const double share = v / own.weight;
  double* mean = own.mean.data();
  if constexpr (is_sparse<Rows>) {
    for (auto q = x.indptr[i]; q < x.indptr[i + 1]; ++q) {
      const std::int64_t column = x.indices[q];
      double* line = own.scatter.data() + column * (column + 1) / 2;
      const double value = v * static_cast<double>(x.data[q]);
      for (auto r = x.indptr[i]; r <= q; ++r)
        line[x.indices[r]] += value * static_cast<double>(x.data[r]);
    }
    for (auto& entry : own.mean) entry *= 1.0 - share;
    x.add(i, share, mean);
  } else {
    // z = x - m;  M += v (1 - v/n) z z';  m += z v/n
    const auto n = x.n_cols;
    double* z = difference_.data();
    for (std::int64_t j = 0; j < n; ++j) z[j] = -mean[j];
    x.add(i, 1.0, z);
    add_square(v * (1.0 - share), z, own.scatter.data(), n);
    add_multiple(share, z, mean, n);
  }
}

template <class Rows>
bool MomentDescent::step(const Rows& x, std::int64_t i, double sign, double v,
                         const ClassMoments& other) {
  const auto n = x.n_cols;
  const double mean_score = dot(other.mean.data(), w_.data(), n);
  const double error = x.dot(i, w_.data()) - mean_score - sign;
  if (!std::isfinite(error)) return false;
  for (std::int64_t j = 0; j < n; ++j) gradient_[j] = rules_.alpha * w_[j];
  add_product(1.0 / other.weight, other.scatter.data(), w_.data(), gradient_.data(), n);
  x.add(i, error, gradient_.data());
  // The sums of x x' hold m m' too.
  const double of_mean = is_sparse<Rows> ? -error - mean_score : -error;
  add_multiple(of_mean, other.mean.data(), gradient_.data(), n);
  return move(v);
}

bool MomentDescent::move(double v) {
  const auto n = static_cast<std::int64_t>(w_.size());
  if (!rules_.adaptive) {
    const double bound = sizes_.heaviest * (kLengths * sizes_.longest + rules_.alpha);
    const double eta = rules_.eta > 0.0 ? rules_.eta : 1.0 / bound;
    add_multiple(-eta * v, gradient_.data(), w_.data(), n);
    return true;
  }
  double squared_norm = 0.0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double h = v * gradient_[j];
    squares_[j] += h * h;
    w_[j] -= rules_.eta * h / (kFloor + std::sqrt(squares_[j]));
    squared_norm += w_[j] * w_[j];
  }
  const double size = rules_.alpha * squared_norm;
  if (size > 1.0) {
    const double factor = 1.0 / std::sqrt(size);
    for (double& entry : w_) entry *= factor;
  }
  return std::isfinite(size);
}

// M += sign n m m'
void MomentDescent::shift_scatters(double sign) {
  for (auto& own : moments_)
    add_square(sign * own.weight, own.mean.data(), own.scatter.data(),
               static_cast<std::int64_t>(own.mean.size()));
}

#define TOPRANK_ROWS(...) \
  template std::int64_t MomentDescent::run(const __VA_ARGS__&, const Reading&);
TOPRANK_EACH_ROWS(TOPRANK_ROWS)
#undef TOPRANK_ROWS

}  // namespace toprank
