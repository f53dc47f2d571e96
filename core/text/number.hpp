// Numbers in texts, as Python's float() and int() read them, to the last bit.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>

namespace toprank {

// Powers of ten that are doubles exactly.
inline constexpr double kTens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr int kMostTens = 22;
// Whole numbers up to this are doubles exactly.
inline constexpr std::uint64_t kExact = std::uint64_t{1} << 53;

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// A number that from_chars calls out of range: infinite or zero, by the place of its first digit
// that is not zero.
inline double beyond_range(const char* at, const char* end) {
  std::int64_t place = 0;  // of the decimal point, counted from the first digit that is not zero
  bool point = false, begun = false;
  for (; at < end && (is_digit(*at) || *at == '.'); ++at) {
    if (*at == '.') {
      point = true;
      continue;
    }
    begun = begun || *at != '0';
    if (!point && begun) ++place;
    if (point && !begun) --place;
  }
  bool negative = false;
  std::int64_t exponent = 0;
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
    for (; at < end && is_digit(*at); ++at)
      if (exponent < std::numeric_limits<std::int32_t>::max()) exponent = 10 * exponent + (*at - '0');
  }
  place += negative ? -exponent : exponent;
  return place > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

// The number that begins at `at`, whose end is then moved behind it; false if none does.
inline bool read_double(const char*& at, const char* end, double& out) {
  const char* p = at;
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  const char* const begin = p;
  std::uint64_t digits = 0;
  int count = 0, behind = 0;
  for (; p < end && is_digit(*p); ++p, ++count) digits = 10 * digits + static_cast<std::uint64_t>(*p - '0');
  if (p < end && *p == '.') {
    ++p;
    for (; p < end && is_digit(*p); ++p, ++count, ++behind)
      digits = 10 * digits + static_cast<std::uint64_t>(*p - '0');
  }
  // A whole number below 2^53, times or over a power of ten that is exact, is rounded once.
  if (count > 0 && count <= 18 && digits <= kExact) {
    int exponent = 0;
    bool known = true;
    if (p < end && (*p == 'e' || *p == 'E')) {
      const char* q = p + 1;
      const bool down = q < end && *q == '-';
      if (q < end && (*q == '-' || *q == '+')) ++q;
      const char* const first = q;
      for (; q < end && is_digit(*q) && q - first < 4; ++q) exponent = 10 * exponent + (*q - '0');
      known = q > first && (q == end || !is_digit(*q));
      if (down) exponent = -exponent;
      if (known) p = q;
    }
    exponent -= behind;
    if (known && exponent >= -kMostTens && exponent <= kMostTens) {
      const double whole = static_cast<double>(digits);
      const double value = exponent < 0 ? whole / kTens[-exponent] : whole * kTens[exponent];
      out = negative ? -value : value;
      at = p;
      return true;
    }
  }
  if (begin < end && *begin == '-') return false;  // a second sign, which from_chars would take
  double value = 0.0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) value = beyond_range(begin, stop);
  if (stop[-1] == ')') return false;  // "nan(...)"
  out = negative ? -value : value;
  at = stop;
  return true;
}

// The whole number that begins at `at`; false if none does, or if it has more than 18 digits.
inline bool read_whole(const char*& at, const char* end, std::int64_t& out) {
  const char* p = at;
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  const char* first = p;
  std::int64_t value = 0;
  for (; p < end && is_digit(*p); ++p) {
    if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) return false;
    value = 10 * value + (*p - '0');
  }
  if (p == first) return false;
  out = negative ? -value : value;
  at = p;
  return true;
}

}  // namespace toprank
