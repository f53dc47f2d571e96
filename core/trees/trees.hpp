// A fitted ensemble of binary trees: checked once, then scored row by row.
//
// A row goes left at a node if x <= threshold, or if its category is in the node's set. Missing
// values (NaN), categories that are not known, and zeros where a node counts them as missing go to
// the node's default side. The sum over trees is taken in their order for every row on its own, so
// scores do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "matrix/matrix.hpp"

namespace toprank {

// The caller's arrays: one entry a node, the nodes of a tree next to each other, its root first.
struct TreeArrays {
  std::span<const std::int32_t> feature;  // -1: a leaf
  std::span<const double> threshold;
  std::span<const std::int32_t> left, right;         // below the node in the same arrays
  std::span<const bool> missing_left, zero_missing;  // zero_missing: |x| <= 1e-35 is missing too
  std::span<const std::int32_t> category_set;        // -1: x is compared with the threshold
  std::span<const double> value, weight;             // read at leaves only
  std::span<const std::int64_t> tree_starts;         // n_trees + 1 entries
  // The values of each column of categories, increasing. Bit c of a set stands for the column's
  // value number c; bits are in words of 32.
  std::span<const std::int64_t> category_starts;  // n_features + 1 entries, or none
  std::span<const double> categories;
  std::span<const std::int64_t> set_starts;  // n_sets + 1 entries
  std::span<const std::uint32_t> set_words;
};

struct TreeOptions {
  std::int64_t n_features = 0;
  double offset = 0;
  bool average = false;              // the mean over trees in place of their sum
  bool round_to_float32 = false;     // entries are compared as float32
  bool truncate_categories = false;  // a category is the entry without its fraction
};

class Trees {
 public:
  // Throws std::invalid_argument with the node that is wrong.
  Trees(const TreeArrays& arrays, const TreeOptions& options);

  std::int64_t n_features() const { return options_.n_features; }
  std::int64_t n_trees() const { return static_cast<std::int64_t>(trees_.size()); }

  // Scores after the first numbers[0] trees, after numbers[1] and so on: one line of n_rows each.
  template <class View>
  void scores(const View& x, std::span<const std::int64_t> numbers, double* out,
              int n_threads) const;

  // Differences of node values along the paths, added up for each column: n_rows x n_features.
  template <class View>
  void contributions(const View& x, double* out, int n_threads) const;

  // The mean score of the rows that the leaf weights stand for.
  double baseline() const;

 private:
  // Siblings are next to each other. A leaf is its own left child, and every number is below its
  // threshold, so that rows may stay there while others go on.
  struct Node {
    double threshold;     // or the bits of the first word of the set
    std::uint32_t split;  // place among the columns in use, and flags
    std::uint32_t left;
  };
  struct Tree {
    std::uint32_t root;
    std::int32_t least_depth, depth;  // of its leaves
  };
  class Builder;
  class Block;

  template <bool kMissing, bool kSpecial>
  std::uint32_t next(const Node& node, const double* x) const;
  bool goes_right(const Node& node, double x) const;
  template <bool kMissing, bool kSpecial>
  void add_tree(const Tree& tree, const Block& block, double* sums) const;
  template <bool kMissing, bool kSpecial>
  void score_block(const Block& block, std::span<const std::int64_t> numbers, double* out,
                   std::int64_t stride) const;
  void contributions_of(const Block& block, double* out) const;
  double code_of(std::int32_t column, double x) const;
  template <class View, class Task>
  void for_blocks(const View& x, int n_threads, const Task& task) const;

  TreeOptions options_;
  std::vector<Node> nodes_;
  std::vector<double> values_;  // of leaves, and the means of those below inner nodes
  std::vector<Tree> trees_;
  std::vector<std::int32_t> columns_;  // those in use
  std::vector<std::int64_t> category_starts_;
  std::vector<double> categories_;
  std::vector<std::uint32_t> set_words_;
  bool special_ = false;
};

}  // namespace toprank
