#include "rows/wide_rows.hpp"

#include <algorithm>
#include <numeric>

#include "rows/dual_sweeps.hpp"

namespace toprank {
namespace {

// Rows whose sums are kept in float: rounding grows with their number.
constexpr std::int64_t kRowsInSingle = 16'384;

template <class View>
inline constexpr bool kSparse = requires(const View& x) { x.indptr; };
template <class View>
inline constexpr bool kByRows = requires(const View& x) { x.entries(0); };

template <class A, class View>
class RowsOf : public WideRows<A> {
 public:
  explicit RowsOf(const View& x) : x_(x) {}

  std::int64_t n_rows() const override { return x_.n_rows; }
  std::int64_t n_cols() const override { return x_.n_cols; }

  void scores(const A* w, A* out, int n_threads) const override {
    if constexpr (kSparse<View>) {
      const auto entries = x_.entries_before(x_.n_rows);
      const auto blocks = independent_blocks(x_.n_rows, entries);
      parallel_for(blocks.count, useful_threads(View::kEntryCost * entries, n_threads), [&](std::int64_t k) {
        for (auto i = blocks.begin(k); i < blocks.end(k); ++i) out[i] = x_.dot(i, w);
      });
    } else {
      const std::vector<double> wide(w, w + x_.n_cols);
      std::vector<double> s(static_cast<std::size_t>(x_.n_rows));
      matrix_scores(x_, wide.data(), Subset{nullptr, x_.n_rows}, s.data(), n_threads);
      std::copy(s.begin(), s.end(), out);
    }
  }

  void pull(const A* v, double* out, int n_threads) const override {
    if constexpr (kSparse<View>) {
      const auto entries = x_.entries_before(x_.n_rows);
      const auto blocks = reduced_blocks(x_.n_rows, entries, x_.n_cols);
      reduce(blocks, x_.n_cols, useful_threads(View::kEntryCost * entries, n_threads), out,
             [&](std::int64_t k, double* part) { pull_some(v, blocks.begin(k), blocks.end(k), part); });
    } else {
      const std::vector<double> wide(v, v + x_.n_rows);
      matrix_pull_back(x_, wide.data(), Subset{nullptr, x_.n_rows}, out, n_threads);
    }
  }

  void squares(double* out, int n_threads) const override {
    matrix_squared_norms(x_, Subset{nullptr, x_.n_rows}, out, n_threads);
  }

  void copy(ThinCopy<A>& thin) const override {
    const auto size = thin.rows.size();
    thin.indptr.assign(size + 1, 0);
    if constexpr (kSparse<View>) {
      for (std::size_t k = 0; k < size; ++k)
        thin.indptr[k + 1] = thin.indptr[k] + x_.entries(thin.rows[k]);
      const auto entries = static_cast<std::size_t>(thin.indptr[size]);
      thin.entries.resize(entries);
      thin.places.resize(entries);
      for (std::size_t k = 0; k < size; ++k) {
        const auto from = x_.indptr[thin.rows[k]], to = x_.indptr[thin.rows[k] + 1];
        const auto at = static_cast<std::size_t>(thin.indptr[k]);
        std::transform(x_.data + from, x_.data + to, thin.entries.begin() + at,
                       [](auto entry) { return static_cast<A>(entry); });
        std::transform(x_.indices + from, x_.indices + to, thin.places.begin() + at,
                       [](auto place) { return static_cast<std::uint32_t>(place); });
      }
      thin.number(x_.n_cols);
    } else {
      const auto d = x_.n_cols;
      for (std::size_t k = 0; k < size; ++k) thin.indptr[k + 1] = thin.indptr[k] + d;
      thin.entries.resize(static_cast<std::size_t>(thin.indptr[size]));
      std::vector<double> row(static_cast<std::size_t>(d));
      for (std::size_t k = 0; k < size; ++k) {
        matrix_take(x_, Subset{thin.rows.data() + k, 1}, row.data());
        std::copy(row.begin(), row.end(), thin.entries.begin() + thin.indptr[k]);
      }
      thin.places.clear();
      thin.columns.resize(static_cast<std::size_t>(d));
      std::iota(thin.columns.begin(), thin.columns.end(), std::int64_t(0));
    }
  }

  bool sweeps() const override { return kByRows<View>; }

  Swept sweep(const SweepAsk& ask, double* w, double* slopes) const override {
    if constexpr (kByRows<View>) return DualSweeps<A, View>(x_, ask).run(w, slopes);
    else return {ask.level, 0, {}};
  }

 private:
  void pull_some(const A* v, std::int64_t begin, std::int64_t end, double* part) const
    requires kSparse<View>
  {
    if constexpr (std::is_same_v<A, double>) {
      for (auto i = begin; i < end; ++i)
        if (v[i] != 0) x_.add(i, v[i], part);
    } else {
      std::vector<A> some(static_cast<std::size_t>(x_.n_cols));
      for (auto at = begin; at < end; at += kRowsInSingle) {
        const auto last = std::min(at + kRowsInSingle, end);
        if (at > begin) std::fill(some.begin(), some.end(), A(0));
        for (auto i = at; i < last; ++i)
          if (v[i] != 0) x_.add(i, v[i], some.data());
        for (std::int64_t j = 0; j < x_.n_cols; ++j)
          part[j] += static_cast<double>(some[static_cast<std::size_t>(j)]);
      }
    }
  }

  View x_;
};

}  // namespace

template <class A, class View>
std::unique_ptr<WideRows<A>> wide_rows(const View& x) {
  return std::make_unique<RowsOf<A, View>>(x);
}

#define TOPRANK_WIDE_ROWS(A, ...) \
  template std::unique_ptr<WideRows<A>> wide_rows<A>(const __VA_ARGS__&);
TOPRANK_WIDE_ROWS(float, SparseRows<float>)
TOPRANK_WIDE_ROWS(float, SparseRows<double>)
TOPRANK_WIDE_ROWS(double, SparseRows<float>)
TOPRANK_WIDE_ROWS(double, SparseRows<double>)
TOPRANK_WIDE_ROWS(double, DenseRows<float>)
TOPRANK_WIDE_ROWS(double, DenseRows<double>)
TOPRANK_WIDE_ROWS(double, DenseColumns<float>)
TOPRANK_WIDE_ROWS(double, DenseColumns<double>)

}  // namespace toprank
