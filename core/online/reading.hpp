// Rows in the order in which an online method reads them, with their labels and weights.
#pragma once

#include <cstdint>

namespace toprank {

struct Reading {
  const std::int64_t* rows;  // in order
  std::int64_t size;
  const double* signs;    // 1 or -1, one a row of the matrix
  const double* weights;  // above zero, one a row of the matrix
};

template <class Rows>
inline constexpr bool is_sparse = requires(const Rows& x) { x.indptr; };

// So many rows ahead one is asked for: about as long as memory takes.
inline constexpr std::int64_t kRowsAhead = 6;

template <class Rows>
void ask_ahead(const Rows& x, const Reading& reading, std::int64_t k) {
  if (k + 2 * kRowsAhead < reading.size) x.prefetch_place(reading.rows[k + 2 * kRowsAhead]);
  if (k + kRowsAhead < reading.size) x.prefetch(reading.rows[k + kRowsAhead]);
}

// Every matrix an online method reads.
#define TOPRANK_EACH_ROWS(ROWS)           \
  ROWS(DenseRows<float>)                  \
  ROWS(DenseRows<double>)                 \
  ROWS(SparseRows<float>)   \
  ROWS(SparseRows<double>)

}  // namespace toprank
