#include "rows/thin_copy.hpp"

#include <algorithm>
#include <cmath>

#include "matrix/products.hpp"
#include "support/interrupt.hpp"

namespace toprank {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffffU;

// q = X' D X p, D diagonal or not, and the sum of what X' is applied to.
template <class A>
class Product {
 public:
  Product(const ThinCopy<A>& x, int n_threads)
      : x_(x),
        n_cols_(static_cast<std::int64_t>(x.columns.size())),
        blocks_(reduced_blocks(static_cast<std::int64_t>(x.rows.size()), x.n_entries(), n_cols_)),
        n_threads_(useful_threads(4 * x.n_entries(), n_threads)),
        parts_(static_cast<std::size_t>(blocks_.count * n_cols_)),
        sums_(static_cast<std::size_t>(blocks_.count)),
        bent_(x.bend ? x.rows.size() : 0) {}

  double operator()(const A* p, A* q) {
    if (x_.bend) {
      parallel_for(blocks_.count, n_threads_, [&](std::int64_t k) {
        for (auto i = blocks_.begin(k); i < blocks_.end(k); ++i)
          bent_[static_cast<std::size_t>(i)] = score(i, p);
      });
      x_.bend(bent_.data());
    }
    parallel_for(blocks_.count, n_threads_, [&](std::int64_t k) {
      A* out = k == 0 ? q : parts_.data() + k * n_cols_;
      std::fill_n(out, n_cols_, A(0));
      double sum = 0;
      for (auto i = blocks_.begin(k); i < blocks_.end(k); ++i)
        sum += static_cast<double>(x_.places.empty() ? dense_row(i, p, out) : row(i, p, out));
      sums_[static_cast<std::size_t>(k)] = sum;
    });
    double total = sums_[0];
    for (std::int64_t k = 1; k < blocks_.count; ++k) {
      const A* part = parts_.data() + k * n_cols_;
      for (std::int64_t j = 0; j < n_cols_; ++j) q[j] += part[j];
      total += sums_[static_cast<std::size_t>(k)];
    }
    return total;
  }

 private:
  // What the row is multiplied by, and added to `out` with.
  [[gnu::always_inline]] A row(std::int64_t i, const A* p, A* out) const {
    const auto r = static_cast<std::size_t>(i);
    const A t = x_.bend ? bent_[r] : x_.weight[r] * sparse_score(i, p);
    const auto begin = x_.indptr[r];
    const auto n = x_.indptr[r + 1] - begin;
    sparse_add(x_.entries.data() + begin, x_.places.data() + begin, n, t, out);
    return t;
  }

  A dense_row(std::int64_t i, const A* p, A* out) const {
    const auto r = static_cast<std::size_t>(i);
    const A t = x_.bend ? bent_[r] : x_.weight[r] * dense_score(i, p);
    dense_add(x_.entries.data() + i * n_cols_, n_cols_, t, out);
    return t;
  }

  A score(std::int64_t i, const A* p) const {
    return x_.places.empty() ? dense_score(i, p) : sparse_score(i, p);
  }

  [[gnu::always_inline]] A sparse_score(std::int64_t i, const A* p) const {
    const auto r = static_cast<std::size_t>(i);
    const auto begin = x_.indptr[r];
    const auto n = x_.indptr[r + 1] - begin;
    return sparse_dot(x_.entries.data() + begin, x_.places.data() + begin, n, p);
  }

  A dense_score(std::int64_t i, const A* p) const {
    return dense_dot(x_.entries.data() + i * n_cols_, n_cols_, p);
  }

  const ThinCopy<A>& x_;
  std::int64_t n_cols_;
  Blocks blocks_;
  int n_threads_;
  std::vector<A> parts_;
  std::vector<double> sums_;
  std::vector<A> bent_;
};

// The sums over rows of weight x, and of weight x^2.
template <class A>
void column_sums(const ThinCopy<A>& x, std::vector<A>& border, std::vector<A>& diagonal) {
  border.assign(x.columns.size(), A(0));
  diagonal.assign(x.columns.size(), A(0));
  for (std::size_t i = 0; i < x.rows.size(); ++i)
    for (auto q = x.indptr[i]; q < x.indptr[i + 1]; ++q) {
      const auto at = static_cast<std::size_t>(q);
      const auto place = x.places.empty() ? static_cast<std::size_t>(q - x.indptr[i])
                                          : static_cast<std::size_t>(x.places[at]);
      const A part = x.weight[i] * x.entries[at];
      border[place] += part;
      diagonal[place] += part * x.entries[at];
    }
}

}  // namespace

template <class A>
void ThinCopy<A>::number(std::int64_t n_cols) {
  std::vector<std::uint32_t> of(static_cast<std::size_t>(n_cols), kNowhere);
  columns.clear();
  for (auto& place : places) {
    std::uint32_t& known = of[place];
    if (known == kNowhere) {
      known = static_cast<std::uint32_t>(columns.size());
      columns.push_back(static_cast<std::int64_t>(place));
    }
    place = known;
  }
}

template <class A>
Stepped newton_step(const ThinCopy<A>& rows, std::int64_t n_cols, const double* gradient,
                    const StepAsk& ask, double* step) {
  // Columns that no row has are solved by themselves.
  double all = 0;
  for (std::int64_t j = 0; j < n_cols; ++j) {
    step[j] = -gradient[j] / ask.alpha;
    all += gradient[j] * gradient[j];
  }
  const auto size = rows.columns.size();
  std::vector<A> border, scale;
  column_sums(rows, border, scale);
  // Halfway, in logarithms, between the diagonal and none: see solvers/hessian_products.py.
  const A most = scale.empty() ? A(0) : *std::max_element(scale.begin(), scale.end());
  const A alpha = static_cast<A>(ask.alpha);
  for (A& one : scale) one = 1 / (alpha + std::sqrt(one * most));
  double heavy = 0;
  for (const A weight : rows.weight) heavy += static_cast<double>(weight);
  const bool centred = ask.free_bias && heavy > 0;
  std::vector<A> r(size), z(size), p(size), q(size), x(size);
  double rz = 0, rr = 0, mean = 0;
  for (std::size_t k = 0; k < size; ++k) {
    r[k] = static_cast<A>(-gradient[rows.columns[k]]);
    p[k] = z[k] = r[k] * scale[k];
    rz += static_cast<double>(r[k] * z[k]);
    rr += static_cast<double>(r[k] * r[k]);
  }
  const double enough = std::max(ask.share * ask.share * all, ask.enough);
  Product<A> product(rows, ask.n_threads);
  Poll poll;
  int k = 0;
  for (double of_p = 0; size > 0 && k < ask.max_iter && (k == 0 || rr > enough); ++k) {
    of_p = product(p.data(), q.data());
    const double centre = centred ? of_p / heavy : 0.0;
    const A off = static_cast<A>(centre);
    A pq = 0;
#pragma omp simd reduction(+ : pq)
    for (std::size_t j = 0; j < size; ++j) {
      q[j] += alpha * p[j] - off * border[j];
      pq += p[j] * q[j];
    }
    if (!(pq > 0)) break;
    const A by = static_cast<A>(rz / static_cast<double>(pq));
    A next_rz = 0, next_rr = 0;
#pragma omp simd reduction(+ : next_rz, next_rr)
    for (std::size_t j = 0; j < size; ++j) {
      x[j] += by * p[j];
      const A left = r[j] - by * q[j], scaled = left * scale[j];
      r[j] = left;
      z[j] = scaled;
      next_rz += left * scaled;
      next_rr += left * left;
    }
    mean += static_cast<double>(by) * centre;
    const double now = static_cast<double>(next_rz);
    rr = static_cast<double>(next_rr);
    const A turn = static_cast<A>(now / rz);
    rz = now;
#pragma omp simd
    for (std::size_t j = 0; j < size; ++j) p[j] = z[j] + turn * p[j];
    poll(2 * rows.n_entries());
    if (!(rz > 0)) break;
  }
  for (std::size_t j = 0; j < size; ++j) step[rows.columns[j]] = static_cast<double>(x[j]);
  step[n_cols] = -mean;
  return {k, rr};
}

template struct ThinCopy<float>;
template struct ThinCopy<double>;
template Stepped newton_step(const ThinCopy<float>&, std::int64_t, const double*, const StepAsk&,
                             double*);
template Stepped newton_step(const ThinCopy<double>&, std::int64_t, const double*, const StepAsk&,
                             double*);

}  // namespace toprank
