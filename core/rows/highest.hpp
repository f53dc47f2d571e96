// The negatives that score highest, in one look at the scores.
#pragma once

#include <cstdint>
#include <vector>

namespace toprank {

// The `count` rows of negative weight with the largest scores, in increasing order; of equal scores
// the first ones. NaN counts as lower than any number.
template <class A>
std::vector<std::int64_t> highest(const A* z, const double* tilt, std::int64_t n,
                                  std::int64_t count);

}  // namespace toprank
