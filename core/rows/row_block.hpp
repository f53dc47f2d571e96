// The products of a block of dense rows, a vector of columns at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rows/lanes.hpp"

namespace toprank {

template <class A>
class RowBlock {
 public:
  using Vector = Lanes<A>;
  static constexpr std::int64_t kWide = kLanes<A>;

  // Rows that are wide enough are read where they are: the last vector then overlaps the one before
  // it, and counts only where it does not. Others are read from a copy padded with zeros.
  RowBlock(std::int64_t n_cols, const double* w, bool padded)
      : n_cols_(n_cols), count_((n_cols + kWide - 1) / kWide), padded_(padded),
        w_(static_cast<std::size_t>(count_ * kWide)) {
    for (std::int64_t k = 0; k < count_; ++k)
      for (std::int64_t l = 0; l < kWide; ++l) {
        const auto j = begin(k) + l;
        if (j >= k * kWide && j < n_cols)
          w_[static_cast<std::size_t>(k * kWide + l)] = static_cast<A>(w[j]);
      }
    for (std::int64_t l = 0; l < kWide; ++l) {
      const auto j = begin(count_ - 1) + l;
      counts_[l] = j >= (count_ - 1) * kWide && j < n_cols ? A(1) : A(0);
    }
  }

  std::int64_t padded_width() const { return count_ * kWide; }
  bool padded() const { return padded_; }

  // s_i = x_i.w and, where asked for, |x_i|^2.
  template <class T>
  void scores(const T* rows, std::int64_t stride, std::int64_t n, A* s, A* squares) const {
    if (squares == nullptr) return dots<false>(rows, stride, n, s, squares);
    dots<true>(rows, stride, n, s, squares);
  }

  // g += X'v and, where u is given, h += X'u; both have `padded_width` entries, in the order of the
  // vectors. The rows that follow these are asked for meanwhile.
  template <class T>
  void pull(const T* rows, std::int64_t stride, std::int64_t n, const A* v, const A* u, double* g,
            double* h) const {
    std::int64_t k = 0;
    for (; k + 4 <= count_; k += 4) pull_some<4>(rows, stride, n, v, u, k, g, h);
    switch (count_ - k) {
      case 3: return pull_some<3>(rows, stride, n, v, u, k, g, h);
      case 2: return pull_some<2>(rows, stride, n, v, u, k, g, h);
      case 1: return pull_some<1>(rows, stride, n, v, u, k, g, h);
      default: return;
    }
  }

  // Adds what `pull` summed to one entry a column.
  void unpack(const double* packed, double* out) const {
    for (std::int64_t k = 0; k < count_; ++k)
      for (std::int64_t l = 0; l < kWide; ++l) {
        const auto j = begin(k) + l;
        if (j >= k * kWide && j < n_cols_) out[j] += packed[k * kWide + l];
      }
  }

 private:
  std::int64_t begin(std::int64_t k) const {
    return padded_ ? k * kWide : std::min(k * kWide, n_cols_ - kWide);
  }

  template <bool Squares, class T>
  void dots(const T* rows, std::int64_t stride, std::int64_t n, A* s, A* squares) const {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4)
      some_dots<4, Squares>(rows + i * stride, stride, s + i, Squares ? squares + i : nullptr);
    for (; i < n; ++i)
      some_dots<1, Squares>(rows + i * stride, stride, s + i, Squares ? squares + i : nullptr);
  }

  // Of one row or four: their sums are under way at once.
  template <int Rows, bool Squares, class T>
  [[gnu::always_inline]] void some_dots(const T* rows, std::int64_t stride, A* s, A* squares) const {
    const A* w = w_.data();
    Vector sum[Rows] = {}, square[Rows] = {};
    auto take = [&](std::int64_t k, auto counts) __attribute__((always_inline)) {
      const Vector weight = load(w + k * kWide);
      for (int r = 0; r < Rows; ++r) {
        const Vector x = load_as<A>(rows + r * stride + begin(k));
        sum[r] += x * weight;
        if constexpr (Squares) square[r] += counts(x) * x;
      }
    };
    const auto last = count_ - 1;
    for (std::int64_t k = 0; k < last; ++k) take(k, [](Vector x) { return x; });
    const Vector counts = load(counts_);
    take(last, [&](Vector x) { return x * counts; });
    if constexpr (Rows == 4) {
      totals(sum, s);
      if constexpr (Squares) totals(square, squares);
    } else {
      *s = total(sum[0]);
      if constexpr (Squares) *squares = total(square[0]);
    }
  }

  template <int Width, class T>
  void pull_some(const T* rows, std::int64_t stride, std::int64_t n, const A* v, const A* u,
                 std::int64_t k, double* g, double* h) const {
    std::int64_t at[Width];
    for (int c = 0; c < Width; ++c) at[c] = begin(k + c);
    Vector of_v[Width] = {}, of_u[Width] = {};
    const T* next = rows + n * stride + at[0];
    constexpr std::int64_t kLine = 64 / sizeof(T);
    auto ask = [&](std::int64_t i) __attribute__((always_inline)) {
      for (std::int64_t c = 0; c < Width * kWide; c += kLine)
        __builtin_prefetch(next + i * stride + c);
    };
    if (u == nullptr) {
      for (std::int64_t i = 0; i < n; ++i) {
        ask(i);
        for (int c = 0; c < Width; ++c) of_v[c] += load_as<A>(rows + i * stride + at[c]) * v[i];
      }
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        ask(i);
        for (int c = 0; c < Width; ++c) {
          const Vector x = load_as<A>(rows + i * stride + at[c]);
          of_v[c] += x * v[i];
          of_u[c] += x * u[i];
        }
      }
    }
    for (int c = 0; c < Width; ++c)
      for (std::int64_t l = 0; l < kWide; ++l) {
        g[(k + c) * kWide + l] += static_cast<double>(of_v[c][l]);
        if (u != nullptr) h[(k + c) * kWide + l] += static_cast<double>(of_u[c][l]);
      }
  }

  std::int64_t n_cols_, count_;
  bool padded_;
  A counts_[kWide];  // one where the last vector counts
  std::vector<A> w_;  // as the vectors lie; zero where one overlaps, or beyond the columns
};

}  // namespace toprank
