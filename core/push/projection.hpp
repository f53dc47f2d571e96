// Projection (9) of the TopPush paper: the nearest point of {a, b >= 0, sum a = sum b}.
#pragma once

#include <cstdint>

namespace toprank {

// a <- [a - gamma]_+, b <- [b + gamma]_+ with the gamma that balances the sums (Proposition 1);
// expected time linear in m + n.
void project_balanced(double* a, std::int64_t m, double* b, std::int64_t n);

}  // namespace toprank
