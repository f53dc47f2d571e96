// Random numbers, the same on every platform for a seed.
#pragma once

#include <cstdint>

#include "support/high_product.hpp"

namespace toprank {

// A counter, its bits mixed: 64-bit numbers that never repeat within a run.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // One of 0, ..., n - 1.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(high_product((*this)(), static_cast<std::uint64_t>(n)));
  }
  // In [0, 1).
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
  // In (0, 1): its logarithm is finite and below zero.
  double inside() { return (static_cast<double>((*this)() >> 12) + 0.5) * 0x1p-52; }

 private:
  std::uint64_t state_;
};

}  // namespace toprank
