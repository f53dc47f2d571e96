// PushSweep over one view of the matrix and one loss; see push_sweep.hpp.
#include <algorithm>
#include <cmath>

#include "push/push_sweep.hpp"

namespace toprank {
namespace {

constexpr std::int64_t kAhead = 2;  // rows prefetched ahead

template <class T>
void add(const DenseRows<T>& x, std::int64_t row, double c, double* out) {
  x.add(row, c, out);
}

// Never inlined: the sweep has no registers left for it.
template <class T>
[[gnu::noinline]] void add(const SparseRows<T>& x, std::int64_t row, double c, double* out) {
  x.add(row, c, out);
}

template <class Rows, class Loss, class Negatives>
class SweepOver final : public PushSweep {
 public:
  SweepOver(const Rows& x, Negatives negatives) : x_(x), negatives_(negatives) {}

  double run(PushState& state, std::int64_t* list, std::int64_t& count, double shrink,
             double* seen) const override {
    double largest = 0;
    for (std::int64_t k = 0; k < count;) {
      const auto i = list[k], row = state.rows_[i];
      look_ahead(state, list + k, count - k);
      const auto entries = x_.entries(row);
      state.entries_read_ += entries;
      state.poll_(entries);
      const double v = x_.dot(row, state.w_.data()) + state.bias_;
      const double a = state.y_[i], stiff = state.stiffness_[i];
      if (seen != nullptr) seen[i] = v - state.bias_;
      if (a <= 0 && gradient_at_zero(state, i, v) > shrink) {
        std::swap(list[k], list[--count]);
        continue;
      }
      const double next = solve(state, i, a, v, stiff);
      if (const double by = state.sign(i) * (next - a); by != 0) {
        state.y_[i] = next;
        state.bias_ += state.rho_ * by;
        state.excess_ += by;
        state.entries_read_ += entries;
        add(x_, row, by / state.alpha_, state.w_.data());
      }
      largest = std::max(largest, std::abs(next - a) * stiff);
      ++k;
    }
    return largest;
  }

 private:
  double gradient_at_zero(const PushState& state, std::int64_t i, double v) const {
    if (i >= state.m_)
      return Negatives::shrinks ? -v + negatives_.slope(0, state.weight_[i]) : -kInfinity;
    return Loss::quadratic ? v + Loss::slope(0, state.weight_[i]) : -kInfinity;
  }
  // One coordinate step: the best dual of row i, all others staying what they are.
  double solve(const PushState& state, std::int64_t i, double a, double v, double stiff) const {
    return i < state.m_ ? Loss::solve(a, v, stiff, state.weight_[i])
                        : negatives_.solve(a, -v, stiff, state.weight_[i]);
  }

  // Rows are visited in random order, and with millions of them not even their numbers are in
  // cache: what a row needs is fetched in three stages, each ready when the next asks for it.
  void look_ahead(const PushState& state, const std::int64_t* list, std::int64_t left) const {
    if (3 * kAhead < left) ask_for(&state.rows_[list[3 * kAhead]]);
    if (2 * kAhead < left) {
      const auto i = list[2 * kAhead];
      ask_for(&state.y_[i]);
      ask_for(&state.stiffness_[i]);
      x_.prefetch_place(state.rows_[i]);
    }
    if (kAhead < left) x_.prefetch(state.rows_[list[kAhead]]);
  }

  Rows x_;
  Negatives negatives_;
};

}  // namespace

template <class Rows>
std::unique_ptr<PushSweep> make_push_sweep(const Rows& x, Surrogate loss, NegativeSide side) {
  return with_surrogate(loss, side, [&]<class Loss, class Negatives>(Loss, Negatives negatives) {
    return std::unique_ptr<PushSweep>(
        std::make_unique<SweepOver<Rows, Loss, Negatives>>(x, negatives));
  });
}

}  // namespace toprank
