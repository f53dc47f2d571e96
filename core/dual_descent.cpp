// The methods of DualDescent for one loss; see dual_descent.hpp.
#include "dual_descent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "shuffler.hpp"
#include "small_system.hpp"
#include "vectors.hpp"

namespace toprank {
namespace {

constexpr double kPenalty = 0.05;      // rho, in units of mean |x|^2 / alpha
constexpr double kBiasShare = 0.2;     // when the multiplier moves
constexpr double kListGrowth = 0.3;    // new rows of a list, per row with a positive dual
constexpr double kDrift = 1e-6;        // relative gap from which w is made anew at checks
constexpr double kDriftShare = 0.01;   // drift, as a share of the gap, at which it is too
constexpr double kNoise = 1e-20;       // |step|^2 / |w|^2 at which a step is rounding
constexpr double kAmplified = 100;     // sum of a step's multiples from which they are not trusted
constexpr std::int64_t kBlock = 1024;  // features handled together in vector work

constexpr double kNearMargin = 1.1;    // negatives this far below the threshold may lose
constexpr double kRectViolation = 0.05;

template <class Loss, class Negatives>
class PushDescent final : public DualDescent, private PushState {
 public:
  PushDescent(std::unique_ptr<RowReader> x, std::unique_ptr<PushSweep> sweep, PushProblem problem)
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
    if (Loss::start(1) > 0) {
      double sum = 0;
      for (std::int64_t i = 0; i < m_; ++i) sum += y_[i] = Loss::start(weight_[i]);
      for (std::int64_t j = m_; j < n_; ++j) y_[j] = sum * weight_[j];
      weights_from_duals();
    }
    reset_steps();
  }

  void restart(const double* duals, double bias) override {
    std::copy(duals, duals + n_, y_.begin());
    for (std::int64_t i = 0; i < m_; ++i) y_[i] = Loss::inside(y_[i], weight_[i]);
    for (std::int64_t j = m_; j < n_; ++j) y_[j] = Negatives::inside(y_[j], weight_[j]);
    bias_ = bias;
    weights_from_duals();
    reset_steps();
  }

  double epoch(double shrink) override {
    shuffle_(active_.data(), n_active_);
    double* seen = checked_ ? nullptr : score_.data();  // until a check knows better
    return sweep_->run(*this, active_.data(), n_active_, shrink, seen);
  }

  void sweep_hard(int times) override {
    hard_.clear();
    for (std::int64_t k = 0; k < n_active_; ++k)
      if (is_hard(active_[k])) hard_.push_back(active_[k]);
    auto count = size(hard_);
    for (int t = 0; t < times; ++t) {
      if (t > 0) shuffle_(hard_.data(), count);
      sweep_->run(*this, hard_.data(), count, kInfinity, nullptr);
    }
  }

  std::int64_t hard_entries() const override {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < n_active_; ++k)
      if (is_hard(active_[k])) sum += x_->entries(rows_[active_[k]]);
    return sum;
  }

  void subspace_step() override;

  void update_bias(double largest_step) override {
    if (std::abs(rho_ * excess_) >= kBiasShare * largest_step) bias_ += rho_ * excess_;
  }

  DualCheck check(int n_threads) override {
    // Near the optimum the subspace steps are differences of almost equal vectors, and w drifts
    // from what the duals say.
    checked_ = true;
    const double gap = best_primal_ - best_dual_;
    if (gap < kDrift * best_primal_) realign();
    look(n_threads);
    // w'(X'y) = (X w)'y: a look at the drift along w, where it matters most, for no product.
    const double along = alpha_ * dot(w_.data(), w_.data(), size(w_)) -
                         dot(score_.data(), y_.data(), m_) +
                         dot(score_.data() + m_, y_.data() + m_, n_ - m_);
    if (std::abs(along) > kDriftShare * gap) {
      realign();
      look(n_threads);
    }
    const double top = max(score_.data() + m_, n_ - m_);
    improve_primal();
    improve_dual();
    const double violation = Negatives::lossless ? std::max(top + bias_, 0.0) : kRectViolation;
    return {best_primal_, best_dual_, violation};
  }

  double verify() override {
    realign();
    trial_ = y_best_;
    best_dual_ = -dual_objective(image(trial_));
    return best_dual_;
  }

  void rebuild(double violation) override {
    n_active_ = 0;
    // An upper bound on new rows matters at small alpha: most of a generous list stays at zero.
    auto enlist = [&](std::int64_t begin, std::int64_t end, double sign, double reach) {
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
    };
    auto enlist_all = [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) active_[n_active_++] = i;
    };
    if (Loss::quadratic) enlist(0, m_, -1, bias_ - 1 - 2 * violation);
    else enlist_all(0, m_);
    if (Negatives::shrinks)
      enlist(m_, n_, 1, -bias_ - (Negatives::lossless ? 2 * violation : kNearMargin));
    else enlist_all(m_, n_);
    retarget();
  }

  std::int64_t entries_read() const override { return entries_read_; }
  double bias() const override { return bias_; }
  const std::vector<double>& best_weights() const override { return w_best_; }
  const std::vector<double>& best_duals() const override { return y_best_; }
  const std::vector<double>& duals() const override { return y_; }

 private:
  template <class V>
  static std::int64_t size(const V& v) { return static_cast<std::int64_t>(v.size()); }
  std::int64_t total() const { return x_->planned_entries(n_); }
  bool is_hard(std::int64_t i) const {
    return i >= m_ && (Negatives::lossless || y_[i] >= Negatives::cap(weight_[i]));
  }

  // The scores of all rows.
  void look(int n_threads) {
    x_->scores(w_.data(), rows_.data(), n_, score_.data(), n_threads);
    entries_read_ += total();
  }
  double read(std::int64_t i) {
    const auto entries = x_->entries(rows_[i]);
    entries_read_ += entries;
    poll_(entries);
    return x_->dot(rows_[i], w_.data());
  }
  void add(std::int64_t i, double c, double* out) {
    entries_read_ += x_->entries(rows_[i]);
    x_->add(rows_[i], c, out);
  }
  double imbalance(const std::vector<double>& y, std::int64_t m) const {
    return sum(y.data(), m) - sum(y.data() + m, size(y) - m);
  }
  void weights_from_duals() {
    w_ = image(y_);
    excess_ = imbalance(y_, m_);
  }

  // w from duals, afresh.
  std::vector<double> image(const std::vector<double>& y) {
    std::vector<double> w(w_.size());
    for (std::int64_t i = 0; i < n_; ++i) {
      if (y[i] == 0) continue;
      poll_(x_->entries(rows_[i]));
      add(i, sign(i) * y[i] / alpha_, w.data());
    }
    return w;
  }

  // f at the duals in trial_, whose image is w.
  double dual_objective(const std::vector<double>& w) const {
    double f = 0.5 * alpha_ * dot(w.data(), w.data(), size(w));
    for (std::int64_t i = 0; i < m_; ++i) f += Loss::dual(trial_[i], weight_[i]);
    if (!Negatives::lossless)
      for (auto j = m_; j < n_; ++j) f += Negatives::dual(trial_[j], weight_[j]);
    return f;
  }

  // Makes w what the duals say.
  void realign() {
    weights_from_duals();
    w_before_ = w_;
    for (std::int64_t t = 0; t < size(target_); ++t) y_before_[t] = y_[target_[t]];
  }

  struct Rise {
    double value, error, level;  // level: P(w) itself
  };

  Rise rise_on_line(double theta, double quadratic, double b) const;
  double bias_on_line(double theta, double of_current) const;
  double best_bias(const std::vector<double>& score, double start) const;
  void improve_primal();
  void improve_dual();

  void reset_steps() {
    target_.resize(static_cast<std::size_t>(n_));
    std::iota(target_.begin(), target_.end(), 0);
    m_target_ = m_;
    y_before_ = y_;
    w_before_ = w_;
    n_steps_ = head_ = 0;
  }

  // The index set on which steps are stored: the list, and every row a stored step moved.
  void retarget() {
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

  struct Step {  // the total change of one round: sweeps and subspace correction together
    std::vector<double> y, w;
    double excess = 0;
  };

  const std::unique_ptr<RowReader> x_;
  const std::unique_ptr<PushSweep> sweep_;
  Shuffler shuffle_;
  std::vector<double> w_best_, w_trial_, y_best_, trial_, score_, score_best_, candidates_;
  std::vector<std::int64_t> active_, hard_;
  std::int64_t n_active_ = 0;
  bool checked_ = false;
  double bias_best_ = 0, best_rise_ = 0, best_dual_ = 0;
  double best_primal_ = Loss::at_zero + Negatives::at_zero;

  std::array<Step, kSteps> steps_;
  int n_steps_ = 0, head_ = 0;
  double step_gram_[kSteps][kSteps] = {};  // alpha dw_k . dw_l
  static constexpr std::int64_t kAbsent = -2, kNew = -1;
  std::vector<std::int64_t> target_, place_;
  std::int64_t m_target_ = 0;
  std::vector<double> y_before_, w_before_, y_now_, slope_, curve_, shift_, w_shift_, spare_;
};

#include "bounds.ipp"
#include "subspace_step.ipp"

}  // namespace

std::unique_ptr<DualDescent> make_dual_descent(std::unique_ptr<RowReader> x,
                                               std::unique_ptr<PushSweep> sweep,
                                               PushProblem problem) {
  return with_surrogate(
      problem.loss, problem.rectified, [&]<class Loss, class Negatives>(Loss, Negatives) {
        return std::unique_ptr<DualDescent>(std::make_unique<PushDescent<Loss, Negatives>>(
            std::move(x), std::move(sweep), std::move(problem)));
      });
}

}  // namespace toprank
