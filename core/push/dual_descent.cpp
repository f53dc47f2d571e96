// The methods of DualDescent for one loss; see dual_descent.hpp.
#include "push/dual_descent.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "push/listed_descent.hpp"
#include "support/vectors.hpp"

namespace toprank {
namespace {

constexpr double kDrift = 1e-6;        // relative gap from which w is made anew at checks
constexpr double kDriftShare = 0.01;   // drift, as a share of the gap, at which it is too
constexpr double kNoise = 1e-20;       // |step|^2 / |w|^2 at which a step is rounding
constexpr double kAmplified = 100;     // sum of a step's multiples from which they are not trusted
constexpr int kLineLooks = 13;         // at the slope along a subspace step
constexpr std::int64_t kBlock = 1024;  // features handled together in vector work

constexpr double kBiasTolerance = 1e-9;  // of a threshold

constexpr double kFlat = 1e-6;         // |x|^2 / alpha, beside rho, of a row that cannot be lowered

constexpr double kNearMargin = 1.1;    // negatives this far below the threshold may lose
constexpr double kRectViolation = 0.05;

template <class Loss, class Negatives>
class PushDescent final : public ListedDescent {
 public:
  PushDescent(std::unique_ptr<RowReader> x, std::unique_ptr<PushSweep> sweep, PushProblem problem,
              Negatives negatives)
      : ListedDescent(std::move(x), std::move(sweep), std::move(problem)), negatives_(negatives) {
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
    for (std::int64_t j = m_; j < n_; ++j) y_[j] = negatives_.inside(y_[j], weight_[j]);
    bias_ = bias;
    weights_from_duals();
    reset_steps();
  }

  void sweep_hard(int times) override {
    hard_.clear();
    if (!Negatives::ceiling) return;
    for (std::int64_t k = 0; k < n_active_; ++k)
      if (is_hard(active_[k])) hard_.push_back(active_[k]);
    sweep_listed(hard_, times);
  }

  std::int64_t hard_entries() const override {
    std::int64_t sum = 0;
    if (!Negatives::ceiling) return sum;
    for (std::int64_t k = 0; k < n_active_; ++k)
      if (is_hard(active_[k])) sum += x_->entries(rows_[active_[k]]);
    return sum;
  }

  void settle() override;
  void subspace_step() override;

  DualCheck check(int n_threads) override {
    // Near the optimum the subspace steps are differences of almost equal vectors, and w drifts
    // from what the duals say.
    checked_ = true;
    const double gap = best_primal_ - best_dual_;
    if (gap < kDrift * best_primal_) realign();
    double top = level();
    look(n_threads);
    // u'(X'y) = (X u)'y: a look at the drift along w, where it matters most, for no product.
    const double along = alpha_ * dot(w_.data(), level_.data(), size(w_)) -
                         dot(score_.data(), y_.data(), m_) +
                         dot(score_.data() + m_, y_.data() + m_, n_ - m_);
    if (std::abs(along) > kDriftShare * gap) {
      realign();
      top = level();
      look(n_threads);
    }
    top = std::max(top, max(score_.data() + m_, n_ - m_));
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
    if (Loss::quadratic) enlist(0, m_, -1, bias_ - 1 - 2 * violation);
    else enlist_all(0, m_);
    if (Negatives::shrinks)
      enlist(m_, n_, 1, -bias_ - (Negatives::lossless ? 2 * violation : kNearMargin));
    else enlist_all(m_, n_);
    retarget();
  }

 private:
  bool is_hard(std::int64_t i) const {
    return Negatives::ceiling && i >= m_ &&
           (Negatives::lossless || y_[i] >= negatives_.cap(weight_[i]));
  }

  // f at the duals in trial_, whose image is w.
  double dual_objective(const std::vector<double>& w) const {
    double f = 0.5 * alpha_ * dot(w.data(), w.data(), size(w));
    for (std::int64_t i = 0; i < m_; ++i) f += Loss::dual(trial_[i], weight_[i]);
    if (!Negatives::lossless)
      for (auto j = m_; j < n_; ++j) f += negatives_.dual(trial_[j], weight_[j]);
    return f;
  }

  struct Rise {
    double value, error, level;  // level: P(w) itself
  };

  Rise rise_on_line(double theta, double quadratic, double b) const;
  double bias_on_line(double theta, double of_current) const;
  double best_bias(const std::vector<double>& score, double start) const;
  void improve_primal();
  void improve_dual();
  double scaled_dual();
  double level();
  Box piece_of(double y, double weight) const;

  const Negatives negatives_;
  double best_primal_ = Loss::at_zero + Negatives::at_zero;
};

#include "push/descent_bounds.ipp"
#include "push/restless_rows.ipp"
#include "push/subspace_step.ipp"

}  // namespace

std::unique_ptr<DualDescent> make_dual_descent(std::unique_ptr<RowReader> x,
                                               std::unique_ptr<PushSweep> sweep,
                                               PushProblem problem) {
  return with_surrogate(
      problem.loss, problem.negatives, [&]<class Loss, class Negatives>(Loss, Negatives negatives) {
        return std::unique_ptr<DualDescent>(std::make_unique<PushDescent<Loss, Negatives>>(
            std::move(x), std::move(sweep), std::move(problem), negatives));
      });
}

}  // namespace toprank
