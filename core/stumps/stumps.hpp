// All decision stumps over the columns of a matrix: which rows lie above a threshold of a column.
//
// Every column is cut into levels, the rows of one value. The rows of its most common value are not
// stored: in a sparse column these are its zeros. Cut c lies between levels c and c + 1; where a
// column has missing values (NaN), cut -1 lies below all levels, and a stump says on which side of
// the cut the missing rows are.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/matrix.hpp"

namespace toprank {

// Marks the last row of a level; the other bits are the row's number.
inline constexpr std::uint32_t kLastOfLevel = 1U << 31, kRowNumber = kLastOfLevel - 1;

struct Stump {
  double merit = 0;  // above zero if the rows above the cut should score higher
  std::int64_t cut = -2;
  bool missing_above = false;
};

class StumpTable {
 public:
  // Of some rows of the matrix, which are numbered anew in their order.
  template <class View>
  StumpTable(const View& x, Subset rows, int n_threads);

  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_columns() const { return static_cast<std::int64_t>(columns_.size()); }
  std::int64_t n_stumps() const;
  const std::vector<double>& levels(std::int64_t column) const { return columns_[column].levels; }
  bool has(std::int64_t column, std::int64_t cut) const;

  // The edge of a stump is sum_x s(x) h(x), h = +1 above the cut and -1 below it, where s sums to
  // zero: the largest |edge| of each column, and the stump of one column that has it.
  void edges(const double* s, double* out, int n_threads) const;
  Stump best_edge(const double* s, std::int64_t column) const;

  // The same with the decrease of log sum_{i < n_positive} w_i e^(-t h_i) + 1/p log sum_{j >= ...}
  // w_j e^(p t h_j) at the best t, signed as t is, where w sums to one on each side.
  void decreases(const double* w, std::int64_t n_positive, double p, double* out,
                 int n_threads) const;
  Stump best_decrease(const double* w, std::int64_t n_positive, double p,
                      std::int64_t column) const;

  // h, one entry a row.
  void fill(std::int64_t column, std::int64_t cut, bool missing_above, double* h) const;

 private:
  // The rows of the levels below the common one from the lowest up, of those above it from the
  // highest down, then the missing ones. A bit marks the last row of a level.
  struct Column {
    std::vector<double> levels;  // increasing
    std::vector<std::uint32_t> rows;
    std::size_t common = 0;  // the level whose rows are not stored
    std::uint32_t n_low = 0, n_high = 0;
    bool missing() const { return rows.size() > std::size_t{n_low} + n_high; }
  };

  class Builder;
  template <class T>
  void build(const DenseRows<T>& x, Subset rows, int n_threads);
  template <class T>
  void build(const DenseColumns<T>& x, Subset rows, int n_threads);
  template <class T>
  void build(const SparseRows<T>& x, Subset rows, int n_threads);

  // Calls visit(sum of the weights above the cut, cut, missing_above) for every stump.
  template <class Sum, class Visit>
  static void scan(const Column& column, const Sum* weights, Sum total, const Visit& visit);
  template <class Sum, class Merit>
  static double largest(const Column& column, const Sum* weights, Sum total, const Merit& merit);
  template <class Sum, class Merit>
  static Stump first_best(const Column& column, const Sum* weights, Sum total, const Merit& merit);
  template <class Task>
  void for_columns(int n_threads, const Task& task) const;

  std::int64_t n_rows_ = 0, n_entries_ = 0;
  std::vector<Column> columns_;
};

}  // namespace toprank
