#include "rows/score_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "matrix/products.hpp"
#include "support/root.hpp"

namespace toprank {
namespace {

constexpr int kBiasSteps = 61, kSearchSteps = 40;
// By this factor a search that has found no upper end goes on.
constexpr double kGrowth = 2;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What rounding may leave of a sum of slopes, and of a threshold.
template <class A>
inline constexpr double kRounding = std::is_same_v<A, float> ? 2e-7 : 1e-14;

}  // namespace

void LineSums::add(const LineSums& other) {
  value += other.value;
  up += other.up;
  down += other.down;
  up_bend += other.up_bend;
  down_bend += other.down_bend;
  rate += other.rate;
  mixed += other.mixed;
  bent += other.bent;
}

template <class A>
ScoreLine<A>::ScoreLine(std::int64_t n_rows, const double* tilt, const RowLoss& loss,
                        bool free_bias, int n_threads)
    : scores(static_cast<std::size_t>(n_rows)),
      steps(static_cast<std::size_t>(n_rows)),
      slope(static_cast<std::size_t>(n_rows)),
      curvature(static_cast<std::size_t>(n_rows)),
      n_rows_(n_rows),
      tilt_(tilt),
      loss_(loss),
      math_(row_math<A>(loss)),
      free_bias_(free_bias),
      n_threads_(n_threads) {}

template <class A>
LineSums ScoreLine<A>::at(double step, double b) {
  // A line is looked at many times: threads are worth starting for many scores only.
  const auto ranges = reduced_blocks(n_rows_, n_rows_, 8);
  std::vector<LineSums> parts(static_cast<std::size_t>(ranges.count));
  parallel_for(ranges.count, useful_threads(kEntriesOfRowLoss * n_rows_, n_threads_), [&](std::int64_t k) {
    LineSums& own = parts[static_cast<std::size_t>(k)];
    RowSums sums;
    A z[kMostRows] = {}, shift[kMostRows];
    const A theta = static_cast<A>(step), level = static_cast<A>(b);
    for (auto begin = ranges.begin(k); begin < ranges.end(k); begin += kMostRows) {
      const auto n = std::min(kMostRows, ranges.end(k) - begin);
      const A *s = scores.data() + begin, *ds = steps.data() + begin;
      A *v = slope.data() + begin, *c = curvature.data() + begin;
      const double* tilt = tilt_ + begin;
      if (step == 0) for (std::int64_t i = 0; i < n; ++i) z[i] = s[i] + level;
      else for (std::int64_t i = 0; i < n; ++i) z[i] = s[i] + (theta * ds[i] + level);
      math_(n, z, tilt, loss_, {v, c, shift}, sums);
      A up = 0, down = 0, up_bend = 0, all_bend = 0, rate = 0, mixed = 0, bent = 0;
#pragma omp simd reduction(+ : up, down, up_bend, all_bend, rate, mixed, bent)
      for (std::int64_t i = 0; i < n; ++i) {
        up += v[i] > 0 ? v[i] : A(0);
        down += v[i] < 0 ? -v[i] : A(0);
        up_bend += tilt[i] < 0 ? c[i] : A(0);
        all_bend += c[i];
        const A turned = c[i] * ds[i];
        rate += v[i] * ds[i];
        mixed += turned;
        bent += turned * ds[i];
      }
      own.up += static_cast<double>(up);
      own.down += static_cast<double>(down);
      own.up_bend += static_cast<double>(up_bend);
      own.down_bend += static_cast<double>(all_bend - up_bend);
      own.rate += static_cast<double>(rate);
      own.mixed += static_cast<double>(mixed);
      own.bent += static_cast<double>(bent);
    }
    own.value = sums.value;
  });
  LineSums all;
  for (const auto& one : parts) all.add(one);
  return all;
}

template <class A>
bool ScoreLine<A>::settle(double step, double& b, LineSums& sums) {
  auto look = [&](double at_b) {
    sums = at(step, b = at_b);
    const double slope = sums.slope();
    const bool flat = std::abs(slope) <= kRounding<A> * (sums.up + sums.down);
    if (!free_bias_ || flat) return Residual<double>{0, 1};
    // Newton's method on the logarithms of the two sums: for exponentials these are linear in b.
    double by = std::log(sums.down / sums.up) / (sums.up_bend / sums.up + sums.down_bend / sums.down);
    if (!std::isfinite(by)) by = -slope / sums.curvature();
    const bool small = std::abs(by) <= kRounding<A> * std::max(1.0, std::abs(b));
    return Residual<double>{small || std::isnan(slope) ? 0 : slope, -slope / by};
  };
  bracketed_root(look, b, -kInfinity, kInfinity, 0.0, kBiasSteps);
  return std::isfinite(sums.value) && std::isfinite(sums.slope()) &&
         std::isfinite(sums.curvature());
}

template <class A>
double ScoreLine<A>::search(double linear, double square, double slope, double share, double& b,
                            double turn, LineSums& sums) {
  const double from = b;
  double low = 0, high = kInfinity, theta = 1, low_b = b;
  b = from + turn;
  for (int k = 0; k < kSearchSteps; ++k) {
    const bool found = settle(theta, b, sums);
    const double now = found ? linear + theta * square + sums.rate : kInfinity;
    if (std::abs(now) <= share * std::abs(slope)) return theta;
    if (now > 0 || std::isnan(now)) high = theta;
    else low = theta, low_b = b;
    const double curvature = sums.curvature();
    const double drift = free_bias_ && curvature > 0 ? -sums.mixed / curvature : 0.0;
    const double bend = square + sums.bent + drift * sums.mixed;
    const double newton = found && bend > 0 ? theta - now / bend : -1;
    const double next = ray_step(low, high, theta, newton, kGrowth);
    if (next == theta || next < 1e-12) break;
    b = found && std::isfinite(drift) ? b + (next - theta) * drift : low_b;
    theta = next;
  }
  b = low > 0 ? low_b : from;
  settle(low, b, sums);
  return low;
}

template <class A>
void ScoreLine<A>::move(double step) {
  const A theta = static_cast<A>(step);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += theta * steps[i];
}

template class ScoreLine<float>;
template class ScoreLine<double>;

}  // namespace toprank
