// What the rows and weights of two classes must be, where a kernel is given them.
#pragma once

#include <optional>

#include "bind/arrays.hpp"

namespace toprank {

inline void check_classes(std::int64_t n_rows, const Indices& positives,
                          const Indices& negatives) {
  require(n_rows <= 0xFFFFFFFF, "there are more than 2^32 rows");
  for (const auto* rows : {&positives, &negatives}) {
    require(length(*rows) > 0, "both classes need a row");
    for (std::int64_t k = 0; k < length(*rows); ++k)
      if (rows->data()[k] < 0 || rows->data()[k] >= n_rows)
        throw nb::index_error("row out of range");
  }
}

inline const double* check_weights(const std::optional<Doubles>& weights, const Indices& rows) {
  if (!weights) return nullptr;
  require(length(*weights) == length(rows), "one weight a row");
  return weights->data();
}

}  // namespace toprank
