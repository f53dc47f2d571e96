#include "text/svmlight.hpp"

#include "bind/arrays.hpp"
#include "bind/module.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

template <class T>
struct Column {
  explicit Column(std::int64_t most) : values(allocate<T>(most, owner)) {}
  // The first n of them.
  nb::ndarray<nb::numpy, T, nb::ndim<1>> first(std::int64_t n) const {
    return {values, {static_cast<std::size_t>(n)}, owner};
  }
  nb::capsule owner;
  T* values;
};

using Bytes = ArrayArgument<const std::uint8_t, nb::ndim<1>, nb::c_contig>;

nb::tuple svmlight_rows(Bytes text, std::int64_t first, std::int64_t limit, std::int64_t line) {
  require(first == 0 || first == 1, "columns are numbered from 0 or 1");
  const auto* bytes = reinterpret_cast<const char*>(text.data());
  const TextSize most = most_of(bytes, length(text));
  Column<double> labels(most.rows), values(most.entries);
  Column<std::int64_t> pointers(most.rows + 1), indices(most.entries);
  TextRead read;
  try {
    read = interruptible([&] {
      return read_svmlight(bytes, length(text), first, limit,
                           {labels.values, pointers.values, indices.values, values.values});
    });
  } catch (const BadLine& bad) {
    throw nb::value_error(("line " + std::to_string(line + bad.line) + ": " + bad.what()).c_str());
  }
  return nb::make_tuple(labels.first(read.rows), pointers.first(read.rows + 1),
                        indices.first(read.entries), values.first(read.entries), read.lines,
                        read.least, read.largest);
}

}  // namespace

void bind_text(nb::module_& module) {
  module.def("svmlight_rows", &svmlight_rows, "text"_a.noconvert(), "first"_a, "limit"_a, "line"_a);
}

}  // namespace toprank
