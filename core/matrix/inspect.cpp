// The one pass that makes sure that a CSR matrix is one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "matrix/matrix.hpp"

namespace toprank {
namespace {

// Indices that are compared before the sum of a count is carried over.
constexpr std::int64_t kFew = std::int64_t(1) << 20;

// The largest value that is no larger than the limit.
template <class T>
T largest_within(double limit) {
  constexpr T most = std::numeric_limits<T>::max();
  if (limit >= static_cast<double>(most)) return most;
  const T near = static_cast<T>(limit);
  return static_cast<double>(near) > limit ? std::nextafter(near, T(0)) : near;
}

}  // namespace

template <class T, class I>
Inspection inspect(const CsrArrays<T, I>& x, std::int64_t n_stored, double limit, int n_threads) {
  if (x.indptr[0] != 0) return {Flaw::pointers, 0, 0, false};
  for (std::int64_t row = 0; row < x.n_rows; ++row)
    if (x.indptr[row + 1] < x.indptr[row] || x.indptr[row + 1] > n_stored)
      return {Flaw::pointers, row, x.indptr[row + 1], false};
  const auto entries = x.indptr[x.n_rows];
  const auto blocks = independent_blocks(x.n_rows, entries);
  std::vector<Inspection> found(static_cast<std::size_t>(blocks.count));
  parallel_for(blocks.count, useful_threads(SparseRows<T>::kEntryCost * entries, n_threads), [&](std::int64_t b) {
    auto& seen = found[static_cast<std::size_t>(b)];
    // Values and order are counted, not branched on: flaws are looked for only where there are any.
    const auto begin = x.indptr[blocks.begin(b)], end = x.indptr[blocks.end(b)];
    // In integers as wide as what is compared, so that a vector of the one is a vector of the other.
    std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t> bad = 0;
    const T *data = x.data, most = largest_within<T>(limit);
    const I* indices = x.indices;
#pragma omp simd reduction(| : bad)
    for (auto q = begin; q < end; ++q) bad |= !(std::abs(data[q]) <= most);
    // Entries that do not increase, less those at which another row begins.
    std::int64_t falls = 0;
    for (auto from = begin + 1; from < end; from += kFew) {
      I some = 0;
      const auto to = std::min(from + kFew, end);
#pragma omp simd reduction(+ : some)
      for (auto q = from; q < to; ++q) some += indices[q - 1] >= indices[q];
      falls += some;
    }
    bool inside = true;
    for (auto row = blocks.begin(b); row < blocks.end(b); ++row) {
      const auto first = x.indptr[row], last = x.indptr[row + 1];
      if (first == last) continue;
      inside &= x.indices[first] >= 0 && x.indices[last - 1] < x.n_cols;
      if (first > begin) falls -= x.indices[first - 1] >= x.indices[first];
    }
    const bool ordered = inside && falls == 0;
    if (ordered && bad == 0) return;  // increasing, from zero on, and ending inside
    seen.canonical = ordered;
    for (auto row = blocks.begin(b); row < blocks.end(b); ++row)
      for (auto q = x.indptr[row]; q < x.indptr[row + 1]; ++q) {
        const auto j = static_cast<std::int64_t>(x.indices[q]);
        if (j < 0 || j >= x.n_cols) {
          seen = {Flaw::index, row, q, false};
          return;
        }
        if (!(std::abs(static_cast<double>(x.data[q])) <= limit)) {
          seen = {Flaw::value, row, q, false};
          return;
        }
      }
  });
  Inspection all;
  for (const auto& seen : found) {
    if (seen.flaw != Flaw::none) return seen;
    all.canonical = all.canonical && seen.canonical;
  }
  return all;
}

#define TOPRANK_INSPECT(T, I) \
  template Inspection inspect(const CsrArrays<T, I>&, std::int64_t, double, int);
TOPRANK_INSPECT(float, std::int32_t)
TOPRANK_INSPECT(float, std::int64_t)
TOPRANK_INSPECT(double, std::int32_t)
TOPRANK_INSPECT(double, std::int64_t)

}  // namespace toprank
