#include "rows/highest.hpp"

#include <algorithm>
#include <limits>

#include "support/interrupt.hpp"

namespace toprank {
namespace {

constexpr std::int64_t kRowsTogether = 256;  // rows that are looked at together

}  // namespace

template <class A>
std::vector<std::int64_t> highest(const A* z, const double* tilt, std::int64_t n,
                                  std::int64_t count) {
  std::vector<std::int64_t> rows;
  if (count <= 0) return rows;
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(2 * count, 64));
  rows.reserve(most + kRowsTogether);
  const auto higher = [&](std::int64_t a, std::int64_t b) {
    return z[a] > z[b] || (z[a] == z[b] && a < b);
  };
  const auto cut = [&] {
    if (static_cast<std::int64_t>(rows.size()) <= count) return;
    std::nth_element(rows.begin(), rows.begin() + count - 1, rows.end(), higher);
    rows.resize(static_cast<std::size_t>(count));
  };
  A least = -std::numeric_limits<A>::infinity();  // of the rows that may still count
  bool full = false;
  Poll poll;
  A own[kRowsTogether];
  for (std::int64_t begin = 0; begin < n; begin += kRowsTogether) {
    const auto size = std::min(kRowsTogether, n - begin);
    int any = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      own[i] = tilt[begin + i] < 0 ? z[begin + i] : -std::numeric_limits<A>::infinity();
      any |= own[i] > least;
    }
    if (!any && full) continue;
    for (std::int64_t i = 0; i < size; ++i)
      if (tilt[begin + i] < 0 && z[begin + i] == z[begin + i] && (!full || own[i] > least))
        rows.push_back(begin + i);
    if (rows.size() >= most) {
      cut();
      least = z[rows[static_cast<std::size_t>(count - 1)]];
      full = true;
    }
    poll(size);
  }
  cut();
  std::sort(rows.begin(), rows.end());
  return rows;
}

template std::vector<std::int64_t> highest(const float*, const double*, std::int64_t, std::int64_t);
template std::vector<std::int64_t> highest(const double*, const double*, std::int64_t, std::int64_t);

}  // namespace toprank
