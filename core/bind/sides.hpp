// The losses of rows as Python names them.
#pragma once

#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "rows/row_loss.hpp"

namespace toprank {

// The kind, k below zero and above, and the offsets there.
using Side = std::tuple<std::string, double, double, double, double>;

inline RowSide side_of(const Side& given) {
  const auto& [name, low, high, low_offset, high_offset] = given;
  require(low > 0 && high > 0, "k is above zero");
  if (name == "logistic") return {RowKind::logistic, low, high, low_offset, high_offset};
  if (name == "exponential") return {RowKind::exponential, low, high, low_offset, high_offset};
  if (name == "linear") return {RowKind::linear, low, high, low_offset, high_offset};
  require(name == "squared_hinge", "there is no such loss of rows");
  return {RowKind::squared_hinge, low, high, low_offset, high_offset};
}

inline RowLoss loss_of(const Side& positives, const Side& negatives) {
  const RowLoss loss{side_of(positives), side_of(negatives)};
  require(loss.negatives.kind != RowKind::linear, "the linear loss is for positives");
  require(loss.positives.kind != RowKind::linear || loss.negatives.kind == RowKind::exponential,
          "the linear loss is for exponential negatives");
  return loss;
}

}  // namespace toprank
