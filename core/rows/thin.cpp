#include "rows/thin.hpp"

#include <algorithm>

#include "rows/row_pass.hpp"
#include "support/random.hpp"

namespace toprank {

template <class A>
Thinned thin(const A* z, const A* squares, double typical, std::int64_t n, const double* tilt,
             const RowLoss& loss, double wanted, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<A> curvature(size), slope(size);
  row_terms(z, n, tilt, loss, slope.data(), curvature.data(), 1);
  std::vector<A>& measure = slope;  // no one needs the slopes
  const A share = static_cast<A>(0.5 / typical);
  double total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    measure[i] = squares == nullptr ? curvature[i] : curvature[i] * (A(0.5) + share * squares[i]);
    total += static_cast<double>(measure[i]);
  }
  Thinned kept;
  if (!(total > 0) || !(wanted > 0)) return kept;
  const double tau = total / wanted;
  kept.rows.reserve(static_cast<std::size_t>(wanted * 1.1) + 16);
  kept.curvature.reserve(kept.rows.capacity());
  // One random number: a row is kept where the sum of the probabilities passes a whole number.
  double upto = Random(seed).uniform();
  for (std::size_t i = 0; i < size; ++i) {
    const double m = static_cast<double>(measure[i]);
    if (!(m > 0)) continue;
    const double chance = m / tau;
    if (chance < 1) {
      upto += chance;
      if (upto < 1) continue;
      upto -= 1;
    }
    kept.rows.push_back(static_cast<std::int64_t>(i));
    kept.curvature.push_back(static_cast<double>(curvature[i]) / std::min(chance, 1.0));
  }
  return kept;
}

template Thinned thin(const float*, const float*, double, std::int64_t, const double*,
                      const RowLoss&, double, std::uint64_t);
template Thinned thin(const double*, const double*, double, std::int64_t, const double*,
                      const RowLoss&, double, std::uint64_t);

}  // namespace toprank
