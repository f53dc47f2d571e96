#include "rows/wide_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "rows/dual_step.hpp"
#include "support/interrupt.hpp"
#include "support/shuffler.hpp"

namespace toprank {
namespace {

// Rows whose sums are kept in float: rounding grows with their number.
constexpr std::int64_t kRowsInSingle = 16'384;
// When the multiplier of the threshold moves: its error beside the largest step of a row.
constexpr double kBiasShare = 0.2;

template <class A, class T, class I>
[[gnu::always_inline]] inline A dot(const SparseRows<T, I>& x, std::int64_t row, const A* w) {
  auto q = x.indptr[row];
  const auto end = x.indptr[row + 1];
  A s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (; q + 4 <= end; q += 4) {
    s0 += static_cast<A>(x.data[q]) * w[x.indices[q]];
    s1 += static_cast<A>(x.data[q + 1]) * w[x.indices[q + 1]];
    s2 += static_cast<A>(x.data[q + 2]) * w[x.indices[q + 2]];
    s3 += static_cast<A>(x.data[q + 3]) * w[x.indices[q + 3]];
  }
  for (; q < end; ++q) s0 += static_cast<A>(x.data[q]) * w[x.indices[q]];
  return (s0 + s1) + (s2 + s3);
}

template <class A, class T, class I>
[[gnu::always_inline]] inline void add(const SparseRows<T, I>& x, std::int64_t row, A c, A* out) {
  auto q = x.indptr[row];
  const auto end = x.indptr[row + 1];
  for (; q + 4 <= end; q += 4) {  // the columns of a row differ: four sums at once
    A *o0 = out + x.indices[q], *o1 = out + x.indices[q + 1], *o2 = out + x.indices[q + 2],
      *o3 = out + x.indices[q + 3];
    const A v0 = *o0 + c * static_cast<A>(x.data[q]), v1 = *o1 + c * static_cast<A>(x.data[q + 1]),
            v2 = *o2 + c * static_cast<A>(x.data[q + 2]),
            v3 = *o3 + c * static_cast<A>(x.data[q + 3]);
    *o0 = v0, *o1 = v1, *o2 = v2, *o3 = v3;
  }
  for (; q < end; ++q) out[x.indices[q]] += c * static_cast<A>(x.data[q]);
}

template <class A, class T>
A dot(const DenseRows<T>& x, std::int64_t row, const A* w) {
  const T* v = x.x + row * x.stride;
  A s = 0;
#pragma omp simd reduction(+ : s)
  for (std::int64_t j = 0; j < x.n_cols; ++j) s += static_cast<A>(v[j]) * w[j];
  return s;
}

template <class A, class T>
void add(const DenseRows<T>& x, std::int64_t row, A c, A* out) {
  const T* v = x.x + row * x.stride;
#pragma omp simd
  for (std::int64_t j = 0; j < x.n_cols; ++j) out[j] += c * static_cast<A>(v[j]);
}

template <class View>
inline constexpr bool kSparse = requires(const View& x) { x.indptr; };
template <class View>
inline constexpr bool kByRows = requires(const View& x) { x.entries(0); };

template <class A, class View>
double descend(const View& x, const EpochAsk& ask, double* out) {
  const auto n = x.n_rows, d = x.n_cols;
  std::vector<A> w(static_cast<std::size_t>(d)), dual(static_cast<std::size_t>(n));
  std::vector<A> place(dual.size(), std::numeric_limits<A>::quiet_NaN()), square(dual.size());
  std::vector<std::int32_t> order;
  for (std::int64_t i = 0; i < n; ++i) {
    if (ask.tilt[i] != 0) order.push_back(static_cast<std::int32_t>(i));
    square[static_cast<std::size_t>(i)] = static_cast<A>(ask.squares[i] + ask.feature);
  }
  const A per_alpha = static_cast<A>(1 / ask.alpha), feature = static_cast<A>(ask.feature);
  double level = ask.level, excess = 0;  // by how much the positives' duals sum to more
  Shuffler shuffle(ask.seed);
  Poll poll;
  for (int epoch = 0; epoch < ask.epochs; ++epoch) {
    shuffle(order.data(), static_cast<std::int64_t>(order.size()));
    A largest = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k + 8 < order.size()) x.prefetch_place(order[k + 8]);
      if (k + 4 < order.size()) x.prefetch(order[k + 4]);
      const auto i = static_cast<std::int64_t>(order[k]);
      const auto at = static_cast<std::size_t>(i);
      const bool positive = ask.tilt[i] > 0;
      const A c = static_cast<A>(positive ? ask.tilt[i] : -ask.tilt[i]);
      const A score = dot<A>(x, i, w.data()) + static_cast<A>(level);
      const RowSide& side = positive ? ask.loss.positives : ask.loss.negatives;
      const A wrong = positive ? -score : score, q = square[at] * per_alpha;
      // What the equation says of the dual at its root: near it the slope would be less exact.
      const A z = dual_root<A>(side, c, wrong, dual[at], q, place[at]);
      const A next = std::max(dual[at] + (wrong - z) / q, A(0));
      const A by = (next - dual[at]) * per_alpha * (positive ? A(1) : A(-1));
      place[at] = z;
      if (!(std::abs(by) > 0)) continue;
      dual[at] = next;
      excess += static_cast<double>(by);
      largest = std::max(largest, std::abs(by) * square[at]);
      add<A>(x, i, by, w.data());
      level += static_cast<double>(by * feature);
      poll(2 * x.entries(i) + 16);
    }
    // The method of multipliers, once the rows' own error is the smaller one.
    const double lacks = ask.feature * excess;
    if (std::abs(lacks) >= kBiasShare * static_cast<double>(largest)) level += lacks;
  }
  std::copy(w.begin(), w.end(), out);
  return level;
}

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
      parallel_for(blocks.count, useful_threads(entries, n_threads), [&](std::int64_t k) {
        for (auto i = blocks.begin(k); i < blocks.end(k); ++i) out[i] = dot<A>(x_, i, w);
      });
    } else {
      const std::vector<double> wide(w, w + x_.n_cols);
      std::vector<double> s(static_cast<std::size_t>(x_.n_rows));
      dense_scores(x_, wide.data(), Subset{nullptr, x_.n_rows}, s.data(), n_threads);
      std::copy(s.begin(), s.end(), out);
    }
  }

  void pull(const A* v, double* out, int n_threads) const override {
    if constexpr (kSparse<View>) {
      const auto entries = x_.entries_before(x_.n_rows);
      const auto blocks = reduced_blocks(x_.n_rows, entries, x_.n_cols);
      reduce(blocks, x_.n_cols, useful_threads(entries, n_threads), out,
             [&](std::int64_t k, double* part) { pull_some(v, blocks.begin(k), blocks.end(k), part); });
    } else {
      const std::vector<double> wide(v, v + x_.n_rows);
      dense_pull_back(x_, wide.data(), Subset{nullptr, x_.n_rows}, out, n_threads);
    }
  }

  void squares(double* out, int n_threads) const override {
    const Subset all{nullptr, x_.n_rows};
    if constexpr (kSparse<View>) sparse_squared_norms(x_, all, out, n_threads);
    else dense_squared_norms(x_, all, out, n_threads);
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
        dense_take(x_, Subset{thin.rows.data() + k, 1}, row.data());
        std::copy(row.begin(), row.end(), thin.entries.begin() + thin.indptr[k]);
      }
      thin.places.clear();
      thin.columns.resize(static_cast<std::size_t>(d));
      std::iota(thin.columns.begin(), thin.columns.end(), std::int64_t(0));
    }
  }

  bool sweeps() const override { return kByRows<View>; }

  double epochs(const EpochAsk& ask, double* w) const override {
    if constexpr (kByRows<View>) return descend<A>(x_, ask, w);
    else return ask.level;
  }

 private:
  void pull_some(const A* v, std::int64_t begin, std::int64_t end, double* part) const
    requires kSparse<View>
  {
    if constexpr (std::is_same_v<A, double>) {
      for (auto i = begin; i < end; ++i)
        if (v[i] != 0) add<A>(x_, i, v[i], part);
    } else {
      std::vector<A> some(static_cast<std::size_t>(x_.n_cols));
      for (auto at = begin; at < end; at += kRowsInSingle) {
        const auto last = std::min(at + kRowsInSingle, end);
        if (at > begin) std::fill(some.begin(), some.end(), A(0));
        for (auto i = at; i < last; ++i)
          if (v[i] != 0) add<A>(x_, i, v[i], some.data());
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
TOPRANK_WIDE_ROWS(float, SparseRows<float, std::int32_t>)
TOPRANK_WIDE_ROWS(float, SparseRows<float, std::int64_t>)
TOPRANK_WIDE_ROWS(float, SparseRows<double, std::int32_t>)
TOPRANK_WIDE_ROWS(float, SparseRows<double, std::int64_t>)
TOPRANK_WIDE_ROWS(double, SparseRows<float, std::int32_t>)
TOPRANK_WIDE_ROWS(double, SparseRows<float, std::int64_t>)
TOPRANK_WIDE_ROWS(double, SparseRows<double, std::int32_t>)
TOPRANK_WIDE_ROWS(double, SparseRows<double, std::int64_t>)
TOPRANK_WIDE_ROWS(double, DenseRows<float>)
TOPRANK_WIDE_ROWS(double, DenseRows<double>)
TOPRANK_WIDE_ROWS(double, DenseColumns<float>)
TOPRANK_WIDE_ROWS(double, DenseColumns<double>)

}  // namespace toprank
