#include "matrix/window_gram.hpp"

#include <algorithm>
#include <vector>

#include "support/interrupt.hpp"

namespace toprank {

template <class T, class I>
void window_cross(const SparseRows<T, I>& x, const Windows& windows, double* out) {
  const auto d = x.n_cols;
  std::fill(out, out + d * d, 0.0);
  std::vector<double> sum(static_cast<std::size_t>(d));  // of the rows in the window
  std::int64_t first = 0, last = 0;
  Poll poll;
  for (std::int64_t a = 0; a < windows.size; ++a) {
    for (; last < windows.last[a]; ++last)
      x.add(windows.others[last], windows.other_weights[last], sum.data());
    for (; first < windows.first[a]; ++first)
      x.add(windows.others[first], -windows.other_weights[first], sum.data());
    if (first == last) std::fill(sum.begin(), sum.end(), 0.0);  // what rounding left
    const auto row = windows.rows[a];
    for (auto q = x.indptr[row]; q < x.indptr[row + 1]; ++q) {
      const double c = windows.weights[a] * static_cast<double>(x.data[q]);
      double* line = out + static_cast<std::int64_t>(x.indices[q]) * d;
      const double* s = sum.data();
#pragma omp simd
      for (std::int64_t k = 0; k < d; ++k) line[k] += c * s[k];
    }
    poll(d * x.entries(row));
  }
}

#define TOPRANK_WINDOWS(T, I) \
  template void window_cross(const SparseRows<T, I>&, const Windows&, double*);
TOPRANK_WINDOWS(float, std::int32_t)
TOPRANK_WINDOWS(float, std::int64_t)
TOPRANK_WINDOWS(double, std::int32_t)
TOPRANK_WINDOWS(double, std::int64_t)

}  // namespace toprank
