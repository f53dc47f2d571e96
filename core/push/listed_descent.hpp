// What of DualDescent no loss has a part in: rows and their images, the list of those that take
// part, the total steps of past rounds. Compiled once; see dual_descent.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "push/dual_descent.hpp"
#include "support/box_quadratic.hpp"
#include "support/random.hpp"
#include "support/small_system.hpp"

namespace toprank {

inline constexpr int kSteps = 3;  // directions of the subspace that a round searches

class ListedDescent : public DualDescent, protected PushState {
 public:
  ~ListedDescent() override;

  double epoch(double shrink) override;
  void update_bias(double largest_step) override;

  std::int64_t entries_read() const override { return entries_read_; }
  double bias() const override { return bias_; }
  const std::vector<double>& best_weights() const override { return w_best_; }
  const std::vector<double>& best_duals() const override { return y_best_; }
  const std::vector<double>& duals() const override { return y_; }

 protected:
  ListedDescent(std::unique_ptr<RowReader> x, std::unique_ptr<PushSweep> sweep,
                PushProblem problem);

  template <class V>
  static std::int64_t size(const V& v) { return static_cast<std::int64_t>(v.size()); }

  // The scores of all rows at the levelled weights.
  void look(int n_threads);
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
  // How far the sum of the first m is above that of the others.
  static double imbalance(const std::vector<double>& y, std::int64_t m);
  // w from duals, afresh.
  std::vector<double> image(const std::vector<double>& y);
  void weights_from_duals();
  // Makes w what the duals say.
  void realign();

  // Lists rows whose dual is positive, and of the others those with sign * score > reach; not too
  // many of them, for at small alpha most of a generous list stays at zero.
  void enlist(std::int64_t begin, std::int64_t end, double sign, double reach);
  void enlist_all(std::int64_t begin, std::int64_t end);
  // One pass after the other over rows listed apart.
  void sweep_listed(std::vector<std::int64_t>& list, int times);

  void reset_steps();
  // The index set on which steps are stored: the list, and every row a stored step moved.
  void retarget();

  struct Step {  // the total change of one round: sweeps and subspace correction together
    std::vector<double> y, w;
    double excess = 0;
  };

  const std::unique_ptr<RowReader> x_;
  const std::unique_ptr<PushSweep> sweep_;
  Shuffler shuffle_;
  std::vector<double> w_best_, w_trial_, level_, y_best_, trial_, score_, score_best_;
  std::vector<std::int64_t> active_, hard_;
  std::int64_t n_active_ = 0;
  bool checked_ = false;
  double bias_best_ = 0, best_rise_ = 0, best_dual_ = 0;

  std::array<Step, kSteps> steps_;
  int n_steps_ = 0, head_ = 0;
  double step_gram_[kSteps][kSteps] = {};  // alpha dw_k . dw_l
  std::vector<std::int64_t> target_;
  std::int64_t m_target_ = 0;
  // How far, in score units, and who; in float, so that duplicates tie whatever the rounding.
  std::vector<std::pair<float, std::int64_t>> movers_;
  std::vector<double> spread_;  // one row among zeros
  BoxQuadratic few_;
  std::vector<double> y_before_, w_before_, y_now_, slope_, curve_, shift_, w_shift_;

 private:
  std::int64_t total() const { return x_->planned_entries(n_); }

  static constexpr std::int64_t kAbsent = -2, kNew = -1;
  std::vector<std::int64_t> place_;
  std::vector<double> candidates_, spare_;
};

}  // namespace toprank
