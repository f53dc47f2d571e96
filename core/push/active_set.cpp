#include "push/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "support/vectors.hpp"

namespace toprank {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kShortlist = 48;
// |rest|^2 below this share of |z|^2: the row depends on the active ones.
constexpr double kDependent = 1e-13;
// One more orthogonalisation while a pass left less than this share of |z|^2.
constexpr double kCancelled = 0.05;
// Vectors of the basis that are taken off together: they are still in cache for the second look.
constexpr std::int64_t kTogether = 4;

}  // namespace

ActiveSet::ActiveSet(const double* y0, std::int64_t dim)
    : dim_(dim),
      capacity_(dim + 1),
      y0_(y0, y0 + dim),
      y_(y0_),
      active_(static_cast<std::size_t>(capacity_)),
      u_(static_cast<std::size_t>(capacity_)),
      q_basis_(static_cast<std::size_t>(capacity_ * dim)),
      r_(static_cast<std::size_t>(capacity_ * capacity_)),
      q_(static_cast<std::size_t>(capacity_)),
      rest_(static_cast<std::size_t>(dim)),
      step_(static_cast<std::size_t>(capacity_)) {}

void ActiveSet::append(const double* z, const double* v, std::int64_t count) {
  z_.insert(z_.end(), z, z + count * dim_);
  v_.insert(v_.end(), v, v + count);
  n_rows_ += count;
  excluded_.resize(static_cast<std::size_t>(n_rows_), 0);
  shortlist_.clear();
}

double ActiveSet::violation(std::int64_t j) const { return v_[j] + dot(row(j), y_.data(), dim_); }

std::int64_t ActiveSet::most_violated(double tol) {
  auto worst_of = [&](const std::vector<std::int64_t>& list) {
    double most = tol;
    std::int64_t worst = -1;
    for (const auto j : list) {
      if (excluded_[j]) continue;
      const double s = violation(j);
      if (s > most) most = s, worst = j;
    }
    return worst;
  };
  const auto found = worst_of(shortlist_);
  if (found >= 0) return found;
  std::vector<double> all(static_cast<std::size_t>(n_rows_));
  rows_dot(z_.data(), n_rows_, dim_, y_.data(), all.data());
  shortlist_.clear();
  for (std::int64_t j = 0; j < n_rows_; ++j) {
    all[j] += v_[j];
    if (!excluded_[j] && all[j] > tol) shortlist_.push_back(j);
  }
  if (static_cast<std::int64_t>(shortlist_.size()) > kShortlist) {
    std::nth_element(shortlist_.begin(), shortlist_.begin() + kShortlist, shortlist_.end(),
                     [&](auto a, auto b) { return all[a] > all[b] || (all[a] == all[b] && a < b); });
    shortlist_.resize(kShortlist);
  }
  return worst_of(shortlist_);
}

double ActiveSet::split_off(const double* z) {
  std::memcpy(rest_.data(), z, sizeof(double) * static_cast<std::size_t>(dim_));
  std::fill(q_.begin(), q_.begin() + size_, 0.0);
  double before = dot(z, z, dim_);
  for (int pass = 0; pass < 3; ++pass) {
    for (std::int64_t a = 0; a < size_; a += kTogether) {
      const double* some = &q_basis_[a * dim_];
      const auto count = std::min(kTogether, size_ - a);
      rows_dot(some, count, dim_, rest_.data(), &step_[a]);
      rows_subtract(some, count, dim_, &step_[a], rest_.data());
    }
    for (std::int64_t a = 0; a < size_; ++a) q_[a] += step_[a];
    const double after = dot(rest_.data(), rest_.data(), dim_);
    if (after > kCancelled * before) return after;
    before = after;
  }
  return before;
}

// x <- R^-1 x, or R^-T x
void ActiveSet::solve_r(std::vector<double>& x, bool transposed) const {
  if (transposed) {
    for (std::int64_t j = 0; j < size_; ++j)
      x[j] = (x[j] - dot(&r_[j * capacity_], x.data(), j)) / r(j, j);
  } else {
    for (std::int64_t j = size_ - 1; j >= 0; --j) {
      x[j] /= r(j, j);
      add_multiple(-x[j], &r_[j * capacity_], x.data(), j);
    }
  }
}

void ActiveSet::push(std::int64_t j, double norm, double multiplier) {
  double* basis = &q_basis_[size_ * dim_];
  for (std::int64_t i = 0; i < dim_; ++i) basis[i] = rest_[i] / norm;
  std::copy(q_.begin(), q_.begin() + size_, r_.begin() + size_ * capacity_);
  r_[size_ * capacity_ + size_] = norm;
  u_[size_] = multiplier;
  active_[size_] = j;
  excluded_[j] = 1;
  ++size_;
}

void ActiveSet::drop(std::int64_t position) {
  excluded_[active_[position]] = 0;
  --size_;
  for (std::int64_t a = position; a < size_; ++a) {
    active_[a] = active_[a + 1];
    u_[a] = u_[a + 1];
    std::copy_n(r_.begin() + (a + 1) * capacity_, a + 2, r_.begin() + a * capacity_);
  }
  // R is upper Hessenberg from `position` on: rotate neighbouring rows, column by column.
  std::vector<std::pair<double, double>> turns;
  for (std::int64_t a = position; a < size_; ++a) {
    double* column = &r_[a * capacity_];
    for (std::int64_t t = position; t < a; ++t) {
      const auto [c, s] = turns[static_cast<std::size_t>(t - position)];
      const double x = column[t], y = column[t + 1];
      column[t] = c * x + s * y;
      column[t + 1] = c * y - s * x;
    }
    const double h = std::hypot(column[a], column[a + 1]);
    const double c = h > 0 ? column[a] / h : 1, s = h > 0 ? column[a + 1] / h : 0;
    column[a] = h;
    turns.emplace_back(c, s);
    rotate(c, s, &q_basis_[a * dim_], &q_basis_[(a + 1) * dim_], dim_);
    rotate(c, s, &q_[a], &q_[a + 1], 1);
  }
  // What z = Q'q_ + rest_ had along the vector that leaves the basis now belongs to the rest.
  add_multiple(q_[size_], &q_basis_[size_ * dim_], rest_.data(), dim_);
}

void ActiveSet::reset() {
  for (std::int64_t a = 0; a < size_; ++a) excluded_[active_[a]] = 0;
  size_ = 0;
  y_ = y0_;
}

void ActiveSet::warm(const std::int64_t* guess, std::int64_t count) {
  std::vector<std::int64_t> rows(guess, guess + std::min(count, capacity_ - 1));
  while (!rows.empty()) {
    reset();
    for (const auto j : rows) {
      poll_(2 * size_ * dim_ + dim_);
      const double rest = split_off(row(j));
      if (rest > kDependent * dot(row(j), row(j), dim_)) push(j, std::sqrt(rest), 0.0);
    }
    refresh();
    rows.clear();
    for (std::int64_t a = 0; a < size_; ++a)
      if (u_[a] >= 0) rows.push_back(active_[a]);
    if (static_cast<std::int64_t>(rows.size()) == size_) return;
  }
  reset();
}

// u = (R'R)^-1 (Z y0 + v) on the active rows, y = y0 - Z'u
void ActiveSet::refresh() {
  for (std::int64_t a = 0; a < size_; ++a)
    u_[a] = v_[active_[a]] + dot(row(active_[a]), y0_.data(), dim_);
  solve_r(u_, true);
  solve_r(u_, false);
  y_ = y0_;
  for (std::int64_t a = 0; a < size_; ++a) add_multiple(-u_[a], row(active_[a]), y_.data(), dim_);
}

std::int64_t ActiveSet::solve(double tol, std::int64_t max_steps) {
  std::int64_t steps = 0;
  while (steps < max_steps) {
    const auto p = most_violated(tol);
    if (p < 0) break;
    double excess = violation(p), multiplier = 0;
    const double size2 = dot(row(p), row(p), dim_);
    for (double rest = split_off(row(p));; rest = dot(rest_.data(), rest_.data(), dim_)) {
      ++steps;
      poll_(4 * size_ * dim_ + n_rows_);
      std::copy_n(q_.begin(), size_, step_.begin());
      solve_r(step_, false);
      double to_drop = kInfinity;
      std::int64_t blocking = -1;
      for (std::int64_t a = 0; a < size_; ++a)
        if (step_[a] > 1e-14 && u_[a] / step_[a] < to_drop) to_drop = u_[a] / step_[a], blocking = a;
      const bool dependent = rest <= kDependent * size2 || size_ == dim_;
      const double to_add = dependent ? kInfinity : excess / rest;
      const double t = std::min(to_drop, to_add);
      if (t == kInfinity) {  // impossible but for rounding: b -> -inf satisfies every row
        excluded_[p] = 1;
        break;
      }
      for (std::int64_t a = 0; a < size_; ++a) u_[a] -= t * step_[a];
      multiplier += t;
      if (!dependent) {
        add_multiple(-t, rest_.data(), y_.data(), dim_);
        excess -= t * rest;
      }
      if (to_add <= to_drop) {
        push(p, std::sqrt(rest), multiplier);
        break;
      }
      drop(blocking);
    }
  }
  if (steps > 0) refresh();  // thousands of updates leave rounding behind
  return steps;
}

void ActiveSet::multipliers(double* out) const {
  std::fill(out, out + n_rows_, 0.0);
  for (std::int64_t a = 0; a < size_; ++a) out[active_[a]] = std::max(u_[a], 0.0);
}

}  // namespace toprank
