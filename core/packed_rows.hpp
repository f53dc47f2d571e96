// Rows packed in panels of 12 columns and multiplied into a padded square, H += Z'Z: the upper
// triangle of it, and no more than its blocks on the diagonal of the lower.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "threads.hpp"

namespace toprank {

typedef double Pack __attribute__((vector_size(32)));  // four doubles

class PackedRows {
 public:
  static constexpr std::int64_t kLane = 4;
  static constexpr std::int64_t kPanel = 12;   // columns of a panel: three packs
  static constexpr std::int64_t kDepth = 192;  // rows packed before they are multiplied

  explicit PackedRows(std::int64_t n_cols)
      : n_cols_(n_cols),
        n_panels_((n_cols + kPanel - 1) / kPanel),
        packs_(static_cast<std::size_t>(n_panels_ * kDepth * kPanel / kLane)) {}

  static std::int64_t padded(std::int64_t n_cols) { return (n_cols + kPanel - 1) / kPanel * kPanel; }

  // Packs a row: `fill(j, width, out)` writes its columns from j on. Multiplies what is packed
  // into h when there is no more room.
  template <class Fill>
  void push(double* h, int n_threads, Fill&& fill) {
    double* out = buffer() + filled_ * kPanel;
    std::int64_t j = 0;
    for (; j + kPanel <= n_cols_; j += kPanel, out += kDepth * kPanel) fill(j, kPanel, out);
    if (j < n_cols_) fill(j, n_cols_ - j, out);
    if (++filled_ == kDepth) flush(h, n_threads);
  }

  // Every tile is summed by one thread, row after row: the bits are the same for any number.
  void flush(double* h, int n_threads) {
    if (filled_ == 0) return;
    const double* rows = buffer();
    const std::int64_t stride = n_panels_ * kPanel;
    parallel_for(n_panels_, n_threads, [&](std::int64_t task) {
      const auto q = n_panels_ - 1 - task;  // the longest first
      const double* b = rows + q * kDepth * kPanel;
      const auto packs = (std::min(kPanel, n_cols_ - q * kPanel) + kLane - 1) / kLane;
      for (std::int64_t p = 0; p <= q; ++p)
        for (std::int64_t i = 0; i < kPanel && p * kPanel + i < n_cols_; i += kLane) {
          const auto below = p == q ? i : 0;  // columns below the diagonal
          const double* a = rows + p * kDepth * kPanel + i;
          double* c = h + (p * kPanel + i) * stride + q * kPanel + below;
          const auto wide = packs - below / kLane;
          if (wide == 3) multiply_tile<3>(a, b + below, c, stride);
          else if (wide == 2) multiply_tile<2>(a, b + below, c, stride);
          else multiply_tile<1>(a, b + below, c, stride);
        }
    });
    filled_ = 0;
  }

 private:
  double* buffer() { return reinterpret_cast<double*>(packs_.data()); }

  // C[4 x 4 Packs] += A'B over the packed rows; A is four columns of a panel, B a panel.
  template <int Packs>
  void multiply_tile(const double* a, const double* b, double* c, std::int64_t stride) const {
    Pack sum[kLane][Packs] = {};
    for (std::int64_t k = 0; k < filled_; ++k, a += kPanel, b += kPanel) {
      const auto* row = reinterpret_cast<const Pack*>(b);
      for (int i = 0; i < kLane; ++i) {
        const Pack ai = {a[i], a[i], a[i], a[i]};
        for (int j = 0; j < Packs; ++j) sum[i][j] += ai * row[j];
      }
    }
    for (int i = 0; i < kLane; ++i)
      for (int j = 0; j < Packs; ++j)
        for (int l = 0; l < kLane; ++l) c[i * stride + kLane * j + l] += sum[i][j][l];
  }

  std::int64_t n_cols_, n_panels_, filled_ = 0;
  std::vector<Pack> packs_;  // the padding columns stay zero
};

}  // namespace toprank
