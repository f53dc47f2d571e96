// Copies of the few rows of a large sparse matrix that pairs are made of, side by side: where they
// lie each on a page of its own, finding them takes longer than reading them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "matrix/rows.hpp"

namespace toprank {

// Dense rows are read as differences, which are kept in one place.
template <class Rows>
class RowCopies {
 public:
  explicit RowCopies(const Rows&) {}
  bool room_for(std::int64_t) { return false; }
  std::int32_t place(std::int64_t row) { return static_cast<std::int32_t>(row); }
  std::int32_t original(std::int32_t place) const { return place; }
  Rows rows(const Rows& x) const { return x; }
  void clear() {}
};

template <class T>
class RowCopies<SparseRows<T>> {
 public:
  explicit RowCopies(const SparseRows<T>& x)
      : x_(x), most_(x.entries_before(x.n_rows) / kShare) {}

  // Whether so many entries more are still few beside the matrix. Once they are not, never again.
  bool room_for(std::int64_t entries) {
    if (static_cast<std::int64_t>(data_.size()) + entries > most_) most_ = -1;
    return most_ >= 0;
  }
  // Where the copy of a row is; a side that has none is nowhere.
  std::int32_t place(std::int64_t row) {
    if (row < 0) return static_cast<std::int32_t>(row);
    const auto [at, is_new] =
        places_.try_emplace(static_cast<std::int32_t>(row), static_cast<std::int32_t>(rows_.size()));
    if (is_new) {
      const auto begin = x_.indptr[row], end = x_.indptr[row + 1];
      data_.insert(data_.end(), x_.data + begin, x_.data + end);
      indices_.insert(indices_.end(), x_.indices + begin, x_.indices + end);
      ends_.push_back(static_cast<std::int64_t>(data_.size()));
      rows_.push_back(static_cast<std::int32_t>(row));
    }
    return at->second;
  }
  std::int32_t original(std::int32_t place) const { return place < 0 ? place : rows_[place]; }
  SparseRows<T> rows(const SparseRows<T>&) const {
    return {data_.data(), indices_.data(), ends_.data(), static_cast<std::int64_t>(rows_.size()),
            x_.n_cols};
  }
  void clear() {
    places_ = {};
    rows_ = {};
    data_ = {};
    indices_ = {};
    ends_ = {0};
  }

 private:
  static constexpr std::int64_t kShare = 8;  // of the matrix: a small one is at hand anyway
  SparseRows<T> x_;
  std::int64_t most_;
  std::unordered_map<std::int32_t, std::int32_t> places_;
  std::vector<std::int32_t> rows_;
  std::vector<T> data_;
  std::vector<std::int32_t> indices_;
  std::vector<std::int64_t> ends_{0};
};

}  // namespace toprank
