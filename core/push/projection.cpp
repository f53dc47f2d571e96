#include "push/projection.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "support/random.hpp"

namespace toprank {
namespace {

struct Breakpoint {
  double at;      // a_i, or -b_j
  bool positive;  // comes from a
};

// Sums over the breakpoints that are decided: those of `a` above the root, of `b` below it.
// rho(gamma) = sum - count * gamma + (undecided part) is non-increasing.
struct Decided {
  double sum = 0, count = 0;
  void add(double at) { sum += at, count += 1; }
};

double balance(std::vector<Breakpoint>& open) {
  Decided decided;
  Random random(0);  // any fixed seed: it changes the time only
  while (!open.empty()) {
    const auto choice = random.below(static_cast<std::int64_t>(open.size()));
    const double pivot = open[static_cast<std::size_t>(choice)].at;
    double rho = decided.sum - decided.count * pivot;
    for (const auto& x : open)
      if (x.positive ? x.at > pivot : x.at < pivot) rho += x.at - pivot;
    if (rho == 0) return pivot;
    const bool above = rho > 0;  // the root lies above the pivot
    auto kept = open.begin();
    for (const auto& x : open) {
      if (above ? x.at > pivot : x.at < pivot)
        *kept++ = x;
      else if (x.positive != above)
        decided.add(x.at);
    }
    open.erase(kept, open.end());
  }
  return decided.sum / decided.count;
}

}  // namespace

void project_balanced(double* a, std::int64_t m, double* b, std::int64_t n) {
  const double top_a = *std::max_element(a, a + m), top_b = *std::max_element(b, b + n);
  if (top_a <= -top_b) {  // every point between is a root; the projection is zero
    std::fill(a, a + m, 0.0);
    std::fill(b, b + n, 0.0);
    return;
  }
  std::vector<Breakpoint> open;
  open.reserve(static_cast<std::size_t>(m + n));
  for (std::int64_t i = 0; i < m; ++i) open.push_back({a[i], true});
  for (std::int64_t j = 0; j < n; ++j) open.push_back({-b[j], false});
  const double gamma = balance(open);
  for (std::int64_t i = 0; i < m; ++i) a[i] = std::max(a[i] - gamma, 0.0);
  for (std::int64_t j = 0; j < n; ++j) b[j] = std::max(b[j] + gamma, 0.0);
}

}  // namespace toprank
