// Random numbers, orders and samples: the same on every platform for a seed.
#pragma once

#include <cstdint>
#include <utility>

namespace toprank {

// The upper half of a product of two 64-bit numbers.
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

// Splitmix64: a counter whose bits are mixed. Numbers do not repeat within a run.
class Random {
 public:
  // The counter moves by this with each number.
  static constexpr std::uint64_t kCounter = 0x9e3779b97f4a7c15ULL;

  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() {
    std::uint64_t z = state_ += kCounter;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // An integer in [0, n).
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

// Shuffles lists. It keeps a xorshift generator, because published results depend on its orders.
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

// Systematic sampling: an item is kept when the running sum of the chances passes a whole number.
// One random start in [0, 1) serves the whole sample.
class SystematicSample {
 public:
  explicit SystematicSample(double start) : sum_(start) {}

  // An item with a chance of at least one is always kept.
  bool keeps(double chance) {
    if (!(chance > 0)) return false;
    if (chance >= 1) return true;
    sum_ += chance;
    if (sum_ < 1) return false;
    sum_ -= 1;
    return true;
  }
  // True if no item is kept of several whose chances sum to `chances`: then they are passed.
  bool passes(double chances) {
    if (!(sum_ + chances < 1)) return false;
    sum_ += chances;
    return true;
  }

 private:
  double sum_;
};

}  // namespace toprank
