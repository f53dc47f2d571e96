// An urn: n calibration items and m new ones in random order, best first, all orders alike.
// V(c) is how many of the new ones come before the (c+1)-th calibration item, c = 0 .. n-1.
#pragma once

#include <cstdint>

namespace toprank {

struct Urn {
  std::int64_t n, m;
};

// The least q with P(V(c) > q) <= level.
std::int64_t upper_quantile(const Urn& urn, std::int64_t c, double level);

// The largest a with P(V(c) < a) <= level.
std::int64_t lower_quantile(const Urn& urn, std::int64_t c, double level);

// P(V(c) < lower or V(c) > upper for some c of the grid), which rises; `size` of each.
double crossing_probability(const Urn& urn, const std::int64_t* grid, const std::int64_t* lower,
                            const std::int64_t* upper, std::int64_t size);

}  // namespace toprank
