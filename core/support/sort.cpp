#include "support/sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace toprank {
namespace {

// Below this length a comparison sort is as fast.
constexpr std::uint32_t kShort = 512;
// Runs of values that float32 cannot tell apart are sorted by insertion up to this length.
constexpr std::uint32_t kRun = 16;
constexpr int kDigit = 11;
constexpr std::uint32_t kBuckets = 1U << kDigit, kMask = kBuckets - 1;

// An unsigned integer that grows with the value rounded to float32.
std::uint32_t monotone_key(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value + 0.0));  // -0 is 0
  return bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000U);
}

// Sorts places that are in order of their rounded values by the values themselves.
void mend(const double* values, std::uint32_t* begin, std::uint32_t* end) {
  const auto before = [values](std::uint32_t a, std::uint32_t b) {
    return values[a] < values[b] || (values[a] == values[b] && a < b);
  };
  if (end - begin > kRun) {
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
    return;
  }
  for (auto* k = begin + 1; k < end; ++k)
    for (auto* j = k; j > begin && before(*j, j[-1]); --j) std::swap(*j, j[-1]);
}

}  // namespace

void Sorter::operator()(const double* values, std::uint32_t n, std::uint32_t* order,
                        double* sorted) {
  if (n < kShort) {
    std::iota(order, order + n, 0U);
    std::stable_sort(order, order + n,
                     [values](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    for (std::uint32_t k = 0; k < n; ++k) sorted[k] = values[order[k]];
    return;
  }
  one_.resize(n);
  other_.resize(n);
  std::array<std::array<std::uint32_t, kBuckets>, 3> count{};
  for (std::uint32_t k = 0; k < n; ++k) {
    const auto key = monotone_key(values[k]);
    one_[k] = {key, k};
    ++count[0][key & kMask];
    ++count[1][(key >> kDigit) & kMask];
    ++count[2][key >> (2 * kDigit)];
  }
  for (int digit = 0; digit < 3; ++digit) {
    auto& places = count[digit];
    std::exclusive_scan(places.begin(), places.end(), places.begin(), 0U);
    for (const auto& item : one_) other_[places[(item.key >> (digit * kDigit)) & kMask]++] = item;
    one_.swap(other_);
  }
  for (std::uint32_t k = 0; k < n; ++k) order[k] = one_[k].place;
  for (std::uint32_t begin = 0; begin < n;) {
    auto end = begin + 1;
    while (end < n && one_[end].key == one_[begin].key) ++end;
    if (end > begin + 1) mend(values, order + begin, order + end);
    begin = end;
  }
  for (std::uint32_t k = 0; k < n; ++k) sorted[k] = values[order[k]];
}

}  // namespace toprank
