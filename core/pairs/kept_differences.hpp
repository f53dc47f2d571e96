// Differences of dense rows, kept while they take little room: a sequential kernel meets pairs in
// random order, and reads one row in one place instead of two in two. Sparse rows are read where
// they are, and their differences are never stored.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/rows.hpp"

namespace toprank {

constexpr std::int64_t kKeptBytes = std::int64_t{1} << 27;

template <class Rows>
class KeptDifferences {
 public:
  explicit KeptDifferences(const Rows& x) : x_(x) {}
  bool worth(std::int64_t) const { return false; }
  void add(std::int64_t, std::int64_t) {}
  void clear() {}
  std::int64_t size() const { return 0; }
  Rows rows() const { return x_; }

 private:
  Rows x_;
};

// Side -1 of a pair is the zero vector.
template <class T>
class KeptDifferences<DenseRows<T>> {
 public:
  explicit KeptDifferences(const DenseRows<T>& x) : x_(x) {}

  // Whether so many pairs are worth keeping.
  bool worth(std::int64_t n_pairs) const {
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

}  // namespace toprank
