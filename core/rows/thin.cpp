#include "rows/thin.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "matrix/products.hpp"
#include "rows/row_pass.hpp"
#include "support/random.hpp"

namespace toprank {
namespace {

constexpr std::int64_t kBlock = 256;  // rows that are listed at a time
constexpr std::int64_t kChunk = 16;   // rows of which it is asked at once whether any is kept

}  // namespace

template <class A>
Thinned thin(const A* z, const A* squares, double typical, std::int64_t n, const double* tilt,
             const RowLoss& loss, double wanted, std::uint64_t seed, int n_threads) {
  const auto curvature = std::make_unique_for_overwrite<A[]>(static_cast<std::size_t>(n));
  row_terms<A>(z, n, tilt, loss, nullptr, curvature.get(), n_threads);
  const A own = squares == nullptr ? A(1) : A(0.5), share = static_cast<A>(0.5 / typical);
  // The measures of the rows from `begin` on, and their sum.
  auto measure = [&](std::int64_t begin, std::int64_t size, A* out) {
    A sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < size; ++i) {
      const A length = squares == nullptr ? A(0) : share * squares[begin + i];
      out[i] = curvature[begin + i] * (own + length);
      sum += out[i];
    }
    return static_cast<double>(sum);
  };
  const auto blocks = reduced_blocks(n, n, 8);
  const int threads = useful_threads(kEntriesOfRowLoss * n, n_threads);
  std::vector<double> totals(static_cast<std::size_t>(blocks.count));
  parallel_for(blocks.count, threads, [&](std::int64_t k) {
    A some[kChunk];
    for (auto at = blocks.begin(k); at < blocks.end(k); at += kChunk)
      totals[static_cast<std::size_t>(k)] += measure(at, std::min(kChunk, blocks.end(k) - at), some);
  });
  const double total = std::accumulate(totals.begin(), totals.end(), 0.0);
  if (!(total > 0) || !(wanted > 0)) return {};
  const double per_measure = wanted / total;
  std::vector<Thinned> parts(totals.size());
  parallel_for(blocks.count, threads, [&](std::int64_t k) {
    Random random(seed);
    for (std::int64_t skipped = 0; skipped < k; ++skipped) random();
    SystematicSample sample(random.uniform());
    auto& kept = parts[static_cast<std::size_t>(k)];
    A some[kChunk];
    for (auto at = blocks.begin(k); at < blocks.end(k); at += kChunk) {
      const auto size = std::min(kChunk, blocks.end(k) - at);
      // Most chunks have no row that is kept.
      if (sample.passes(per_measure * measure(at, size, some))) continue;
      for (std::int64_t i = 0; i < size; ++i) {
        const double chance = static_cast<double>(some[i]) * per_measure;
        if (!sample.keeps(chance)) continue;
        kept.rows.push_back(at + i);
        kept.curvature.push_back(static_cast<double>(curvature[at + i]) / std::min(chance, 1.0));
      }
    }
  });
  for (std::size_t k = 1; k < parts.size(); ++k) {
    auto &all = parts[0], &more = parts[k];
    all.rows.insert(all.rows.end(), more.rows.begin(), more.rows.end());
    all.curvature.insert(all.curvature.end(), more.curvature.begin(), more.curvature.end());
  }
  return std::move(parts[0]);
}

Sides sides(const double* tilt, std::int64_t n) {
  std::int64_t n_pos = 0, n_neg = 0;
  double of_pos = 0, of_neg = 0;
#pragma omp simd reduction(+ : n_pos, n_neg, of_pos, of_neg)
  for (std::int64_t i = 0; i < n; ++i) {
    n_pos += tilt[i] > 0;
    n_neg += tilt[i] < 0;
    of_pos += tilt[i] > 0 ? tilt[i] : 0.0;
    of_neg += tilt[i] < 0 ? tilt[i] : 0.0;
  }
  return {n_pos, n_neg, of_pos, of_neg};
}

std::vector<std::int64_t> rows_of_places(const double* tilt, std::int64_t n,
                                         std::span<const std::int64_t> of_pos,
                                         std::span<const std::int64_t> of_neg) {
  // The rows of a block are written down without a branch, those of either side, and looked up.
  struct Side {
    std::span<const std::int64_t> places;
    std::int64_t before = 0, count = 0;
    std::int64_t own[kBlock];
    std::vector<std::int64_t> rows;

    explicit Side(std::span<const std::int64_t> of) : places(of) {}

    void take() {
      std::size_t k = rows.size();
      for (; k < places.size() && places[k] < before + count; ++k)
        rows.push_back(own[places[k] - before]);
      before += count;
      count = 0;
    }
  };
  Side pos(of_pos), neg(of_neg);
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    for (auto i = begin; i < std::min(begin + kBlock, n); ++i) {
      pos.own[pos.count] = neg.own[neg.count] = i;
      pos.count += tilt[i] > 0;
      neg.count += tilt[i] < 0;
    }
    pos.take();
    neg.take();
  }
  std::vector<std::int64_t> rows(pos.rows.size() + neg.rows.size());
  std::merge(pos.rows.begin(), pos.rows.end(), neg.rows.begin(), neg.rows.end(), rows.begin());
  return rows;
}

template Thinned thin(const float*, const float*, double, std::int64_t, const double*,
                      const RowLoss&, double, std::uint64_t, int);
template Thinned thin(const double*, const double*, double, std::int64_t, const double*,
                      const RowLoss&, double, std::uint64_t, int);

}  // namespace toprank
