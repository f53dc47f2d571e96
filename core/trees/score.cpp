// Scores and contributions, a block of rows at a time.
#include <bit>
#include <cmath>

#include "support/interrupt.hpp"
#include "support/threads.hpp"
#include "trees/nodes.hpp"
#include "trees/trees.hpp"

namespace toprank {
namespace {

// Rows that go down a tree together: one alone waits for its own nodes.
constexpr int kLanes = 8;
// The rows of a block fit in the cache of a core with a tree. Large trees do not, and are read again
// for every block: it has more rows then.
constexpr std::int64_t kLeastBytes = 1 << 18, kMostBytes = 1 << 21, kTreeSizes = 8;
constexpr std::int64_t kFewestRows = 64, kTasksAThread = 4;
// LightGBM's bound: a zero in its files.
constexpr double kZero = 1e-35f;
// Steps down a tree, on average, to count work by.
constexpr std::int64_t kSteps = 8;
// A step, in entries of a product.
constexpr std::int64_t kStepCost = 8;

}  // namespace

// The columns in use of some rows, and one of -inf; categories as their numbers, NaN if not known.
template <class T>
class Trees::Block {
 public:
  template <class View>
  Block(const Trees& trees, const View& x, std::int64_t begin, std::int64_t n_rows)
      : n_rows(n_rows), width(std::ssize(trees.columns_) + 1) {
    padded_rows = (n_rows + kLanes - 1) / kLanes * kLanes;
    entries.assign(static_cast<std::size_t>(padded_rows * width), T{0});
    for (std::int64_t i = 0; i < padded_rows; ++i)
      entries[(i + 1) * width - 1] = -std::numeric_limits<T>::infinity();
    for (std::size_t c = 0; c < trees.columns_.size(); ++c) {
      const auto column = trees.columns_[c];
      const bool coded = !trees.category_starts_.empty() &&
                         trees.category_starts_[column] < trees.category_starts_[column + 1];
      T* out = entries.data() + c;
      for (std::int64_t i = 0; i < n_rows; ++i, out += width) {
        T v;
        if constexpr (requires { x.entries(0); })
          v = static_cast<T>(x.x[(begin + i) * x.stride + column]);
        else v = static_cast<T>(x.x[column * x.stride + begin + i]);
        if (coded) v = static_cast<T>(trees.code_of(column, v));
        missing = missing || std::isnan(v);
        *out = v;
      }
    }
  }
  const T* row(std::int64_t i) const { return entries.data() + i * width; }

  std::int64_t n_rows, width, padded_rows;
  bool missing = false;
  std::vector<T> entries;
};

double Trees::code_of(std::int32_t column, double x) const {
  const auto begin = categories_.begin() + category_starts_[column],
             end = categories_.begin() + category_starts_[column + 1];
  if (options_.truncate_categories) x = std::trunc(x);
  const auto found = std::lower_bound(begin, end, x);
  if (found == end || *found != x) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(found - begin);
}

// Splits of categories, and those to which a zero is missing.
bool Trees::goes_right(const Node& node, double x) const {
  const bool missing_right = (node.split & kMissingRight) != 0;
  if ((node.split & kCategory) == 0)
    return std::isnan(x) || std::abs(x) <= kZero ? missing_right : x > node.threshold;
  if (std::isnan(x)) return missing_right;
  const auto code = static_cast<std::uint32_t>(x);
  const auto word = set_words_[std::bit_cast<std::int64_t>(node.threshold) + (code >> 5)];
  return ((word >> (code & 31)) & 1) == 0;
}

template <bool kMissing, bool kSpecial, class T>
[[gnu::always_inline]] inline std::uint32_t Trees::next(const Node& node, const T* x) const {
  const double v = x[node.split & kColumnPlace];
  if constexpr (kSpecial)
    if ((node.split & kSpecialSplit) != 0) return node.left + goes_right(node, v);
  std::uint32_t right = v > node.threshold;
  if constexpr (kMissing) right |= static_cast<std::uint32_t>(v != v) & (node.split >> 31);
  return node.left + right;
}

template <bool kMissing, bool kSpecial, class T>
void Trees::add_tree(const Tree& tree, const Block<T>& block, double* sums) const {
  const auto width = block.width;
  const Node* nodes = nodes_.data();
  for (std::int64_t i = 0; i < block.padded_rows; i += kLanes) {
    const T* x = block.row(i);
    std::uint32_t at[kLanes];
    for (auto& one : at) one = tree.root;
    std::int32_t depth = 0;
    for (; depth < tree.least_depth; ++depth)
      for (int k = 0; k < kLanes; ++k)
        at[k] = next<kMissing, kSpecial>(nodes[at[k]], x + k * width);
    for (std::uint32_t moved = 1; depth < tree.depth && moved != 0; ++depth) {
      moved = 0;
      for (int k = 0; k < kLanes; ++k) {
        const auto to = next<kMissing, kSpecial>(nodes[at[k]], x + k * width);
        moved |= to ^ at[k];
        at[k] = to;
      }
    }
    for (int k = 0; k < kLanes; ++k) sums[i + k] += nodes[at[k]].threshold;
  }
}

template <bool kMissing, bool kSpecial, class T>
void Trees::score_block(const Block<T>& block, std::span<const std::int64_t> numbers, double* out,
                        std::int64_t stride) const {
  const double offset = options_.offset;
  std::vector<double> sums(static_cast<std::size_t>(block.padded_rows),
                           options_.average ? 0.0 : offset);
  std::int64_t tree = 0;
  for (const auto number : numbers) {
    for (; tree < number; ++tree)
      add_tree<kMissing, kSpecial>(trees_[tree], block, sums.data());
    const double count = static_cast<double>(number);
    for (std::int64_t i = 0; i < block.n_rows; ++i)
      out[i] = options_.average ? offset + sums[i] / count : sums[i];
    out += stride;
  }
}

template <class T, class View, class Task>
void Trees::for_blocks(const View& x, int n_threads, const Task& task) const {
  const auto row_bytes = static_cast<std::int64_t>(sizeof(T)) * (std::ssize(columns_) + 1);
  const auto tree_bytes = static_cast<std::int64_t>(sizeof(Node)) * std::ssize(nodes_) / n_trees();
  const auto bytes = std::clamp(kTreeSizes * tree_bytes, kLeastBytes, kMostBytes);
  const auto share = x.n_rows / (kTasksAThread * n_threads);
  const auto rows =
      std::max(std::min(bytes / row_bytes, share) / kLanes * kLanes, kFewestRows);
  n_threads = useful_threads(kStepCost * x.n_rows * n_trees() * kSteps, n_threads);
  parallel_for((x.n_rows + rows - 1) / rows, n_threads, [&](std::int64_t k) {
    const auto begin = k * rows, count = std::min(rows, x.n_rows - begin);
    task(Block<T>(*this, x, begin, count), begin);
    static thread_local Poll poll;
    poll(count * n_trees() * kSteps);
  });
}

template <class View, class Task>
void Trees::for_rounded_blocks(const View& x, int n_threads, const Task& task) const {
  if (options_.round_to_float32) for_blocks<float>(x, n_threads, task);
  else for_blocks<double>(x, n_threads, task);
}

template <class View>
void Trees::scores(const View& x, std::span<const std::int64_t> numbers, double* out,
                   int n_threads) const {
  for_rounded_blocks(x, n_threads, [&](const auto& block, std::int64_t begin) {
    double* to = out + begin;
    if (special_) score_block<true, true>(block, numbers, to, x.n_rows);
    else if (block.missing) score_block<true, false>(block, numbers, to, x.n_rows);
    else score_block<false, false>(block, numbers, to, x.n_rows);
  });
}

template <class T>
void Trees::contributions_of(const Block<T>& block, double* out) const {
  const double count = static_cast<double>(n_trees());
  for (std::int64_t i = 0; i < block.n_rows; ++i, out += options_.n_features) {
    const T* x = block.row(i);
    for (const auto& tree : trees_) {
      for (auto at = tree.root, to = at;; at = to) {
        to = next<true, true>(nodes_[at], x);
        if (to == at) break;
        out[columns_[nodes_[at].split & kColumnPlace]] += values_[to] - values_[at];
      }
    }
    if (options_.average)
      for (const auto column : columns_) out[column] /= count;
  }
}

template <class View>
void Trees::contributions(const View& x, double* out, int n_threads) const {
  std::fill_n(out, x.n_rows * options_.n_features, 0.0);
  for_rounded_blocks(x, n_threads, [&](const auto& block, std::int64_t begin) {
    contributions_of(block, out + begin * options_.n_features);
  });
}

#define TOPRANK_TREES_OF(View)                                                             \
  template void Trees::scores(const View&, std::span<const std::int64_t>, double*, int) const; \
  template void Trees::contributions(const View&, double*, int) const;
TOPRANK_TREES_OF(DenseRows<float>)
TOPRANK_TREES_OF(DenseRows<double>)
TOPRANK_TREES_OF(DenseColumns<float>)
TOPRANK_TREES_OF(DenseColumns<double>)
#undef TOPRANK_TREES_OF

}  // namespace toprank
