#include "rows/row_pass.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "rows/row_block.hpp"
#include "support/interrupt.hpp"
#include "support/threads.hpp"

namespace toprank {
namespace {

constexpr std::int64_t kBlockEntries = 16'384;  // of a block: what stays in cache
constexpr double kUnit = 0x1p-53;

// The terms of a block of rows: their scores become slopes.
template <class A>
class BlockTerms {
 public:
  BlockTerms(const RowAsk& ask, const RowAnswer<A>& answer)
      : ask_(ask), answer_(answer), math_(row_math<A>(ask.loss)) {}

  A* scores() { return z_; }
  A* squares() { return ask_.bounds || answer_.squares != nullptr ? squares_ : nullptr; }
  const A* slope() const { return slope_; }
  const A* shift() const { return answer_.shifted != nullptr ? shift_ : nullptr; }

  // The rows from `begin` on, n of them, whose scores without b are known.
  void take(std::int64_t begin, std::int64_t n, RowSums& sums) {
    const double* tilt = ask_.tilt + begin;
    if (ask_.bounds) worsen(n, tilt);
    else for (std::int64_t i = 0; i < n; ++i) z_[i] += static_cast<A>(ask_.b);
    math_(n, z_, tilt, ask_.loss, {slope_, curvature_, shift_}, sums);
    if (ask_.bounds) bound(n, sums);
    if (answer_.scores != nullptr) std::copy_n(z_, n, answer_.scores + begin);
    if (squares() != nullptr)
      for (std::int64_t i = 0; i < n; ++i) sums.squares += static_cast<double>(squares_[i]);
    if (answer_.squares != nullptr) std::copy_n(squares_, n, answer_.squares + begin);
  }

 private:
  // Positives lower, negatives higher, by what rounding may have done.
  void worsen(std::int64_t n, const double* tilt) {
    const double b = ask_.b, per_length = ask_.per_length, own = std::abs(b);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      const double s = static_cast<double>(z_[i]);
      length_[i] = std::sqrt(static_cast<double>(squares_[i]));
      const double off = per_length * length_[i] + 4 * kUnit * (std::abs(s) + own);
      const double signed_off = tilt[i] > 0 ? off : -off;
      z_[i] = static_cast<A>(s + b - signed_off);
    }
  }

  void bound(std::int64_t n, RowSums& sums) {
    double moment = 0, shift_moment = 0, sizes = 0, size_moment = 0, pull_size = 0, shift_size = 0;
#pragma omp simd reduction(+ : moment, shift_moment, sizes, size_moment, pull_size, shift_size)
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = static_cast<double>(slope_[i]), u = static_cast<double>(shift_[i]);
      const double size = std::abs(v), score = static_cast<double>(z_[i]);
      const double z = size + u > 0 ? score : 0.0;  // else it may be anything
      const double length = size + u > 0 ? length_[i] : 0.0;
      moment += v * z;
      shift_moment += u * z;
      sizes += size;
      size_moment += size * std::abs(z);
      pull_size += size * length;
      shift_size += u * length;
    }
    sums.moment += moment;
    sums.shift_moment += shift_moment;
    sums.size += sizes;
    sums.size_moment += size_moment;
    sums.pull_size += pull_size;
    sums.shift_size += shift_size;
  }

  const RowAsk& ask_;
  const RowAnswer<A>& answer_;
  RowMath<A> math_;
  double length_[kMostRows];
  A z_[kMostRows], slope_[kMostRows], curvature_[kMostRows], shift_[kMostRows], squares_[kMostRows];
};

// Runs `task(begin, end, sums, pull, shifted)` over ranges of rows and adds up what they give. So
// many rows of a range are added up apart from the others, at the least.
template <class A, class Task>
void over_ranges(std::int64_t n_rows, std::int64_t n_cols, std::int64_t entries,
                 std::int64_t together, const RowAsk& ask, RowAnswer<A>& answer, Task&& task) {
  const bool shifted = answer.shifted != nullptr;
  const auto length = n_cols * (shifted ? 2 : 1);
  const auto blocks = reduced_blocks(n_rows, entries, length);
  std::vector<RowSums> sums(static_cast<std::size_t>(blocks.count));
  std::vector<double> both(static_cast<std::size_t>(std::max<std::int64_t>(length, 1)));
  reduce(blocks, length, useful_threads(entries, ask.n_threads), both.data(),
         [&](std::int64_t k, double* part) {
           task(blocks.begin(k), blocks.end(k), sums[static_cast<std::size_t>(k)], part,
                shifted ? part + n_cols : nullptr);
         });
  for (const auto& one : sums) answer.sums.add(one);
  answer.sums.depth = kMostRows + (n_rows / blocks.count + 1) / together + blocks.count + 16;
  std::copy_n(both.data(), n_cols, answer.pull);
  if (shifted) std::copy_n(both.data() + n_cols, n_cols, answer.shifted);
}

// `rows_at(begin, n, copied)` gives rows and their distance: where they are, or copied there.
template <class A, class RowsAt>
void dense_pass(std::int64_t n_rows, std::int64_t n_cols, const RowBlock<A>& block,
                const RowAsk& ask, RowAnswer<A>& answer, const RowsAt& rows_at) {
  const auto width = block.padded_width();
  const auto step = std::clamp<std::int64_t>(kBlockEntries / std::max<std::int64_t>(width, 1), 8,
                                             kMostRows);
  over_ranges(n_rows, n_cols, n_rows * n_cols, step, ask, answer,
              [&](std::int64_t begin, std::int64_t end, RowSums& sums, double* pull,
                  double* shifted) {
                BlockTerms<A> terms(ask, answer);
                std::vector<double> packed(static_cast<std::size_t>(2 * width));
                std::vector<A> copied(block.padded() ? static_cast<std::size_t>(step * width) : 0);
                Poll poll;
                for (auto at = begin; at < end; at += step) {
                  const auto n = std::min(step, end - at);
                  const auto [rows, apart] = rows_at(at, n, copied.data());
                  block.scores(rows, apart, n, terms.scores(), terms.squares());
                  terms.take(at, n, sums);
                  block.pull(rows, apart, n, terms.slope(), terms.shift(), packed.data(),
                             packed.data() + width);
                  poll(n * n_cols);
                }
                block.unpack(packed.data(), pull);
                if (shifted != nullptr) block.unpack(packed.data() + width, shifted);
              });
}

// Rows of which no vector can be read are copied, and so are columns.
template <class A, class T>
void copied_pass(const T* x, std::int64_t n_rows, std::int64_t n_cols, std::int64_t row_stride,
                 std::int64_t column_stride, const RowAsk& ask, RowAnswer<A>& answer) {
  const RowBlock<A> block(n_cols, ask.w, true);
  const auto width = block.padded_width();
  dense_pass<A>(n_rows, n_cols, block, ask, answer,
                [&](std::int64_t begin, std::int64_t n, A* out) {
                  for (std::int64_t j = 0; j < n_cols; ++j) {
                    const T* column = x + begin * row_stride + j * column_stride;
                    for (std::int64_t i = 0; i < n; ++i)
                      out[i * width + j] = static_cast<A>(column[i * row_stride]);
                  }
                  return std::pair<const A*, std::int64_t>(out, width);
                });
}

}  // namespace

template <class A, class T>
void row_pass(const DenseRows<T>& x, const RowAsk& ask, RowAnswer<A>& answer) {
  if (x.n_cols < kLanes<A>)
    return copied_pass<A>(x.x, x.n_rows, x.n_cols, x.stride, 1, ask, answer);
  dense_pass<A>(x.n_rows, x.n_cols, RowBlock<A>(x.n_cols, ask.w, false), ask, answer,
                [&](std::int64_t begin, std::int64_t, A*) {
                  return std::pair<const T*, std::int64_t>(x.x + begin * x.stride, x.stride);
                });
}

template <class A, class T>
void row_pass(const DenseColumns<T>& x, const RowAsk& ask, RowAnswer<A>& answer) {
  copied_pass<A>(x.x, x.n_rows, x.n_cols, 1, x.stride, ask, answer);
}

template <class T>
void row_pass(const SparseRows<T>& x, const RowAsk& ask, RowAnswer<double>& answer) {
  over_ranges(x.n_rows, x.n_cols, x.entries_before(x.n_rows), 1, ask, answer,
              [&](std::int64_t begin, std::int64_t end, RowSums& sums, double* pull,
                  double* shifted) {
                BlockTerms<double> terms(ask, answer);
                // Both sums of a column side by side: they share a line of the cache.
                std::vector<double> paired(shifted == nullptr ? 0 : static_cast<std::size_t>(2 * x.n_cols));
                Poll poll;
                for (auto at = begin; at < end; at += kMostRows) {
                  const auto n = std::min(kMostRows, end - at);
                  for (std::int64_t i = 0; i < n; ++i) terms.scores()[i] = x.dot(at + i, ask.w);
                  if (double* squares = terms.squares())
                    for (std::int64_t i = 0; i < n; ++i) squares[i] = x.squared_norm(at + i);
                  terms.take(at, n, sums);
                  const double *v = terms.slope(), *u = terms.shift();
                  for (std::int64_t i = 0; i < n; ++i) {
                    if (shifted == nullptr) {
                      if (v[i] != 0) x.add(at + i, v[i], pull);
                      continue;
                    }
                    if (v[i] == 0 && u[i] == 0) continue;
                    for (auto q = x.indptr[at + i]; q < x.indptr[at + i + 1]; ++q) {
                      double* sum = paired.data() + 2 * static_cast<std::int64_t>(x.indices[q]);
                      const double entry = static_cast<double>(x.data[q]);
                      sum[0] += v[i] * entry;
                      sum[1] += u[i] * entry;
                    }
                  }
                  poll(x.indptr[at + n] - x.indptr[at]);
                }
                if (shifted == nullptr) return;
                for (std::int64_t j = 0; j < x.n_cols; ++j) {
                  pull[j] += paired[static_cast<std::size_t>(2 * j)];
                  shifted[j] += paired[static_cast<std::size_t>(2 * j + 1)];
                }
              });
}

namespace {

// Runs `task(begin, n, sums)` over blocks of scores, and adds their sums in order.
template <class Task>
RowSums over_scores(std::int64_t size, int n_threads, Task&& task) {
  const auto ranges = reduced_blocks(size, size, 8);
  std::vector<RowSums> sums(static_cast<std::size_t>(ranges.count));
  parallel_for(ranges.count, useful_threads(kEntriesOfRowLoss * size, n_threads), [&](std::int64_t k) {
    for (auto at = ranges.begin(k); at < ranges.end(k); at += kMostRows)
      task(at, std::min(kMostRows, ranges.end(k) - at), sums[static_cast<std::size_t>(k)]);
  });
  RowSums all;
  for (const auto& one : sums) all.add(one);
  return all;
}

}  // namespace

template <class A>
RowSums row_terms(const A* z, std::int64_t size, const double* tilt, const RowLoss& loss, A* slope,
                  A* curvature, int n_threads) {
  const auto math = row_math<A>(loss);
  return over_scores(size, n_threads, [&](std::int64_t at, std::int64_t n, RowSums& sums) {
    A shift[kMostRows], unasked[kMostRows];
    A* kept = slope == nullptr ? unasked : slope + at;
    math(n, z + at, tilt + at, loss, {kept, curvature + at, shift}, sums);
  });
}

template <class A>
Along<A> along(const A* z, const A* dz, std::int64_t size, double step, const double* tilt,
               const RowLoss& loss, int n_threads) {
  const auto math = row_math<A>(loss);
  const auto sums = over_scores(size, n_threads, [&](std::int64_t at, std::int64_t n, RowSums& own) {
    A moved[kMostRows] = {}, slope[kMostRows], curvature[kMostRows], shift[kMostRows];
    const A theta = static_cast<A>(step);
    for (std::int64_t i = 0; i < n; ++i) moved[i] = z[at + i] + theta * dz[at + i];
    math(n, moved, tilt + at, loss, {slope, curvature, shift}, own);
    double first = 0, second = 0;
#pragma omp simd reduction(+ : first, second)
    for (std::int64_t i = 0; i < n; ++i) {
      const double by = static_cast<double>(dz[at + i]);
      first += static_cast<double>(slope[i]) * by;
      second += static_cast<double>(curvature[i]) * by * by;
    }
    own.moment += first;
    own.shift_moment += second;
  });
  return {sums.value, sums.moment, sums.shift_moment};
}

#define TOPRANK_ROW_PASS(A)                                                                      \
  template void row_pass(const DenseRows<float>&, const RowAsk&, RowAnswer<A>&);                 \
  template void row_pass(const DenseRows<double>&, const RowAsk&, RowAnswer<A>&);                \
  template void row_pass(const DenseColumns<float>&, const RowAsk&, RowAnswer<A>&);              \
  template void row_pass(const DenseColumns<double>&, const RowAsk&, RowAnswer<A>&);             \
  template RowSums row_terms(const A*, std::int64_t, const double*, const RowLoss&, A*, A*, int); \
  template Along<A> along(const A*, const A*, std::int64_t, double, const double*, const RowLoss&, int);
TOPRANK_ROW_PASS(float)
TOPRANK_ROW_PASS(double)
template void row_pass(const SparseRows<float>&, const RowAsk&, RowAnswer<double>&);
template void row_pass(const SparseRows<double>&, const RowAsk&, RowAnswer<double>&);

}  // namespace toprank
