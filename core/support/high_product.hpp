// The upper half of a product of two 64-bit numbers.
#pragma once

#include <cstdint>

namespace toprank {

inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
#else  // by halves, as on paper
  const std::uint64_t a_low = a & 0xffffffffULL, a_high = a >> 32;
  const std::uint64_t b_low = b & 0xffffffffULL, b_high = b >> 32;
  const std::uint64_t low = a_low * b_low, one = a_high * b_low, two = a_low * b_high;
  const std::uint64_t middle = (low >> 32) + (one & 0xffffffffULL) + (two & 0xffffffffULL);
  return a_high * b_high + (one >> 32) + (two >> 32) + (middle >> 32);
#endif
}

}  // namespace toprank
