// A matrix by rows, whatever its form: for work in which a virtual call per row does not count.
#pragma once

#include <cstdint>
#include <memory>

#include "matrix/rows.hpp"

namespace toprank {

class RowReader {
 public:
  virtual ~RowReader() = default;
  virtual std::int64_t n_cols() const = 0;
  virtual double dot(std::int64_t row, const double* w) const = 0;
  virtual void add(std::int64_t row, double c, double* out) const = 0;
  virtual double squared_norm(std::int64_t row) const = 0;
  virtual std::int64_t entries(std::int64_t row) const = 0;
  virtual std::int64_t planned_entries(std::int64_t n_rows) const = 0;
  virtual void prefetch_place(std::int64_t row) const = 0;
  virtual void prefetch(std::int64_t row) const = 0;
  virtual void scores(const double* w, const std::int64_t* rows, std::int64_t count, double* out,
                      int n_threads) const = 0;
};

template <class Rows>
std::unique_ptr<RowReader> make_row_reader(const Rows&);

}  // namespace toprank
