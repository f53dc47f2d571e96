#include "matrix/matrix.hpp"
#include "matrix/row_reader.hpp"

namespace toprank {
namespace {

template <class Rows>
class Reader final : public RowReader {
 public:
  explicit Reader(const Rows& x) : x_(x) {}
  std::int64_t n_cols() const override { return x_.n_cols; }
  double dot(std::int64_t row, const double* w) const override { return x_.dot(row, w); }
  void add(std::int64_t row, double c, double* out) const override { x_.add(row, c, out); }
  double squared_norm(std::int64_t row) const override { return x_.squared_norm(row); }
  std::int64_t entries(std::int64_t row) const override { return x_.entries(row); }
  std::int64_t planned_entries(std::int64_t n_rows) const override {
    return toprank::planned_entries(x_, n_rows);
  }
  void prefetch_place(std::int64_t row) const override { x_.prefetch_place(row); }
  void prefetch(std::int64_t row) const override { x_.prefetch(row); }
  void scores(const double* w, const std::int64_t* rows, std::int64_t count, double* out,
              int n_threads) const override {
    matrix_scores(x_, w, Subset{rows, count}, out, n_threads);
  }

 private:
  Rows x_;
};

}  // namespace

template <class Rows>
std::unique_ptr<RowReader> make_row_reader(const Rows& x) {
  return std::make_unique<Reader<Rows>>(x);
}

}  // namespace toprank
