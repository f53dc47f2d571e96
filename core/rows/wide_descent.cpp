#include "rows/wide_descent.hpp"

#include <algorithm>
#include <cmath>

#include "support/random.hpp"

namespace toprank {
namespace {

// What the penalty of unequal sums of duals is, beside a row's |x|^2.
constexpr double kPenalty = 0.2;
// A step of which this is left is whole.
constexpr double kWhole = 0.5;
// What a guard against a kink counts after one.
constexpr float kFaded = 0.25F;

template <class A>
class DescentOf : public WideDescent {
 public:
  DescentOf(std::unique_ptr<WideRows<A>> rows, const WideAsk& ask)
      : rows_(std::move(rows)),
        ask_(ask),
        line_(rows_->n_rows(), ask.tilt, ask.loss, ask.free_bias, ask.n_threads),
        squares_(static_cast<std::size_t>(rows_->n_rows())) {
    rows_->squares(squares_.data(), ask.n_threads);
    double total = 0, weight = 0;
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      const double c = std::abs(ask.tilt[i]);
      total += c * squares_[i];
      weight += c;
    }
    if (total > 0) typical = total / weight;
  }

  bool begin(const double* w, double from) override {
    if (w == nullptr) std::fill(line_.scores.begin(), line_.scores.end(), A(0));
    else score(w, line_.scores.data());
    b = from;
    return line_.settle(0.0, b, sums);
  }

  bool place(const double* scores, double from) override {
    std::copy_n(scores, line_.scores.size(), line_.scores.begin());
    b = from;
    return line_.settle(0.0, b, sums);
  }

  bool sweep(SweepAsk ask, double* w, double* slopes, Swept& swept) const override {
    if (!rows_->sweeps()) return false;
    ask.tilt = ask_.tilt;
    ask.squares = squares_.data();
    ask.loss = ask_.loss;
    ask.feature = ask_.free_bias ? kPenalty * typical : 0.0;
    swept = rows_->sweep(ask, w, slopes);
    return true;
  }

  void pull(double* out) const override { rows_->pull(line_.slope.data(), out, ask_.n_threads); }

  std::int64_t thin(double tau, double least, std::uint64_t seed) override {
    const auto n = squares_.size();
    const double share = 0.5, own = 0.5 * typical;
    std::vector<A> measure(n);
    double total = 0;
    std::vector<A> bent = line_.curvature;
    for (std::size_t i = 0; i < guards_.size(); ++i) bent[i] = std::max(bent[i], guards_[i]);
    for (std::size_t i = 0; i < n; ++i) {
      const double m = static_cast<double>(bent[i]) * (share * squares_[i] + own);
      measure[i] = static_cast<A>(m);
      total += m;
    }
    thin_.rows.clear();
    thin_.weight.clear();
    tau = std::max(std::min(tau, total / least), 1e-300);
    SystematicSample sample(Random(seed).uniform());
    for (std::size_t i = 0; i < n; ++i) {
      const double chance = static_cast<double>(measure[i]) / tau;
      if (!sample.keeps(chance)) continue;
      thin_.rows.push_back(static_cast<std::int64_t>(i));
      thin_.weight.push_back(
          static_cast<A>(static_cast<double>(bent[i]) / std::min(chance, 1.0)));
    }
    rows_->copy(thin_);
    thinned_entries = thin_.n_entries();
    return static_cast<std::int64_t>(thin_.rows.size());
  }

  Stepped step(const double* gradient, StepAsk ask, double* out) const override {
    ask.free_bias = ask_.free_bias;
    ask.n_threads = ask_.n_threads;
    return newton_step(thin_, rows_->n_cols(), gradient, ask, out);
  }

  double advance(const double* step, double linear, double square, double slope,
                 double share) override {
    score(step, line_.steps.data());
    const double turn = ask_.free_bias ? step[rows_->n_cols()] : 0.0;
    const double from = b;
    const double theta = line_.search(linear, square, slope, share, b, turn, sums);
    if (kinked()) guard(theta, from + turn);
    line_.move(theta);
    return theta;
  }

 private:
  bool kinked() const {
    const auto& [up, down] = ask_.loss;
    return up.kind == RowKind::squared_hinge || down.kind == RowKind::squared_hinge;
  }

  // Rows that a whole step would have brought back count from now on; less so after whole steps.
  void guard(double theta, double whole_b) {
    if (theta >= kWhole) {
      for (A& one : guards_) one *= kFaded;
      return;
    }
    guards_.resize(line_.curvature.size());
    LineSums whole;
    line_.look(1.0, whole_b, whole);
    for (std::size_t i = 0; i < guards_.size(); ++i)
      guards_[i] = std::max(guards_[i], line_.curvature[i]);
    line_.look(theta, b, sums);
  }

  void score(const double* w, A* out) const {
    const std::vector<A> own(w, w + rows_->n_cols());
    rows_->scores(own.data(), out, ask_.n_threads);
  }

  std::unique_ptr<WideRows<A>> rows_;
  WideAsk ask_;
  ScoreLine<A> line_;
  std::vector<double> squares_;
  ThinCopy<A> thin_;
  std::vector<A> guards_;  // curvatures of rows near a kink
};

}  // namespace

template <class A>
std::unique_ptr<WideDescent> wide_descent(std::unique_ptr<WideRows<A>> rows, const WideAsk& ask) {
  return std::make_unique<DescentOf<A>>(std::move(rows), ask);
}

template std::unique_ptr<WideDescent> wide_descent(std::unique_ptr<WideRows<float>>, const WideAsk&);
template std::unique_ptr<WideDescent> wide_descent(std::unique_ptr<WideRows<double>>, const WideAsk&);

}  // namespace toprank
