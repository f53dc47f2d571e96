// Flags of a split, above the place of its column.
#pragma once

#include <cstdint>

namespace toprank {

inline constexpr std::uint32_t kMissingRight = 1U << 31, kZeroMissing = 1U << 30,
                               kCategory = 1U << 29, kSpecialSplit = kZeroMissing | kCategory,
                               kColumnPlace = kCategory - 1;

}  // namespace toprank
