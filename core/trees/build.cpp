// The checks of an ensemble's arrays, and the form in which it is scored.
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "trees/nodes.hpp"
#include "trees/trees.hpp"

namespace toprank {
namespace {

constexpr std::int64_t kMostNodes = std::int64_t{1} << 29;
// Larger values and weights could overflow in sums.
constexpr double kLargest = 1e100;

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

[[noreturn]] void refuse(std::int64_t node, const std::string& what) {
  refuse("node " + std::to_string(node) + " " + what);
}

void check_starts(std::span<const std::int64_t> starts, std::int64_t end, const char* name) {
  if (starts.empty() || starts.front() != 0 || starts.back() != end)
    refuse(std::string(name) + " must begin at 0 and end at " + std::to_string(end));
  for (std::size_t k = 1; k < starts.size(); ++k)
    if (starts[k] < starts[k - 1]) refuse(std::string(name) + " must not decrease");
}

}  // namespace

class Trees::Builder {
 public:
  Builder(const TreeArrays& arrays, Trees& made) : a_(arrays), made_(made) {}

  void build() {
    check_lengths();
    check_categories();
    for (std::size_t t = 0; t + 1 < a_.tree_starts.size(); ++t)
      check_tree(a_.tree_starts[t], a_.tree_starts[t + 1]);
    find_columns();
    find_values();
    made_.nodes_.resize(size());
    made_.values_.resize(size());
    for (std::size_t t = 0; t + 1 < a_.tree_starts.size(); ++t) pack(a_.tree_starts[t]);
  }

 private:
  std::size_t size() const { return a_.feature.size(); }
  bool is_leaf(std::int64_t node) const { return a_.feature[node] < 0; }

  void check_lengths() const {
    const auto n = size();
    for (const auto other :
         {a_.threshold.size(), a_.left.size(), a_.right.size(), a_.missing_left.size(),
          a_.zero_missing.size(), a_.category_set.size(), a_.value.size(), a_.weight.size()})
      if (other != n) refuse("the arrays of nodes must have equal lengths");
    if (static_cast<std::int64_t>(n) > kMostNodes) refuse("there are too many nodes");
    if (a_.tree_starts.size() < 2) refuse("there must be at least one tree");
    check_starts(a_.tree_starts, static_cast<std::int64_t>(n), "tree_starts");
    const auto width = made_.options_.n_features;
    if (width < 1 || width > kMostNodes)
      refuse("n_features must be from 1 to " + std::to_string(kMostNodes));
    if (!(std::abs(made_.options_.offset) <= kLargest)) refuse("offset must be finite");
  }

  void check_categories() const {
    check_starts(a_.set_starts, static_cast<std::int64_t>(a_.set_words.size()), "set_starts");
    if (a_.category_starts.empty() && a_.categories.empty()) return;
    if (static_cast<std::int64_t>(a_.category_starts.size()) != made_.options_.n_features + 1)
      refuse("category_starts must have one entry more than there are features");
    check_starts(a_.category_starts, static_cast<std::int64_t>(a_.categories.size()),
                 "category_starts");
    for (std::size_t j = 0; j + 1 < a_.category_starts.size(); ++j)
      for (auto k = a_.category_starts[j]; k < a_.category_starts[j + 1]; ++k) {
        const bool rises = k == a_.category_starts[j] || a_.categories[k - 1] < a_.categories[k];
        if (!std::isfinite(a_.categories[k]) || !rises)
          refuse("the categories of a feature must be finite and increasing");
      }
  }

  std::int64_t n_categories(std::int64_t feature) const {
    if (a_.category_starts.empty()) return 0;
    return a_.category_starts[feature + 1] - a_.category_starts[feature];
  }

  // Children come after their parent and have one parent each: so it is a tree, and it ends.
  void check_tree(std::int64_t begin, std::int64_t end) {
    if (begin == end) refuse("a tree must have at least one node");
    parents_.assign(static_cast<std::size_t>(end - begin), 0);
    for (auto node = begin; node < end; ++node) {
      if (is_leaf(node)) {
        check_leaf(node);
        continue;
      }
      check_split(node);
      for (const std::int64_t child : {a_.left[node], a_.right[node]}) {
        if (child <= node || child >= end)
          refuse(node, "has child " + std::to_string(child) +
                           ", which must come after it and be in the same tree");
        if (++parents_[child - begin] > 1)
          refuse(child, "has more than one parent");
      }
    }
    for (auto node = begin + 1; node < end; ++node)
      if (parents_[node - begin] != 1) refuse(node, "has no parent");
  }

  void check_leaf(std::int64_t node) const {
    if (a_.feature[node] != -1) refuse(node, "has a negative feature other than -1");
    if (!(std::abs(a_.value[node]) <= kLargest)) refuse(node, "has a value that is not finite");
    if (!(a_.weight[node] >= 0 && a_.weight[node] <= kLargest))
      refuse(node, "has a weight that is negative or not finite");
  }

  void check_split(std::int64_t node) const {
    const std::int64_t feature = a_.feature[node], set = a_.category_set[node];
    if (feature >= made_.options_.n_features)
      refuse(node, "has feature " + std::to_string(feature) + ", beyond the last");
    const auto known = n_categories(feature);
    if (set == -1) {
      if (std::isnan(a_.threshold[node])) refuse(node, "has a threshold that is NaN");
      if (known > 0) refuse(node, "compares a feature of categories with a threshold");
      return;
    }
    if (set < 0 || set + 1 >= static_cast<std::int64_t>(a_.set_starts.size()))
      refuse(node, "has category set " + std::to_string(set) + ", which does not exist");
    if (known == 0) refuse(node, "has a category set for a feature without categories");
    if (a_.zero_missing[node]) refuse(node, "has a category set and counts zeros as missing");
    if (a_.set_starts[set + 1] - a_.set_starts[set] != (known + 31) / 32)
      refuse(node, "has a category set of the wrong length");
  }

  void find_columns() {
    std::vector<std::int32_t> used;
    for (const auto feature : a_.feature)
      if (feature >= 0) used.push_back(feature);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    made_.columns_ = std::move(used);
    made_.category_starts_.assign(a_.category_starts.begin(), a_.category_starts.end());
    made_.categories_.assign(a_.categories.begin(), a_.categories.end());
    made_.set_words_.assign(a_.set_words.begin(), a_.set_words.end());
  }

  // The mean of the leaves below each node, from the last node to the first.
  void find_values() {
    means_.assign(a_.value.begin(), a_.value.end());
    std::vector<double> weights(a_.weight.begin(), a_.weight.end());
    for (auto node = static_cast<std::int64_t>(size()) - 1; node >= 0; --node) {
      if (is_leaf(node)) continue;
      const auto l = a_.left[node], r = a_.right[node];
      const double total = weights[l] + weights[r];
      const double share = total > 0 ? weights[l] / total : 0.5;
      weights[node] = total;
      means_[node] = share * means_[l] + (1 - share) * means_[r];
    }
  }

  Node packed(std::int64_t node, std::uint32_t at, std::uint32_t left) {
    if (is_leaf(node)) return {std::numeric_limits<double>::infinity(), 0, at};
    const auto& columns = made_.columns_;
    const auto place =
        std::lower_bound(columns.begin(), columns.end(), a_.feature[node]) - columns.begin();
    auto split = static_cast<std::uint32_t>(place);
    double threshold = a_.threshold[node];
    if (!a_.missing_left[node]) split |= kMissingRight;
    if (a_.zero_missing[node]) split |= kZeroMissing;
    if (a_.category_set[node] >= 0) {
      split |= kCategory;
      threshold = std::bit_cast<double>(a_.set_starts[a_.category_set[node]]);
    }
    made_.special_ = made_.special_ || (split & kSpecialSplit) != 0;
    return {threshold, split, left};
  }

  // Level by level, siblings next to each other.
  void pack(std::int64_t root) {
    const auto begin = static_cast<std::uint32_t>(root);
    Tree tree{begin, std::numeric_limits<std::int32_t>::max(), 0};
    std::uint32_t end = begin + 1, level_end = end;
    std::int32_t depth = 0;
    order_.assign(1, root);
    for (auto at = begin; at < end; ++at) {
      if (at == level_end) level_end = end, ++depth;
      const auto node = order_[at - begin];
      made_.nodes_[at] = packed(node, at, end);
      made_.values_[at] = means_[node];
      if (is_leaf(node)) {
        tree.least_depth = std::min(tree.least_depth, depth);
        tree.depth = depth;
        continue;
      }
      order_.push_back(a_.left[node]);
      order_.push_back(a_.right[node]);
      end += 2;
    }
    made_.trees_.push_back(tree);
  }

  const TreeArrays& a_;
  Trees& made_;
  std::vector<std::uint8_t> parents_;
  std::vector<double> means_;
  std::vector<std::int64_t> order_;
};

Trees::Trees(const TreeArrays& arrays, const TreeOptions& options) : options_(options) {
  Builder(arrays, *this).build();
}

double Trees::baseline() const {
  double sum = 0;
  for (const auto& tree : trees_) sum += values_[tree.root];
  return options_.offset + (options_.average ? sum / static_cast<double>(n_trees()) : sum);
}

}  // namespace toprank
