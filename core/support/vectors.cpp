#include "support/vectors.hpp"

#include <algorithm>
#include <limits>

#include "support/row_products.hpp"

namespace toprank {

double dot(const double* a, const double* b, std::int64_t n) {
  return dense_dot(a, n, b);
}

double dot3(const double* a, const double* b, const double* c, std::int64_t n) {
  double s = 0;
#pragma omp simd reduction(+ : s)
  for (std::int64_t i = 0; i < n; ++i) s += a[i] * b[i] * c[i];
  return s;
}

double sum(const double* a, std::int64_t n) {
  double s = 0;
#pragma omp simd reduction(+ : s)
  for (std::int64_t i = 0; i < n; ++i) s += a[i];
  return s;
}

double max(const double* a, std::int64_t n) {
  double s = -std::numeric_limits<double>::infinity();
#pragma omp simd reduction(max : s)
  for (std::int64_t i = 0; i < n; ++i) s = std::max(s, a[i]);
  return s;
}

void add_multiple(double c, const double* a, double* out, std::int64_t n) {
  dense_add(a, n, c, out);
}

void difference(const double* a, const double* b, double* out, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] - b[i];
}

void mix(double* a, const double* b, double t, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) a[i] += t * (b[i] - a[i]);
}

void rotate(double c, double s, double* a, double* b, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    a[i] = c * x + s * y;
    b[i] = c * y - s * x;
  }
}

// Four rows at a time: x is read once for all of them.
void rows_dot(const double* m, std::int64_t count, std::int64_t n, const double* x, double* out) {
  std::int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const double *m0 = m + k * n, *m1 = m0 + n, *m2 = m1 + n, *m3 = m2 + n;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (std::int64_t i = 0; i < n; ++i) {
      s0 += m0[i] * x[i];
      s1 += m1[i] * x[i];
      s2 += m2[i] * x[i];
      s3 += m3[i] * x[i];
    }
    out[k] = s0;
    out[k + 1] = s1;
    out[k + 2] = s2;
    out[k + 3] = s3;
  }
  for (; k < count; ++k) out[k] = dot(m + k * n, x, n);
}

void rows_subtract(const double* m, std::int64_t count, std::int64_t n, const double* c,
                   double* out) {
  std::int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const double *m0 = m + k * n, *m1 = m0 + n, *m2 = m1 + n, *m3 = m2 + n;
    const double c0 = c[k], c1 = c[k + 1], c2 = c[k + 2], c3 = c[k + 3];
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      out[i] -= (c0 * m0[i] + c1 * m1[i]) + (c2 * m2[i] + c3 * m3[i]);
  }
  for (; k < count; ++k) add_multiple(-c[k], m + k * n, out, n);
}

}  // namespace toprank
