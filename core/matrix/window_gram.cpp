#include "matrix/window_gram.hpp"

#include <algorithm>
#include <vector>

#include "support/interrupt.hpp"

namespace toprank {
template <class T>
void window_cross(const SparseRows<T>& x, const Windows& windows, double* out) {
  const auto d = x.n_cols;
  std::fill(out, out + d * d, 0.0);
  std::vector<double> sum(static_cast<std::size_t>(d));  // of the rows in the window
  std::vector<double> alike(static_cast<std::size_t>(d));  // of rows that have the same window
  std::int64_t first = 0, last = 0;
  Poll poll;
  for (std::int64_t a = 0; a < windows.size; ++a) {
    for (; last < windows.last[a]; ++last)
      x.add(windows.others[last], windows.other_weights[last], sum.data());
    for (; first < windows.first[a]; ++first)
      x.add(windows.others[first], -windows.other_weights[first], sum.data());
    if (first == last) std::fill(sum.begin(), sum.end(), 0.0);  // what rounding left
    // Rows with the same window are added up first, where that is less work.
    std::int64_t next = a, entries = 0;
    for (; next < windows.size && windows.first[next] == windows.first[a] &&
           windows.last[next] == windows.last[a];
         ++next)
      entries += x.entries(windows.rows[next]);
    if (next > a + 1 && entries > d) {
      for (; a < next; ++a) x.add(windows.rows[a], windows.weights[a], alike.data());
      --a;
      for (std::int64_t k = 0; k < d; ++k) {
        if (alike[static_cast<std::size_t>(k)] == 0) continue;
        dense_add(sum.data(), d, alike[static_cast<std::size_t>(k)], out + k * d);
        alike[static_cast<std::size_t>(k)] = 0;
      }
      poll(d * d + entries);
      continue;
    }
    const auto row = windows.rows[a];
    for (auto q = x.indptr[row]; q < x.indptr[row + 1]; ++q) {
      const double c = windows.weights[a] * static_cast<double>(x.data[q]);
      dense_add(sum.data(), d, c, out + static_cast<std::int64_t>(x.indices[q]) * d);
    }
    poll(d * x.entries(row));
  }
}

template void window_cross(const SparseRows<float>&, const Windows&, double*);
template void window_cross(const SparseRows<double>&, const Windows&, double*);

}  // namespace toprank
