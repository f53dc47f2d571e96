// Plain vector work. Compiled apart from the sparse kernels, which must not be vectorised.
#pragma once

#include <cstdint>

namespace toprank {

double dot(const double* a, const double* b, std::int64_t n);
double dot3(const double* a, const double* b, const double* c, std::int64_t n);
double sum(const double* a, std::int64_t n);
double max(const double* a, std::int64_t n);
void add_multiple(double c, const double* a, double* out, std::int64_t n);        // out += c a
void difference(const double* a, const double* b, double* out, std::int64_t n);   // out = a - b
void mix(double* a, const double* b, double t, std::int64_t n);                   // a += t (b - a)
void rotate(double c, double s, double* a, double* b, std::int64_t n);            // Givens

// out[k] = m_k . x, and out -= sum_k c[k] m_k, for `count` rows m_k of length n
void rows_dot(const double* m, std::int64_t count, std::int64_t n, const double* x, double* out);
void rows_subtract(const double* m, std::int64_t count, std::int64_t n, const double* c,
                   double* out);

}  // namespace toprank
