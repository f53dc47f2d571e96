// Sorts the columns of a matrix into levels, once.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "stumps/stumps.hpp"
#include "support/interrupt.hpp"
#include "support/sort.hpp"
#include "support/threads.hpp"

namespace toprank {
namespace {

// Entries that are gathered at a time, and columns of a task.
constexpr std::int64_t kGathered = 1 << 22, kColumnsATask = 16;
constexpr std::int64_t kSortCost = 20;  // of an entry, in entries of a product

std::vector<std::uint32_t> numbers_up_to(std::int64_t n) {
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

}  // namespace

// Turns the values of a column into its levels.
class StumpTable::Builder {
 public:
  // Column of the values, given with their rows, and of zeros in all other rows.
  Column operator()(const std::vector<double>& given, const std::vector<std::uint32_t>& rows,
                    std::int64_t n_rows) {
    known_.clear();
    places_.clear();
    missing_.clear();
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (std::isnan(given[k])) {
        missing_.push_back(rows[k]);
      } else {
        known_.push_back(given[k]);
        places_.push_back(rows[k]);
      }
    }
    order_.resize(known_.size());
    sorted_.resize(known_.size());
    sort_(known_.data(), static_cast<std::uint32_t>(known_.size()), order_.data(), sorted_.data());

    // The levels among the values given: where each begins.
    std::vector<std::uint32_t> begins;
    Column column;
    for (std::uint32_t k = 0; k < sorted_.size(); ++k)
      if (k == 0 || sorted_[k] != sorted_[k - 1]) {
        begins.push_back(k);
        column.levels.push_back(sorted_[k] + 0.0);
      }
    begins.push_back(static_cast<std::uint32_t>(sorted_.size()));

    // The zeros join their level, or make one.
    const auto n_zeros = static_cast<std::size_t>(n_rows) - given.size();
    const auto zero = static_cast<std::size_t>(
        std::lower_bound(column.levels.begin(), column.levels.end(), 0.0) - column.levels.begin());
    if (n_zeros > 0 && (zero == column.levels.size() || column.levels[zero] != 0.0)) {
      column.levels.insert(column.levels.begin() + static_cast<std::ptrdiff_t>(zero), 0.0);
      begins.insert(begins.begin() + static_cast<std::ptrdiff_t>(zero), begins[zero]);
    }
    // The most common level, of equals that nearest the middle: then both sides are as long.
    std::size_t most = 0, before = 0;
    std::int64_t from_middle = 0;
    for (std::size_t level = 0; level < column.levels.size(); ++level) {
      const auto size = begins[level + 1] - begins[level] + (level == zero ? n_zeros : 0);
      const auto away = std::abs(static_cast<std::int64_t>(2 * before) - n_rows);
      if (size > most || (size == most && away < from_middle))
        most = size, column.common = level, from_middle = away;
      before += size;
    }

    column.rows.reserve(static_cast<std::size_t>(n_rows) - most);
    const auto list = [&](std::size_t level) {
      for (auto k = begins[level]; k < begins[level + 1]; ++k)
        column.rows.push_back(places_[order_[k]]);
      if (level == zero && n_zeros > 0) list_zeros(rows, n_rows, column.rows);
      column.rows.back() |= kLastOfLevel;
    };
    for (std::size_t level = 0; level < column.common; ++level) list(level);
    column.n_low = static_cast<std::uint32_t>(column.rows.size());
    for (auto level = column.levels.size(); level-- > column.common + 1;) list(level);
    column.n_high = static_cast<std::uint32_t>(column.rows.size()) - column.n_low;
    column.rows.insert(column.rows.end(), missing_.begin(), missing_.end());
    return column;
  }

 private:
  // The rows that are not among those given.
  void list_zeros(const std::vector<std::uint32_t>& given, std::int64_t n_rows,
                  std::vector<std::uint32_t>& out) {
    stored_.assign(static_cast<std::size_t>(n_rows), false);
    for (const auto row : given) stored_[row] = true;
    for (std::uint32_t row = 0; row < n_rows; ++row)
      if (!stored_[row]) out.push_back(row);
  }

  Sorter sort_;
  std::vector<double> known_, sorted_;
  std::vector<std::uint32_t> places_, order_, missing_;
  std::vector<bool> stored_;
};

template <class View>
StumpTable::StumpTable(const View& x, Subset rows, int n_threads)
    : n_rows_(rows.size), columns_(static_cast<std::size_t>(x.n_cols)) {
  build(x, rows, n_threads);
  for (const auto& column : columns_) n_entries_ += static_cast<std::int64_t>(column.rows.size());
}

template <class T>
void StumpTable::build(const DenseRows<T>& x, Subset rows, int n_threads) {
  const auto at_once = std::clamp<std::int64_t>(kGathered / std::max<std::int64_t>(n_rows_, 1), 1, 64);
  const auto places = numbers_up_to(n_rows_);
  std::vector<std::vector<double>> values(static_cast<std::size_t>(at_once));
  for (auto& column : values) column.resize(places.size());
  Poll poll;
  for (std::int64_t begin = 0; begin < x.n_cols; begin += at_once) {
    const auto size = std::min(at_once, x.n_cols - begin);
    for (std::int64_t k = 0; k < n_rows_; ++k)
      for (std::int64_t j = 0; j < size; ++j)
        values[j][k] = static_cast<double>(x.x[rows[k] * x.stride + begin + j]);
    parallel_for(size, useful_threads(kSortCost * size * n_rows_, n_threads), [&](std::int64_t j) {
      columns_[begin + j] = Builder()(values[j], places, n_rows_);
    });
    poll(8 * size * n_rows_);
  }
}

template <class T>
void StumpTable::build(const DenseColumns<T>& x, Subset rows, int n_threads) {
  const auto places = numbers_up_to(n_rows_);
  Poll poll;
  for (std::int64_t begin = 0; begin < x.n_cols; begin += kColumnsATask) {
    const auto size = std::min(kColumnsATask, x.n_cols - begin);
    parallel_for(size, useful_threads(kSortCost * size * n_rows_, n_threads), [&](std::int64_t j) {
      std::vector<double> values(places.size());
      for (std::int64_t k = 0; k < n_rows_; ++k)
        values[k] = static_cast<double>(x.x[(begin + j) * x.stride + rows[k]]);
      columns_[begin + j] = Builder()(values, places, n_rows_);
    });
    poll(8 * size * n_rows_);
  }
}

template <class T>
void StumpTable::build(const SparseRows<T>& x, Subset rows, int) {
  std::vector<std::int64_t> ends(static_cast<std::size_t>(x.n_cols) + 1, 0);
  for (std::int64_t k = 0; k < n_rows_; ++k)
    for (auto q = x.indptr[rows[k]]; q < x.indptr[rows[k] + 1]; ++q) ++ends[x.indices[q] + 1];
  for (std::int64_t j = 0; j < x.n_cols; ++j) ends[j + 1] += ends[j];
  const auto stored = static_cast<std::size_t>(ends[x.n_cols]);
  std::vector<T> values(stored);
  std::vector<std::uint32_t> places(stored);
  auto next = ends;
  for (std::int64_t k = 0; k < n_rows_; ++k)
    for (auto q = x.indptr[rows[k]]; q < x.indptr[rows[k] + 1]; ++q) {
      const auto at = next[x.indices[q]]++;
      values[at] = x.data[q];
      places[at] = static_cast<std::uint32_t>(k);
    }
  Builder builder;
  std::vector<double> given;
  std::vector<std::uint32_t> own;
  Poll poll;
  for (std::int64_t j = 0; j < x.n_cols; ++j) {
    given.assign(values.begin() + ends[j], values.begin() + ends[j + 1]);
    own.assign(places.begin() + ends[j], places.begin() + ends[j + 1]);
    columns_[j] = builder(given, own, n_rows_);
    poll(8 * (ends[j + 1] - ends[j]));
  }
}

#define TOPRANK_VIEW(...) \
  template StumpTable::StumpTable(const __VA_ARGS__&, Subset, int);
TOPRANK_VIEW(DenseRows<float>)
TOPRANK_VIEW(DenseRows<double>)
TOPRANK_VIEW(DenseColumns<float>)
TOPRANK_VIEW(DenseColumns<double>)
TOPRANK_VIEW(SparseRows<float>)
TOPRANK_VIEW(SparseRows<double>)

}  // namespace toprank
