// Rows of svmlight text: "label index:value index:value # comment".
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace toprank {

// How many rows and entries a text can have at the most: its line ends and its colons.
struct TextSize {
  std::int64_t rows = 0;
  std::int64_t entries = 0;
};

TextSize most_of(const char* text, std::int64_t length);

// Where the rows go: labels and pointers of a row each (one pointer more), indices and values of an
// entry each. The arrays are long enough for most_of.
struct TextRows {
  double* labels;
  std::int64_t* pointers;
  std::int64_t* indices;
  double* values;
};

// What was read.
struct TextRead {
  std::int64_t rows = 0;
  std::int64_t entries = 0;
  std::int64_t lines = 0;
  std::int64_t least = 0;    // the least index, -1 where there is no entry
  std::int64_t largest = 0;  // the largest, -1 likewise
};

// A line that is no row: which one of the text, the first being 0, and what is wrong with it.
struct BadLine : std::runtime_error {
  BadLine(std::int64_t line, const std::string& what) : std::runtime_error(what), line(line) {}
  std::int64_t line;
};

// Reads whole lines; the last needs no line end. Indices must rise within a row, from `first` to
// below `limit`. They are written down less `first`.
TextRead read_svmlight(const char* text, std::int64_t length, std::int64_t first,
                       std::int64_t limit, const TextRows& out);

}  // namespace toprank
