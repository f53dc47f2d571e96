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
  }

  std::int64_t padded_width() const { return count_ * kWide; }

  // s_i = x_i.w and, where asked for, |x_i|^2.
  void scores(const A* rows, std::int64_t stride, std::int64_t n, A* s, A* squares) const {
    const A* w = w_.data();
    for (std::int64_t i = 0; i < n; ++i) {
      const A* row = rows + i * stride;
      Vector even = {}, odd = {};
      std::int64_t k = 0;
      for (; k + 2 <= count_; k += 2) {
        even += load(row + begin(k)) * load(w + k * kWide);
        odd += load(row + begin(k + 1)) * load(w + (k + 1) * kWide);
      }
      if (k < count_) even += load(row + begin(k)) * load(w + k * kWide);
      s[i] = total(even + odd);
    }
    if (squares == nullptr) return;
    for (std::int64_t i = 0; i < n; ++i) {
      const A* row = rows + i * stride;
      Vector sum = {};
      for (std::int64_t k = 0; k + 1 < count_; ++k) {
        const Vector x = load(row + begin(k));
        sum += x * x;
      }
      A square = total(sum);
      for (std::int64_t j = (count_ - 1) * kWide; j < n_cols_; ++j) square += row[j] * row[j];
      squares[i] = square;
    }
  }

  // g += X'v and, where u is given, h += X'u; both have `padded_width` entries, in the order of the
  // vectors.
  void pull(const A* rows, std::int64_t stride, std::int64_t n, const A* v, const A* u, double* g,
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

  template <int Width>
  void pull_some(const A* rows, std::int64_t stride, std::int64_t n, const A* v, const A* u,
                 std::int64_t k, double* g, double* h) const {
    std::int64_t at[Width];
    for (int c = 0; c < Width; ++c) at[c] = begin(k + c);
    Vector of_v[Width] = {}, of_u[Width] = {};
    if (u == nullptr) {
      for (std::int64_t i = 0; i < n; ++i)
        for (int c = 0; c < Width; ++c) of_v[c] += load(rows + i * stride + at[c]) * v[i];
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        for (int c = 0; c < Width; ++c) {
          const Vector x = load(rows + i * stride + at[c]);
          of_v[c] += x * v[i];
          of_u[c] += x * u[i];
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
  std::vector<A> w_;  // as the vectors lie; zero where one overlaps, or beyond the columns
};

}  // namespace toprank
