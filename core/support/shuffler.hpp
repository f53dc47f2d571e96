// Random orders, the same on every platform for a seed.
#pragma once

#include <cstdint>
#include <utility>

#include "support/high_product.hpp"

namespace toprank {

class Shuffler {
 public:
  explicit Shuffler(std::uint64_t seed) : state_(seed * 7919 + 88172645463325252ULL) {}
  template <class Index>
  void operator()(Index* list, std::int64_t size) {
    for (auto k = size - 1; k > 0; --k) std::swap(list[k], list[below(k + 1)]);
  }

 private:
  std::int64_t below(std::int64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::int64_t>(high_product(state_, static_cast<std::uint64_t>(n)));
  }
  std::uint64_t state_;
};

}  // namespace toprank
