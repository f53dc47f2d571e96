#include "push/listed_descent.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "support/vectors.hpp"

namespace toprank {
namespace {

constexpr double kPenalty = 0.05;    // rho, in units of mean |x|^2 / alpha
constexpr double kBiasShare = 0.2;   // as in rows/shuffled_sweeps.hpp
constexpr double kListGrowth = 0.3;  // new rows of a list, per row with a positive dual

}  // namespace

ListedDescent::ListedDescent(std::unique_ptr<RowReader> x, std::unique_ptr<PushSweep> sweep,
                             PushProblem problem)
    : PushState(std::move(problem), x->n_cols()),
      x_(std::move(x)),
      sweep_(std::move(sweep)),
      shuffle_(problem.seed),
      w_best_(w_.size()),
      y_best_(y_.size()),
      score_(y_.size()),
      score_best_(y_.size()),
      active_(y_.size()) {
  for (std::int64_t i = 0; i < n_; ++i) stiffness_[i] = x_->squared_norm(rows_[i]) / alpha_;
  entries_read_ += total();
  const double mean = sum(stiffness_.data(), n_) / static_cast<double>(n_);
  rho_ = kPenalty * (mean > 0 ? mean : 1 / alpha_);
  for (auto& k : stiffness_) k += rho_;
  std::iota(active_.begin(), active_.end(), 0);
  n_active_ = n_;
}

ListedDescent::~ListedDescent() = default;

double ListedDescent::epoch(double shrink) {
  shuffle_(active_.data(), n_active_);
  double* seen = checked_ ? nullptr : score_.data();  // until a check knows better
  return sweep_->run(*this, active_.data(), n_active_, shrink, seen);
}

void ListedDescent::sweep_listed(std::vector<std::int64_t>& list, int times) {
  auto count = size(list);
  for (int t = 0; t < times; ++t) {
    if (t > 0) shuffle_(list.data(), count);
    sweep_->run(*this, list.data(), count, kInfinity, nullptr);
  }
}

void ListedDescent::update_bias(double largest_step) {
  if (std::abs(rho_ * excess_) >= kBiasShare * largest_step) bias_ += rho_ * excess_;
}

void ListedDescent::look(int n_threads) {
  x_->scores(level_.data(), rows_.data(), n_, score_.data(), n_threads);
  entries_read_ += total();
}

double ListedDescent::imbalance(const std::vector<double>& y, std::int64_t m) {
  return sum(y.data(), m) - sum(y.data() + m, size(y) - m);
}

std::vector<double> ListedDescent::image(const std::vector<double>& y) {
  std::vector<double> w(w_.size());
  for (std::int64_t i = 0; i < n_; ++i) {
    if (y[i] == 0) continue;
    poll_(x_->entries(rows_[i]));
    add(i, sign(i) * y[i] / alpha_, w.data());
  }
  return w;
}

void ListedDescent::weights_from_duals() {
  w_ = image(y_);
  excess_ = imbalance(y_, m_);
}

void ListedDescent::realign() {
  weights_from_duals();
  w_before_ = w_;
  for (std::int64_t t = 0; t < size(target_); ++t) y_before_[t] = y_[target_[t]];
}

void ListedDescent::enlist(std::int64_t begin, std::int64_t end, double sign, double reach) {
  candidates_.clear();
  std::int64_t support = 0;
  for (auto i = begin; i < end; ++i) {
    if (y_[i] > 0) ++support;
    else if (sign * score_[i] > reach) candidates_.push_back(sign * score_[i]);
  }
  const auto limit = std::max<std::int64_t>(
      100, static_cast<std::int64_t>(kListGrowth * static_cast<double>(support)));
  std::int64_t ties = 0;  // duplicates tie: as many of those at the limit as there is room for
  if (size(candidates_) > limit) {
    const auto last = candidates_.begin() + limit - 1;
    std::nth_element(candidates_.begin(), last, candidates_.end(), std::greater<>());
    reach = *last;
    ties = std::count(candidates_.begin(), last + 1, reach);
  }
  for (auto i = begin; i < end; ++i) {
    const double score = sign * score_[i];
    if (y_[i] > 0 || score > reach || (score == reach && ties-- > 0)) active_[n_active_++] = i;
  }
}

void ListedDescent::enlist_all(std::int64_t begin, std::int64_t end) {
  for (auto i = begin; i < end; ++i) active_[n_active_++] = i;
}

void ListedDescent::reset_steps() {
  target_.resize(static_cast<std::size_t>(n_));
  std::iota(target_.begin(), target_.end(), 0);
  m_target_ = m_;
  y_before_ = y_;
  w_before_ = w_;
  n_steps_ = head_ = 0;
}

void ListedDescent::retarget() {
  place_.assign(static_cast<std::size_t>(n_), kAbsent);
  for (std::int64_t k = 0; k < n_active_; ++k) place_[active_[k]] = kNew;
  for (std::int64_t t = 0; t < size(target_); ++t) {
    const auto i = target_[t];
    bool moved = place_[i] == kNew || y_before_[t] != y_[i];
    for (int k = 0; k < n_steps_; ++k) moved = moved || steps_[k].y[t] != 0;
    if (moved) place_[i] = t;
  }
  std::vector<std::int64_t> from;  // where a row of the new set stood in the old one
  target_.clear();
  for (std::int64_t i = 0; i < n_; ++i) {
    if (place_[i] == kAbsent) continue;
    target_.push_back(i);
    from.push_back(place_[i]);
  }
  auto carry = [&](std::vector<double>& values, auto&& otherwise) {
    spare_.resize(target_.size());
    for (std::size_t t = 0; t < target_.size(); ++t)
      spare_[t] = from[t] >= 0 ? values[from[t]] : otherwise(target_[t]);
    values.swap(spare_);
  };
  for (int k = 0; k < n_steps_; ++k) carry(steps_[k].y, [](std::int64_t) { return 0.0; });
  carry(y_before_, [&](std::int64_t i) { return y_[i]; });
  m_target_ = std::lower_bound(target_.begin(), target_.end(), m_) - target_.begin();
}

}  // namespace toprank
