#include "bind/matrix.hpp"

#include <algorithm>
#include <limits>

#include "bind/module.hpp"
#include "matrix/window_gram.hpp"

using namespace nanobind::literals;

namespace toprank {
namespace {

bool contiguous(const AnyArray& a) { return a.shape(0) < 2 || a.stride(0) == 1; }

}  // namespace

template <class T>
Matrix::View Matrix::dense_view(const AnyArray& x) {
  const auto rows = static_cast<std::int64_t>(x.shape(0)), cols = static_cast<std::int64_t>(x.shape(1));
  if (x.stride(1) == 1 || cols == 1)
    return DenseRows<T>{data_of<const T>(x), rows, cols, x.stride(0)};
  require(x.stride(0) == 1 || rows == 1, "a dense matrix has contiguous rows or columns");
  return DenseColumns<T>{data_of<const T>(x), rows, cols, x.stride(1)};
}

Matrix Matrix::dense(AnyArray x) {
  require(x.ndim() == 2, "a dense matrix has two dimensions");
  if (x.dtype() == nb::dtype<float>()) return Matrix(dense_view<float>(x), {x});
  require(x.dtype() == nb::dtype<double>(), "a dense matrix is float32 or float64");
  return Matrix(dense_view<double>(x), {x});
}

Matrix Matrix::csr(AnyArray data, AnyArray indices, Indices indptr, std::int64_t n_cols) {
  require(data.ndim() == 1 && indices.ndim() == 1 && length(data) == length(indices),
          "data and indices of a CSR matrix have one length");
  require(length(indptr) >= 1, "indptr of a CSR matrix has one entry more than rows");
  require(contiguous(data) && contiguous(indices), "CSR arrays must be contiguous");
  const bool wide = indices.dtype() == nb::dtype<std::int64_t>();
  require(wide || indices.dtype() == nb::dtype<std::int32_t>(), "CSR indices are int32 or int64");
  const auto* narrow = wide ? nullptr : data_of<const std::int32_t>(indices);
  auto of = [&]<class T>(T) {
    const auto n_rows = length(indptr) - 1;
    const SparseRows<T> rows{data_of<const T>(data), narrow, indptr.data(), n_rows, n_cols};
    Matrix made(rows, {data, indices, AnyArray(indptr)});
    if (wide)
      made.wide_indices_ = std::make_shared<NarrowedIndices>(data_of<const std::int64_t>(indices),
                                                             length(indices), n_cols);
    return made;
  };
  if (data.dtype() == nb::dtype<float>()) return of(0.0F);
  require(data.dtype() == nb::dtype<double>(), "CSR data is float32 or float64");
  return of(0.0);
}

const std::int32_t* NarrowedIndices::narrow() {
  const std::lock_guard lock(mutex_);
  if (!narrow_) {
    require(n_cols_ <= std::numeric_limits<std::int32_t>::max(),
            "X must have fewer than 2^31 columns");
    std::unique_ptr<std::int32_t[]> made(new std::int32_t[size_]);
    std::copy_n(wide_, size_, made.get());
    narrow_ = std::move(made);
  }
  return narrow_.get();
}

Matrix::View Matrix::view() const {
  View view = view_;
  if (wide_indices_)
    std::visit(
        [&](auto& x) {
          if constexpr (requires { x.indices; }) x.indices = wide_indices_->narrow();
        },
        view);
  return view;
}

std::int64_t Matrix::n_rows() const {
  return std::visit([](const auto& x) { return x.n_rows; }, view_);
}

std::int64_t Matrix::n_cols() const {
  return std::visit([](const auto& x) { return x.n_cols; }, view_);
}

Vector Matrix::scores(Doubles w, std::optional<Indices> rows, int n_threads) const {
  require(length(w) == n_cols(), "w has one entry a column");
  const auto subset = checked(rows);
  return new_vector(subset.size, [&](double* out) {
    std::visit([&](const auto& x) { matrix_scores(x, w.data(), subset, out, n_threads); }, view());
  });
}

Vector Matrix::pull_back(Doubles v, std::optional<Indices> rows, int n_threads) const {
  const auto subset = checked(rows);
  require(length(v) == subset.size, "v has one entry a row");
  return new_vector(n_cols(), [&](double* out) {
    std::visit([&](const auto& x) { matrix_pull_back(x, v.data(), subset, out, n_threads); }, view());
  });
}

Square Matrix::gram(Doubles c, std::optional<Indices> rows, int n_threads) const {
  const auto subset = checked(rows);
  require(length(c) == subset.size, "c has one entry a row");
  const auto d = n_cols();
  nb::capsule owner;
  double* out = allocate(d * d, owner);
  {
    nb::gil_scoped_release release;
    std::visit([&](const auto& x) { matrix_gram(x, c.data(), subset, out, n_threads); }, view());
  }
  const auto side = static_cast<std::size_t>(d);
  return Square(out, {side, side}, owner);
}

Square Matrix::window_cross(Indices rows, Indices first, Indices last, Doubles weights,
                            Indices others, Doubles other_weights) const {
  const auto size = checked(rows).size, n_others = checked(others).size;
  require(length(first) == size && length(last) == size && length(weights) == size,
          "one window and one weight a row");
  require(length(other_weights) == n_others, "one weight a row of the other side");
  for (std::int64_t k = 0; k < size; ++k) {
    const auto begin = first.data()[k], end = last.data()[k];
    require(0 <= begin && begin <= end && end <= n_others, "a window lies among the others");
    require(k == 0 || (begin >= first.data()[k - 1] && end >= last.data()[k - 1]),
            "windows do not go back");
  }
  const auto d = n_cols();
  nb::capsule owner;
  double* out = allocate(d * d, owner);
  const Windows windows{rows.data(), first.data(),  last.data(),         weights.data(),
                        size,        others.data(), other_weights.data()};
  interruptible([&] {
    std::visit(
        [&](const auto& x) {
          if constexpr (requires { x.indptr; }) toprank::window_cross(x, windows, out);
          else throw nb::type_error("windows are of a sparse matrix");
        },
        view());
  });
  const auto side = static_cast<std::size_t>(d);
  return Square(out, {side, side}, owner);
}

Square Matrix::take(Indices rows) const {
  const auto subset = checked(rows);
  const auto d = n_cols();
  nb::capsule owner;
  double* out = allocate(subset.size * d, owner);
  {
    nb::gil_scoped_release release;
    std::visit([&](const auto& x) { matrix_take(x, subset, out); }, view());
  }
  return Square(out, {static_cast<std::size_t>(subset.size), static_cast<std::size_t>(d)}, owner);
}

Vector Matrix::squared_norms(std::optional<Indices> rows, int n_threads) const {
  const auto subset = checked(rows);
  return new_vector(subset.size, [&](double* out) {
    std::visit([&](const auto& x) { matrix_squared_norms(x, subset, out, n_threads); }, view());
  });
}

std::pair<std::int64_t, std::int64_t> Matrix::first_unusable(double limit, int n_threads) const {
  return std::visit(
      [&](const auto& x) -> std::pair<std::int64_t, std::int64_t> {
        if constexpr (requires { x.stride; }) {
          constexpr bool by_row = requires { x.entries(0); };
          const auto inner = by_row ? x.n_cols : x.n_rows, outer = by_row ? x.n_rows : x.n_cols;
          const auto at = toprank::first_unusable(x.x, outer, inner, x.stride, limit, n_threads);
          if (at < 0) return {-1, -1};
          return by_row ? std::pair{at / inner, at % inner} : std::pair{at % inner, at / inner};
        } else {
          throw nb::type_error("a sparse matrix is inspected by inspect");
        }
      },
      view_);
}

std::tuple<std::string, std::int64_t, std::int64_t, bool> Matrix::inspect(std::int64_t n_stored,
                                                                          double limit,
                                                                          int n_threads) const {
  return std::visit(
      [&](const auto& x) -> std::tuple<std::string, std::int64_t, std::int64_t, bool> {
        if constexpr (requires { x.indptr; }) {
          auto seen_in = [&](const auto* indices) {
            const CsrArrays arrays{x.data, indices, x.indptr, x.n_rows, x.n_cols};
            return toprank::inspect(arrays, n_stored, limit, n_threads);
          };
          const auto seen = wide_indices_ ? seen_in(wide_indices_->wide()) : seen_in(x.indices);
          constexpr const char* names[] = {"none", "pointers", "index", "value"};
          return {names[static_cast<int>(seen.flaw)], seen.row, seen.position, seen.canonical};
        } else {
          throw nb::type_error("only a CSR matrix is inspected");
        }
      },
      view_);
}

Subset Matrix::checked(const std::optional<Indices>& rows) const {
  if (!rows) return {nullptr, n_rows()};
  const auto n = n_rows();
  for (std::int64_t k = 0; k < length(*rows); ++k)
    if (rows->data()[k] < 0 || rows->data()[k] >= n) throw nb::index_error("row out of range");
  return {rows->data(), length(*rows)};
}

void bind_matrix(nb::module_& module) {
  nb::class_<Matrix>(module, "Matrix")
      .def_static("dense", &Matrix::dense, "x"_a.noconvert())
      .def_static("csr", &Matrix::csr, "data"_a.noconvert(), "indices"_a.noconvert(),
                  "indptr"_a.noconvert(), "n_cols"_a)
      .def("scores", &Matrix::scores, "w"_a.noconvert(), "rows"_a.noconvert().none(), "n_threads"_a)
      .def("pull_back", &Matrix::pull_back, "v"_a.noconvert(), "rows"_a.noconvert().none(),
           "n_threads"_a)
      .def("gram", &Matrix::gram, "c"_a.noconvert(), "rows"_a.noconvert().none(), "n_threads"_a)
      .def("window_cross", &Matrix::window_cross, "rows"_a.noconvert(), "first"_a.noconvert(),
           "last"_a.noconvert(), "weights"_a.noconvert(), "others"_a.noconvert(),
           "other_weights"_a.noconvert())
      .def("take", &Matrix::take, "rows"_a.noconvert())
      .def("squared_norms", &Matrix::squared_norms, "rows"_a.noconvert().none(), "n_threads"_a)
      .def("first_unusable", &Matrix::first_unusable, "limit"_a, "n_threads"_a)
      .def("inspect", &Matrix::inspect, "n_stored"_a, "limit"_a, "n_threads"_a);
}

}  // namespace toprank
