// The methods of DualDescent over one view of the matrix and one loss; see dual_descent.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "dual_descent.hpp"
#include "interrupt.hpp"
#include "products.hpp"
#include "surrogates.hpp"
#include "vectors.hpp"

namespace toprank {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kSteps = 3;              // directions of the subspace
constexpr double kPenalty = 0.05;      // rho, in units of mean |x|^2 / alpha
constexpr double kBiasShare = 0.2;     // when the multiplier moves
constexpr double kListGrowth = 0.3;    // new rows of a list, per row with a positive dual
constexpr double kDrift = 1e-6;        // relative gap from which w is made anew at checks
constexpr std::int64_t kAhead = 3;     // rows prefetched ahead
constexpr std::int64_t kBlock = 1024;  // features handled together in vector work

class Shuffler {
 public:
  explicit Shuffler(std::uint64_t seed) : state_(seed * 7919 + 88172645463325252ULL) {}
  void operator()(std::int64_t* list, std::int64_t size) {
    for (auto k = size - 1; k > 0; --k) std::swap(list[k], list[below(k + 1)]);
  }

 private:
  std::int64_t below(std::int64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(state_) * n) >> 64);
  }
  std::uint64_t state_;
};

template <class Rows, class Loss>
class TopDescent final : public DualDescent {
 public:
  TopDescent(const Rows& x, TopProblem problem)
      : x_(x),
        rows_(std::move(problem.rows)),
        p_(std::move(problem.weight)),
        alpha_(problem.alpha),
        n_(size(rows_)),
        m_(size(p_)),
        shuffle_(problem.seed),
        w_(make(x.n_cols)),
        w_best_(make(x.n_cols)),
        y_(make(n_)),
        y_best_(make(n_)),
        score_(make(n_)),
        score_best_(make(n_)),
        active_(static_cast<std::size_t>(n_)),
        norm_(make(n_)) {
    for (std::int64_t i = 0; i < n_; ++i) norm_[i] = x_.squared_norm(rows_[i]);
    entries_read_ += total();
    const double mean = std::accumulate(norm_.begin(), norm_.end(), 0.0) / static_cast<double>(n_);
    rho_ = kPenalty * (mean > 0 ? mean : 1) / alpha_;
    best_primal_ = Loss::value(0);
    std::iota(active_.begin(), active_.end(), 0);
    n_active_ = n_;
    if (Loss::start(1) > 0) {
      double sum = 0;
      for (std::int64_t i = 0; i < m_; ++i) sum += y_[i] = Loss::start(p_[i]);
      for (std::int64_t j = m_; j < n_; ++j) y_[j] = sum / static_cast<double>(n_ - m_);
      weights_from_duals();
    }
    reset_steps();
  }

  void restart(const double* duals, double bias) override {
    std::copy(duals, duals + n_, y_.begin());
    for (std::int64_t i = 0; i < m_; ++i) y_[i] = Loss::inside(y_[i], p_[i]);
    bias_ = bias;
    weights_from_duals();
    reset_steps();
  }

  double epoch(double shrink) override {
    shuffle_(active_.data(), n_active_);
    double largest = 0;
    for (std::int64_t k = 0; k < n_active_;) {
      const auto i = active_[k];
      if (k + kAhead < n_active_) x_.prefetch(rows_[active_[k + kAhead]]);
      const double v = read(i) + bias_, a = y_[i], stiff = stiffness(i);
      score_[i] = v - bias_;
      if (a <= 0 && gradient_at_zero(i, v) > shrink) {
        std::swap(active_[k], active_[--n_active_]);
        continue;
      }
      const double next = i < m_ ? Loss::solve(a, v, stiff, p_[i]) : std::max(a + v / stiff, 0.0);
      move(i, next);
      largest = std::max(largest, std::abs(next - a) * stiff);
      ++k;
    }
    return largest;
  }

  void sweep_hard(int times) override {
    hard_.clear();
    for (std::int64_t k = 0; k < n_active_; ++k)
      if (active_[k] >= m_) hard_.push_back(active_[k]);
    const auto count = size(hard_);
    for (int t = 0; t < times; ++t) {
      if (t > 0) shuffle_(hard_.data(), count);
      for (std::int64_t k = 0; k < count; ++k) {
        if (k + kAhead < count) x_.prefetch(rows_[hard_[k + kAhead]]);
        const auto j = hard_[k];
        move(j, std::max(y_[j] + (read(j) + bias_) / stiffness(j), 0.0));
      }
    }
  }

  std::int64_t hard_entries() const override {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < n_active_; ++k)
      if (active_[k] >= m_) sum += x_.entries(rows_[active_[k]]);
    return sum;
  }

  void subspace_step() override;

  void update_bias(double largest_step) override {
    if (std::abs(rho_ * excess_) >= kBiasShare * largest_step) bias_ += rho_ * excess_;
  }

  DualCheck check(int n_threads) override {
    // Near the optimum the subspace steps are differences of almost equal vectors, and w drifts
    // from what the duals say.
    if (best_primal_ - best_dual_ < kDrift * best_primal_) {
      weights_from_duals();
      w_before_ = w_;
      for (std::int64_t t = 0; t < size(target_); ++t) y_before_[t] = y_[target_[t]];
    }
    const Subset all{rows_.data(), n_};
    scores(x_, w_.data(), all, score_.data(), n_threads);
    entries_read_ += total();
    const double top = max(score_.data() + m_, n_ - m_);
    improve_primal();
    improve_dual();
    return {best_primal_, best_dual_, std::max(top + bias_, 0.0)};
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
      if (size(candidates_) > limit) {
        std::nth_element(candidates_.begin(), candidates_.begin() + limit, candidates_.end(),
                         std::greater<>());
        reach = candidates_[limit];
      }
      for (auto i = begin; i < end; ++i)
        if (y_[i] > 0 || sign * score_[i] > reach) active_[n_active_++] = i;
    };
    if (Loss::quadratic)
      enlist(0, m_, -1, bias_ - 1 - 2 * violation);
    else
      for (; n_active_ < m_; ++n_active_) active_[n_active_] = n_active_;
    enlist(m_, n_, 1, -bias_ - 2 * violation);
    retarget();
  }

  std::int64_t entries_read() const override { return entries_read_; }
  double bias() const override { return bias_; }
  const std::vector<double>& best_weights() const override { return w_best_; }
  const std::vector<double>& best_duals() const override { return y_best_; }
  const std::vector<double>& duals() const override { return y_; }

 private:
  static std::vector<double> make(std::int64_t n) {
    return std::vector<double>(static_cast<std::size_t>(n));
  }
  template <class V>
  static std::int64_t size(const V& v) { return static_cast<std::int64_t>(v.size()); }
  std::int64_t total() const { return planned_entries(x_, n_); }
  double sign(std::int64_t i) const { return i < m_ ? 1 : -1; }
  double stiffness(std::int64_t i) const { return norm_[i] / alpha_ + rho_; }
  double gradient_at_zero(std::int64_t i, double v) const {
    if (i >= m_) return -v;
    return Loss::quadratic ? v + Loss::slope(0, p_[i]) : -kInfinity;
  }

  double read(std::int64_t i) {
    const auto entries = x_.entries(rows_[i]);
    entries_read_ += entries;
    poll_(entries);
    return x_.dot(rows_[i], w_.data());
  }
  void add(std::int64_t i, double c, double* out) {
    entries_read_ += x_.entries(rows_[i]);
    x_.add(rows_[i], c, out);
  }
  void move(std::int64_t i, double next) {
    const double by = sign(i) * (next - y_[i]);
    if (by == 0) return;
    y_[i] = next;
    bias_ += rho_ * by;
    excess_ += by;
    add(i, by / alpha_, w_.data());
  }
  double imbalance(const std::vector<double>& y, std::int64_t m) const {
    return sum(y.data(), m) - sum(y.data() + m, size(y) - m);
  }
  void weights_from_duals() {
    std::fill(w_.begin(), w_.end(), 0.0);
    for (std::int64_t i = 0; i < n_; ++i)
      if (y_[i] != 0) add(i, sign(i) * y_[i] / alpha_, w_.data());
    excess_ = imbalance(y_, m_);
  }

  // P(w) from scores, on the line best + theta (current - best).
  double primal_on_line(double theta, double quadratic) const {
    const double* b = score_best_.data();
    const double* c = score_.data();
    double top = -kInfinity;
#pragma omp simd reduction(max : top)
    for (std::int64_t j = m_; j < n_; ++j) top = std::max(top, b[j] + theta * (c[j] - b[j]));
    double loss = 0;
    for (std::int64_t i = 0; i < m_; ++i)
      loss += p_[i] * Loss::value(top - b[i] - theta * (c[i] - b[i]));
    return 0.5 * alpha_ * quadratic + loss;
  }

  void improve_primal() {
    const auto d = x_.n_cols;
    const double bb = dot(w_best_.data(), w_best_.data(), d), bw = dot(w_best_.data(), w_.data(), d),
                 ww = dot(w_.data(), w_.data(), d);
    auto value = [&](double t) {
      const double p = primal_on_line(t, (1 - t) * (1 - t) * bb + 2 * t * (1 - t) * bw + t * t * ww);
      return std::isfinite(p) ? p : kInfinity;
    };
    constexpr double golden = 0.6180339887498949;
    double low = 0, high = 1.5, t1 = high - golden * (high - low), t2 = low + golden * (high - low);
    double p1 = value(t1), p2 = value(t2);
    for (int step = 0; step < 6; ++step) {
      if (p1 < p2) {
        high = t2, t2 = t1, p2 = p1;
        t1 = high - golden * (high - low), p1 = value(t1);
      } else {
        low = t1, t1 = t2, p1 = p2;
        t2 = low + golden * (high - low), p2 = value(t2);
      }
    }
    double theta = p1 < p2 ? t1 : t2, primal = std::min(p1, p2);
    if (const double here = value(1); here < primal) theta = 1, primal = here;
    if (!(primal < best_primal_)) return;
    best_primal_ = primal;
    mix(w_best_.data(), w_.data(), theta, d);
    mix(score_best_.data(), score_.data(), theta, n_);
  }

  // Makes the sums of the duals equal: what the negatives lack goes to the highest of them,
  // what they have too much is scaled away.
  void improve_dual() {
    const double a = sum(y_.data(), m_), delta = sum(y_.data() + m_, n_ - m_);
    excess_ = a - delta;
    if (!(a > 0)) return;
    trial_ = y_;
    w_trial_ = w_;
    if (excess_ > 0) {
      const auto top = std::max_element(score_.begin() + m_, score_.end()) - score_.begin();
      trial_[top] += excess_;
      add(top, -excess_ / alpha_, w_trial_.data());
    } else if (excess_ < 0) {
      const double share = excess_ / delta;
      for (auto j = m_; j < n_; ++j) {
        if (y_[j] == 0) continue;
        trial_[j] += share * y_[j];
        add(j, -share * y_[j] / alpha_, w_trial_.data());
      }
    }
    double quadratic = 0.5 * alpha_ * dot(w_trial_.data(), w_trial_.data(), x_.n_cols), scale = 1;
    double separable = 0;
    for (std::int64_t i = 0; i < m_; ++i) separable += Loss::dual(trial_[i], p_[i]);
    double dual = -quadratic - separable;
    if (Loss::quadratic) {  // the best multiple of this point: D = S^2 / (4 q)
      const double q = quadratic + separable + a;
      scale = a / (2 * q);
      dual = scale * a - scale * scale * q;
    }
    if (!(dual > best_dual_)) return;
    best_dual_ = dual;
    for (std::int64_t i = 0; i < n_; ++i) y_best_[i] = scale * trial_[i];
  }

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
    std::vector<char> wanted(static_cast<std::size_t>(n_), 0);
    for (std::int64_t k = 0; k < n_active_; ++k) wanted[active_[k]] = 1;
    for (std::int64_t t = 0; t < size(target_); ++t) {
      bool moved = y_before_[t] != y_[target_[t]];
      for (int k = 0; k < n_steps_; ++k) moved = moved || steps_[k].y[t] != 0;
      if (moved) wanted[target_[t]] = 1;
    }
    std::vector<std::int64_t> next;
    for (std::int64_t i = 0; i < n_; ++i)
      if (wanted[i]) next.push_back(i);
    auto carry = [&](std::vector<double>& values, std::vector<double> spread) {
      for (std::int64_t t = 0; t < size(target_); ++t) spread[target_[t]] = values[t];
      values.resize(next.size());
      for (std::size_t t = 0; t < next.size(); ++t) values[t] = spread[next[t]];
    };
    for (int k = 0; k < n_steps_; ++k) carry(steps_[k].y, make(n_));
    carry(y_before_, y_);
    target_ = std::move(next);
    m_target_ = std::lower_bound(target_.begin(), target_.end(), m_) - target_.begin();
  }

  struct Step {  // the total change of one round: sweeps and subspace correction together
    std::vector<double> y, w;
    double excess = 0;
  };

  const Rows x_;
  const std::vector<std::int64_t> rows_;
  const std::vector<double> p_;
  const double alpha_;
  const std::int64_t n_, m_;
  Shuffler shuffle_;
  Poll poll_;
  std::vector<double> w_, w_best_, w_trial_, y_, y_best_, trial_, score_, score_best_;
  std::vector<std::int64_t> active_, hard_;
  std::vector<double> norm_, candidates_;
  std::int64_t n_active_ = 0, entries_read_ = 0;
  double rho_ = 0, bias_ = 0, excess_ = 0, best_primal_ = 0, best_dual_ = 0;

  std::array<Step, kSteps> steps_;
  int n_steps_ = 0, head_ = 0;
  double step_gram_[kSteps][kSteps] = {};  // alpha dw_k . dw_l
  std::vector<std::int64_t> target_;
  std::int64_t m_target_ = 0;
  std::vector<double> y_before_, w_before_, y_now_, slope_, curve_, shift_, w_shift_;
};

// Solves G c = -g for the n <= kSteps steps; false where G is singular.
inline bool solve_small(int n, const double (&gram)[kSteps][kSteps], const double (&g)[kSteps],
                        double (&c)[kSteps]) {
  double a[kSteps][kSteps + 1], scale[kSteps];
  for (int k = 0; k < n; ++k) scale[k] = 1 / std::sqrt(std::max(gram[k][k], 1e-300));
  for (int k = 0; k < n; ++k) {
    for (int l = 0; l < n; ++l) a[k][l] = gram[k][l] * scale[k] * scale[l] + (k == l ? 1e-9 : 0);
    a[k][n] = -g[k] * scale[k];
  }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int r = k + 1; r < n; ++r)
      if (std::abs(a[r][k]) > std::abs(a[pivot][k])) pivot = r;
    if (!(std::abs(a[pivot][k]) > 1e-14)) return false;
    if (pivot != k) std::swap_ranges(a[k], a[k] + n + 1, a[pivot]);
    for (int r = 0; r < n; ++r) {
      if (r == k) continue;
      const double f = a[r][k] / a[k][k];
      for (int l = k; l <= n; ++l) a[r][l] -= f * a[k][l];
    }
  }
  for (int k = 0; k < n; ++k) c[k] = a[k][n] / a[k][k] * scale[k];
  return true;
}

template <class Rows, class Loss>
void TopDescent<Rows, Loss>::subspace_step() {
  const auto d = x_.n_cols, nt = size(target_), mt = m_target_;
  const double settled = bias_ - rho_ * excess_;
  auto& now = steps_[head_];
  n_steps_ = std::max(n_steps_, head_ + 1);
  now.y.resize(static_cast<std::size_t>(nt));
  now.w.resize(static_cast<std::size_t>(d));
  y_now_.resize(static_cast<std::size_t>(nt));
  slope_.resize(static_cast<std::size_t>(mt));
  curve_.resize(static_cast<std::size_t>(mt));
  for (std::int64_t t = 0; t < nt; ++t) {
    y_now_[t] = y_[target_[t]];
    now.y[t] = y_now_[t] - y_before_[t];
  }
  for (std::int64_t t = 0; t < mt; ++t) {
    slope_[t] = Loss::slope(y_now_[t], p_[target_[t]]);
    curve_[t] = Loss::curvature(y_now_[t], p_[target_[t]]);
  }
  now.excess = imbalance(now.y, mt);

  // The augmented Lagrangian on the span of the steps: gradient g and Gram matrix G. One sweep
  // over the features, block by block, serves every inner product.
  double g[kSteps] = {}, gram[kSteps][kSteps], c[kSteps] = {};
  auto refresh = [&](auto&& write) {
    double with_now[kSteps] = {};
    for (std::int64_t j = 0; j < d; j += kBlock) {
      const auto length = std::min(kBlock, d - j);
      write(j, length);
      for (int k = 0; k < n_steps_; ++k)
        with_now[k] += dot(&now.w[j], &steps_[k].w[j], length);
    }
    for (int k = 0; k < n_steps_; ++k)
      step_gram_[head_][k] = step_gram_[k][head_] = alpha_ * with_now[k];
  };
  refresh([&](std::int64_t j, std::int64_t length) {
    difference(&w_[j], &w_before_[j], &now.w[j], length);
    for (int k = 0; k < n_steps_; ++k) g[k] += alpha_ * dot(&w_[j], &steps_[k].w[j], length);
  });
  for (int k = 0; k < n_steps_; ++k) {
    const auto& step = steps_[k];
    g[k] += dot(slope_.data(), step.y.data(), mt) + bias_ * step.excess;
    for (int l = 0; l <= k; ++l)
      gram[k][l] = gram[l][k] = step_gram_[k][l] +
                                dot3(curve_.data(), step.y.data(), steps_[l].y.data(), mt) +
                                rho_ * step.excess * steps_[l].excess;
  }

  double theta = 0;
  if (solve_small(n_steps_, gram, g, c)) {
    shift_.assign(static_cast<std::size_t>(nt), 0.0);
    w_shift_.assign(static_cast<std::size_t>(d), 0.0);
    for (int k = 0; k < n_steps_; ++k) add_multiple(c[k], steps_[k].y.data(), shift_.data(), nt);
    for (std::int64_t j = 0; j < d; j += kBlock)
      for (int k = 0; k < n_steps_; ++k)
        add_multiple(c[k], &steps_[k].w[j], &w_shift_[j], std::min(kBlock, d - j));
    // Clip to the box: only clipped rows are touched. The line search below keeps it a descent.
    for (std::int64_t t = 0; t < nt; ++t) {
      const auto i = target_[t];
      const Box box = t < mt ? Loss::box(y_now_[t], p_[i]) : Box{0, kInfinity};
      const double wish = y_now_[t] + shift_[t], inside = std::clamp(wish, box.low, box.high);
      if (wish == inside) continue;
      add(i, sign(i) * (inside - wish) / alpha_, w_shift_.data());
      shift_[t] = inside - y_now_[t];
    }
    const double de = imbalance(shift_, mt), ww = dot(w_shift_.data(), w_shift_.data(), d),
                 wd = dot(w_shift_.data(), w_.data(), d);
    // phi'(t) along the clipped direction, and its slope.
    auto derivative = [&](double t) {
      Residual r{alpha_ * (wd + t * ww) + bias_ * de + rho_ * t * de * de,
                 alpha_ * ww + rho_ * de * de};
      for (std::int64_t k = 0; k < mt; ++k) {
        const double y = y_now_[k] + t * shift_[k], p = p_[target_[k]];
        r.f += shift_[k] * Loss::slope(y, p);
        r.slope += shift_[k] * shift_[k] * Loss::curvature(y, p);
      }
      return r;
    };
    const auto first = derivative(0);
    if (first.f < 0) {
      if (Loss::quadratic) {
        theta = std::min(1.0, -first.f / std::max(first.slope, 1e-300));
      } else {
        theta = 1;
        const double enough = 0.05 * -first.f;
        auto at = derivative(1);
        double low = 0, high = 1;
        for (int step = 0; at.f > enough || (step > 0 && at.f < -enough); ++step) {
          if (step == 12) break;
          (at.f > 0 ? high : low) = theta;
          const double next = theta - at.f / std::max(at.slope, 1e-300);
          theta = next > low && next < high ? next : 0.5 * (low + high);
          at = derivative(theta);
        }
      }
    }
  }
  if (theta > 1e-6) {
    for (std::int64_t t = 0; t < nt; ++t) {
      y_now_[t] = std::max(y_now_[t] + theta * shift_[t], 0.0);
      y_[target_[t]] = y_now_[t];
      now.y[t] = y_now_[t] - y_before_[t];
    }
    now.excess = imbalance(now.y, mt);
    excess_ += theta * imbalance(shift_, mt);
    bias_ = settled + rho_ * excess_;
    refresh([&](std::int64_t j, std::int64_t length) {
      add_multiple(theta, &w_shift_[j], &w_[j], length);
      add_multiple(theta, &w_shift_[j], &now.w[j], length);
    });
  }
  std::copy(y_now_.begin(), y_now_.end(), y_before_.begin());
  std::copy(w_.begin(), w_.end(), w_before_.begin());
  head_ = (head_ + 1) % kSteps;
}

}  // namespace

template <class Rows>
std::unique_ptr<DualDescent> make_dual_descent(const Rows& x, TopProblem problem) {
  switch (problem.loss) {
    case Surrogate::logistic:
      return std::make_unique<TopDescent<Rows, Logistic>>(x, std::move(problem));
    case Surrogate::exponential:
      return std::make_unique<TopDescent<Rows, Exponential>>(x, std::move(problem));
    default:
      return std::make_unique<TopDescent<Rows, SquaredHinge>>(x, std::move(problem));
  }
}

}  // namespace toprank
