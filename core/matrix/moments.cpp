#include "matrix/moments.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "matrix/packed_rows.hpp"
#include "support/interrupt.hpp"

namespace toprank {
namespace {

constexpr std::int64_t kShiftRows = 64;             // of a group, whose mean the rest is taken about
constexpr std::int64_t kBlockRows = 2048;           // of a group, taken about the same shift
constexpr std::int64_t kBufferBytes = 256 << 20;    // of all tasks that run side by side
constexpr std::int64_t kParallelTileColumns = 256;  // from here on a flush is worth threads
constexpr std::int64_t kMostTasks = 16;             // whose parts are merged at the end

// The rows that are taken about the same shifts.
std::int64_t block_rows(std::int64_t d, std::int64_t n_groups) {
  return std::max(kBlockRows * n_groups, 4 * d);
}

Blocks row_blocks(std::int64_t n, std::int64_t d, std::int64_t n_groups) {
  const auto rows = block_rows(d, n_groups);
  return {n, std::max<std::int64_t>(1, (n + rows - 1) / rows)};
}

// The entries of a row, by column.
template <class T>
auto entries_of(const DenseRows<T>& x, std::int64_t row) {
  return [from = x.x + row * x.stride](std::int64_t j) { return static_cast<double>(from[j]); };
}

template <class T>
auto entries_of(const DenseColumns<T>& x, std::int64_t row) {
  return [from = x.x + row, stride = x.stride](std::int64_t j) {
    return static_cast<double>(from[j * stride]);
  };
}

template <class Dense>
struct RowSource {
  const Dense& x;
  std::int64_t size;
  auto operator()(std::int64_t k) const { return entries_of(x, k); }
};

template <class Dense>
struct PairSource {
  const Dense& x;
  std::int64_t size;
  const std::int64_t *first, *second;
  auto operator()(std::int64_t k) const {
    return [above = entries_of(x, first[k]), below = entries_of(x, second[k])](std::int64_t j) {
      return above(j) - below(j);
    };
  }
};

// The moments of some rows of a group; the scatter is padded, its upper triangle alone counts.
struct Part {
  double weight = 0;
  std::vector<double> mean, scatter, square;

  Part(std::int64_t d, std::int64_t side)
      : mean(static_cast<std::size_t>(d)), scatter(static_cast<std::size_t>(side * side)),
        square(static_cast<std::size_t>(d)) {}

  // Takes in rows of weight n about `other_mean` whose products are z, less s s'/n. `squares` are
  // theirs, or null: then they are the diagonal of z.
  void merge(double n, const double* other_mean, const double* z, const double* s,
             const double* squares, std::int64_t side) {
    const auto d = static_cast<std::int64_t>(mean.size());
    const double all = weight + n, share = n / all, both = weight * share;
    std::vector<double> apart(mean.size());
    for (std::int64_t j = 0; j < d; ++j) apart[j] = weight > 0 ? other_mean[j] - mean[j] : 0.0;
    for (std::int64_t i = 0; i < d; ++i) {
      const double by = both * apart[i], off = s == nullptr ? 0.0 : s[i] / n;
      double* line = scatter.data() + i * side;
      const double* from = z + i * side;
      if (s == nullptr)
        for (auto j = i; j < d; ++j) line[j] += from[j] + by * apart[j];
      else
        for (auto j = i; j < d; ++j) line[j] += (from[j] - off * s[j]) + by * apart[j];
      mean[i] = weight > 0 ? mean[i] + share * apart[i] : other_mean[i];
      square[i] += (squares == nullptr ? from[i] : squares[i]) + by * apart[i];
    }
    weight = all;
  }
};

// Sums blocks of rows, one after the other, into the parts of all groups.
class Accumulator {
 public:
  Accumulator(const Groups& groups, std::int64_t d, int tile_threads)
      : groups_(groups), d_(d), tile_threads_(tile_threads),
        shifts_(static_cast<std::size_t>(groups.count * d)), side_(PackedRows::padded(d + 1)),
        sums_(static_cast<std::size_t>(d)), mean_(static_cast<std::size_t>(d)) {
    for (std::int64_t g = 0; g < groups.count; ++g) {
      packed_.emplace_back(d + 1);  // one more column, of ones: counts and sums come with the rest
      products_.emplace_back(static_cast<std::size_t>(side_ * side_));
      parts_.emplace_back(d, side_);
    }
  }
  virtual ~Accumulator() = default;

  void take(std::int64_t begin, std::int64_t end) {
    set_shifts(begin, end);
    pack(begin, end);
    for (std::int64_t g = 0; g < groups_.count; ++g) merge_block(g);
  }

  const std::vector<Part>& parts() const { return parts_; }

 protected:
  // Packs the rows that count, less the shifts.
  virtual void pack(std::int64_t begin, std::int64_t end) = 0;
  virtual void copy_row(std::int64_t k, double* out) const = 0;

  const Groups& groups_;
  const std::int64_t d_;
  const int tile_threads_;
  std::vector<double> shifts_;  // a shift a group
  std::vector<PackedRows> packed_;
  std::vector<std::vector<double>> products_;  // of the block, about its shift

 private:
  // The mean of the first rows of each group; where they all agree, their value to the last bit, so
  // that a constant column is one in every sum.
  void set_shifts(std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> seen(packed_.size());
    std::vector<char> differs(shifts_.size());
    std::vector<double> first(shifts_.size()), row(static_cast<std::size_t>(d_));
    std::fill(shifts_.begin(), shifts_.end(), 0.0);
    std::size_t done = 0;
    for (auto k = begin; k < end && done < seen.size(); ++k) {
      const auto g = groups_.of(k);
      if (g < 0 || groups_.weight_of(k) == 0 || seen[g] == kShiftRows) continue;
      copy_row(k, row.data());
      if (seen[g]++ == 0) std::copy(row.begin(), row.end(), first.begin() + g * d_);
      if (seen[g] == kShiftRows) ++done;
      for (std::int64_t j = 0; j < d_; ++j) {
        shifts_[g * d_ + j] += row[j];
        differs[g * d_ + j] |= row[j] != first[g * d_ + j];
      }
    }
    for (std::size_t j = 0; j < shifts_.size(); ++j)
      shifts_[j] = differs[j] ? shifts_[j] / static_cast<double>(seen[j / d_]) : first[j];
  }

  void merge_block(std::int64_t g) {
    double* z = products_[g].data();
    const double* shift = shifts_.data() + g * d_;
    packed_[g].flush(z, tile_threads_);
    const double n = z[d_ * side_ + d_];
    if (n == 0) return;
    for (std::int64_t j = 0; j < d_; ++j) {
      sums_[j] = z[j * side_ + d_];
      mean_[j] = shift[j] + sums_[j] / n;
    }
    parts_[g].merge(n, mean_.data(), z, sums_.data(), nullptr, side_);
    std::fill(products_[g].begin(), products_[g].end(), 0.0);
  }

  const std::int64_t side_;
  std::vector<double> sums_, mean_;
  std::vector<Part> parts_;
};

template <class Source>
class AccumulatorOf final : public Accumulator {
 public:
  AccumulatorOf(const Source& source, const Groups& groups, std::int64_t d, int tile_threads)
      : Accumulator(groups, d, tile_threads), source_(source) {}

 private:
  void pack(std::int64_t begin, std::int64_t end) override {
    for (auto k = begin; k < end; ++k) {
      const auto g = groups_.of(k);
      const double v = groups_.weight_of(k);
      if (g < 0 || v == 0) continue;
      push(g, k, groups_.weight == nullptr ? 1.0 : std::sqrt(v));
      poll_(d_ + d_ * d_ / 16);
    }
  }

  // The row times the root of its weight.
  void push(std::int64_t g, std::int64_t k, double root) {
    const double* shift = shifts_.data() + g * d_;
    const auto row = source_(k);
    packed_[g].push(products_[g].data(), tile_threads_,
                    [&](std::int64_t j, std::int64_t width, double* __restrict__ out) {
      if (j + PackedRows::kPanel <= d_) {  // the usual panel, of known width
        for (std::int64_t l = 0; l < PackedRows::kPanel; ++l)
          out[l] = root * (row(j + l) - shift[j + l]);
        return;
      }
      const auto own = std::min(width, d_ - j);
      for (std::int64_t l = 0; l < own; ++l) out[l] = root * (row(j + l) - shift[j + l]);
      if (own < width) out[own] = root;
    });
  }

  void copy_row(std::int64_t k, double* out) const override {
    const auto entry = source_(k);
    for (std::int64_t j = 0; j < d_; ++j) out[j] = entry(j);
  }

  const Source& source_;
  Poll poll_;
};

// How the rows are cut: into blocks, and those into tasks with sums of their own.
struct Plan {
  Blocks blocks, tasks;
  bool by_tiles;  // with room for few sums there is one set of them, and threads share the tiles
  int threads;

  Plan(std::int64_t size, std::int64_t d, const Groups& groups, int n_threads) {
    const auto side = PackedRows::padded(d + 1);
    blocks = row_blocks(size, d, groups.count);
    const auto room = kBufferBytes / (16 * groups.count * side * side);
    by_tiles = room < 4 && d >= kParallelTileColumns;
    tasks = {blocks.count,
             by_tiles ? 1 : std::clamp<std::int64_t>(std::min(room, blocks.count), 1, kMostTasks)};
    threads = useful_threads(gram_work(size * d, d), n_threads);
  }
};

using Accumulators = std::vector<std::unique_ptr<Accumulator>>;

void sum_up(const Plan& plan, const Accumulators& sums, const Groups& groups, std::int64_t d,
            const MomentsOut& out) {
  const auto &blocks = plan.blocks, &tasks = plan.tasks;
  parallel_for(tasks.count, plan.threads, [&](std::int64_t t) {
    for (auto b = tasks.begin(t); b < tasks.end(t); ++b)
      sums[static_cast<std::size_t>(t)]->take(blocks.begin(b), blocks.end(b));
  });
  const auto side = PackedRows::padded(d + 1);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    Part all(d, side);
    for (const auto& sum : sums) {
      const auto& part = sum->parts()[static_cast<std::size_t>(g)];
      if (part.weight > 0)
        all.merge(part.weight, part.mean.data(), part.scatter.data(), nullptr, part.square.data(),
                  side);
    }
    out.weight[g] = all.weight;
    std::copy(all.mean.begin(), all.mean.end(), out.mean + g * d);
    std::copy(all.square.begin(), all.square.end(), out.square + g * d);
    double* square = out.scatter + g * d * d;
    for (std::int64_t i = 0; i < d; ++i)
      for (auto j = i; j < d; ++j)
        square[i * d + j] = square[j * d + i] = all.scatter[static_cast<std::size_t>(i * side + j)];
  }
}

template <class Source>
void moments(const Source& source, const Groups& groups, std::int64_t d, const MomentsOut& out,
             int n_threads) {
  const Plan plan(source.size, d, groups, n_threads);
  Accumulators sums;
  for (std::int64_t t = 0; t < plan.tasks.count; ++t)
    sums.push_back(std::make_unique<AccumulatorOf<Source>>(source, groups, d,
                                                           plan.by_tiles ? plan.threads : 1));
  sum_up(plan, sums, groups, d, out);
}

}  // namespace

std::int64_t moment_depth(std::int64_t n, std::int64_t d, std::int64_t n_groups) {
  const auto rows = std::min(n, block_rows(d, n_groups));
  const auto flushes = (rows + PackedRows::kDepth - 1) / PackedRows::kDepth;
  return std::min(rows, PackedRows::kDepth) + flushes + row_blocks(n, d, n_groups).count +
         kMostTasks;
}

template <class Dense>
void group_moments(const Dense& x, const Groups& groups, const MomentsOut& out, int n_threads) {
  moments(RowSource<Dense>{x, x.n_rows}, groups, x.n_cols, out, n_threads);
}

template <class Dense>
void pair_moments(const Dense& x, const std::int64_t* first, const std::int64_t* second,
                  std::int64_t n_pairs, const double* weight, const MomentsOut& out,
                  int n_threads) {
  moments(PairSource<Dense>{x, n_pairs, first, second}, Groups{nullptr, weight, 1}, x.n_cols, out,
          n_threads);
}

#define TOPRANK_MOMENTS(...)                                                                      \
  template void group_moments(const __VA_ARGS__&, const Groups&, const MomentsOut&, int);         \
  template void pair_moments(const __VA_ARGS__&, const std::int64_t*, const std::int64_t*,        \
                             std::int64_t, const double*, const MomentsOut&, int);
TOPRANK_MOMENTS(DenseRows<float>)
TOPRANK_MOMENTS(DenseRows<double>)
TOPRANK_MOMENTS(DenseColumns<float>)
TOPRANK_MOMENTS(DenseColumns<double>)

}  // namespace toprank
