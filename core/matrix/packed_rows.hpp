// Rows packed in panels of 12 columns and multiplied into a padded square, H += Z'Z: the upper
// triangle of it, and no more than its blocks on the diagonal of the lower.
#pragma once

#include <cstdint>
#include <vector>

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
  void flush(double* h, int n_threads);

 private:
  double* buffer() { return reinterpret_cast<double*>(packs_.data()); }

  template <int Packs>
  void multiply_tile(const double* a, const double* b, double* c, std::int64_t stride) const;

  std::int64_t n_cols_, n_panels_, filled_ = 0;
  std::vector<Pack> packs_;  // the padding columns stay zero
};

}  // namespace toprank
