// Differences of rows, kept where they take no more room than they save time: a sequential kernel
// meets pairs in random order, and reads one row in one place instead of two in two.
#pragma once

#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace toprank {

constexpr std::int64_t kKeptBytes = std::int64_t{1} << 27;

// Side -1 of a pair is the zero vector.
template <class Rows>
class KeptDifferences;

// Half the arithmetic of two rows, too.
template <class T>
class KeptDifferences<DenseRows<T>> {
 public:
  explicit KeptDifferences(const DenseRows<T>& x) : x_(x) {}

  // Whether so many pairs, of so many entries on both sides together, are worth keeping.
  bool worth(std::int64_t n_pairs, std::int64_t) const {
    return static_cast<double>(n_pairs) * static_cast<double>(x_.n_cols) * sizeof(double) <=
           static_cast<double>(kKeptBytes);
  }
  void add(std::int64_t first, std::int64_t second) {
    const auto begin = z_.size();
    z_.resize(begin + static_cast<std::size_t>(x_.n_cols));
    if (first >= 0) x_.add(first, 1.0, z_.data() + begin);
    if (second >= 0) x_.add(second, -1.0, z_.data() + begin);
    ++size_;
  }
  void clear() {
    std::vector<double>().swap(z_);
    size_ = 0;
  }
  std::int64_t size() const { return size_; }
  DenseRows<double> rows() const { return {z_.data(), size_, x_.n_cols, x_.n_cols}; }

 private:
  DenseRows<T> x_;
  std::int64_t size_ = 0;
  std::vector<double> z_;
};

// As many entries, but together: worth it while they are no more than the whole matrix has.
template <class T, class I>
class KeptDifferences<SparseRows<T, I>> {
 public:
  explicit KeptDifferences(const SparseRows<T, I>& x) : x_(x) {}

  bool worth(std::int64_t, std::int64_t entries) const {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(double) + sizeof(I));
    return entries <= x_.entries_before(x_.n_rows) && entries <= kKeptBytes / bytes;
  }
  // Both rows in the order of their columns, which increase.
  void add(std::int64_t first, std::int64_t second) {
    auto p = first < 0 ? 0 : x_.indptr[first], q = second < 0 ? 0 : x_.indptr[second];
    const auto p_end = first < 0 ? 0 : x_.indptr[first + 1];
    const auto q_end = second < 0 ? 0 : x_.indptr[second + 1];
    auto to = z_.size();
    z_.resize(to + static_cast<std::size_t>(p_end - p + q_end - q));
    indices_.resize(z_.size());
    for (; p < p_end || q < q_end; ++to) {
      const bool left = q == q_end || (p < p_end && x_.indices[p] <= x_.indices[q]);
      const bool right = p == p_end || (q < q_end && x_.indices[q] <= x_.indices[p]);
      indices_[to] = x_.indices[left ? p : q];
      z_[to] = (left ? static_cast<double>(x_.data[p]) : 0.0) -
               (right ? static_cast<double>(x_.data[q]) : 0.0);
      p += left;
      q += right;
    }
    z_.resize(to);
    indices_.resize(to);
    ends_.push_back(static_cast<std::int64_t>(to));
  }
  void clear() {
    std::vector<double>().swap(z_);
    std::vector<I>().swap(indices_);
    ends_.assign(1, 0);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()) - 1; }
  SparseRows<double, I> rows() const {
    return {z_.data(), indices_.data(), ends_.data(), size(), x_.n_cols};
  }

 private:
  SparseRows<T, I> x_;
  std::vector<double> z_;
  std::vector<I> indices_;
  std::vector<std::int64_t> ends_{0};
};

}  // namespace toprank
