#include "matrix/packed_rows.hpp"

#include <algorithm>

#include "support/threads.hpp"

namespace toprank {

// C[4 x 4 Packs] += A'B over the packed rows; A is four columns of a panel, B a panel.
template <int Packs>
void PackedRows::multiply_tile(const double* a, const double* b, double* c,
                               std::int64_t stride) const {
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

void PackedRows::flush(double* h, int n_threads) {
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

}  // namespace toprank
