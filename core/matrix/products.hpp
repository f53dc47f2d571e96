// The three products every solver is built from, over any view of the matrix:
//   scores     s = X w                     pull_back   g = X'v
//   gram       H = X' diag(c) X            (upper triangle)
// `subset` lists the rows to use (nullptr: all of them); v, c and s follow its order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "matrix/rows.hpp"
#include "support/threads.hpp"

namespace toprank {

struct Subset {
  const std::int64_t* rows;  // nullptr: every row
  std::int64_t size;
  std::int64_t operator[](std::int64_t k) const { return rows == nullptr ? k : rows[k]; }
};

// Cuts [0, size) into tasks of about equal length; how many depends on the data's shape only.
struct Blocks {
  std::int64_t size, count;
  std::int64_t begin(std::int64_t k) const { return size * k / count; }
  std::int64_t end(std::int64_t k) const { return size * (k + 1) / count; }
};

// The mean number of entries of a row, from the whole matrix: cheap, and good enough to plan.
template <class Rows>
std::int64_t planned_entries(const Rows& x, std::int64_t n_rows) {
  const auto total = x.entries_before(x.n_rows);
  return x.n_rows == 0 ? 0 : static_cast<std::int64_t>(
      static_cast<double>(total) / static_cast<double>(x.n_rows) * static_cast<double>(n_rows));
}

// The work of a dense Gram matrix in entries of a product: d multiplications an entry, eight times as
// fast.
inline std::int64_t gram_work(std::int64_t entries, std::int64_t n_cols) {
  return entries * (1 + n_cols / 8);
}

// Tasks that write apart: as many as keep every thread busy to the end.
inline Blocks independent_blocks(std::int64_t size, std::int64_t entries) {
  return {size, std::clamp<std::int64_t>(entries / 50'000, 1, 256)};
}

// Entries of a task that sums into a buffer. The order of sums, and so the bits of results, depend
// on it.
inline constexpr std::int64_t kReducedEntries = 100'000;

// Tasks that each sum into a buffer of their own: only as many as their buffers are worth.
inline Blocks reduced_blocks(std::int64_t size, std::int64_t entries, std::int64_t buffer) {
  return {size, std::clamp<std::int64_t>(entries / (kReducedEntries + 8 * buffer), 1, 16)};
}

// Runs `task(block, buffer)` over blocks with buffers of `length` zeros, sums them into `out`.
template <class Task>
void reduce(const Blocks& blocks, std::int64_t length, int n_threads, double* out, Task&& task) {
  std::fill(out, out + length, 0.0);
  std::vector<double> extra(static_cast<std::size_t>((blocks.count - 1) * length));
  parallel_for(blocks.count, n_threads, [&](std::int64_t k) {
    task(k, k == 0 ? out : extra.data() + (k - 1) * length);
  });
  for (std::int64_t k = 1; k < blocks.count; ++k) {
    const double* part = extra.data() + (k - 1) * length;
    for (std::int64_t j = 0; j < length; ++j) out[j] += part[j];
  }
}

template <class Rows>
void scores(const Rows& x, const double* w, Subset subset, double* out, int n_threads) {
  const auto entries = planned_entries(x, subset.size);
  const auto blocks = independent_blocks(subset.size, entries);
  parallel_for(blocks.count, useful_threads(Rows::kEntryCost * entries, n_threads), [&](std::int64_t b) {
    for (auto k = blocks.begin(b); k < blocks.end(b); ++k) out[k] = x.dot(subset[k], w);
  });
}

template <class Rows>
void squared_norms(const Rows& x, Subset subset, double* out, int n_threads) {
  const auto entries = planned_entries(x, subset.size);
  const auto blocks = independent_blocks(subset.size, entries);
  parallel_for(blocks.count, useful_threads(Rows::kEntryCost * entries, n_threads), [&](std::int64_t b) {
    for (auto k = blocks.begin(b); k < blocks.end(b); ++k) out[k] = x.squared_norm(subset[k]);
  });
}

template <class Rows>
void pull_back(const Rows& x, const double* v, Subset subset, double* out, int n_threads) {
  const auto entries = planned_entries(x, subset.size);
  const auto blocks = reduced_blocks(subset.size, entries, x.n_cols);
  reduce(blocks, x.n_cols, useful_threads(Rows::kEntryCost * entries, n_threads), out,
         [&](std::int64_t b, double* g) {
           for (auto k = blocks.begin(b); k < blocks.end(b); ++k)
             if (v[k] != 0) x.add(subset[k], v[k], g);
         });
}

}  // namespace toprank
