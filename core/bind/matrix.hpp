// The caller's matrix as Python sees it.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bind/arrays.hpp"
#include "matrix/matrix.hpp"

namespace toprank {

// An int32 copy of int64 column indices, made when a kernel first reads them: after `inspect`, and
// never for a matrix that is read in blocks.
class NarrowedIndices {
 public:
  NarrowedIndices(const std::int64_t* wide, std::int64_t size, std::int64_t n_cols)
      : wide_(wide), size_(static_cast<std::size_t>(size)), n_cols_(n_cols) {}
  const std::int64_t* wide() const { return wide_; }
  const std::int32_t* narrow();

 private:
  const std::int64_t* wide_;
  std::size_t size_;
  std::int64_t n_cols_;
  std::mutex mutex_;
  std::unique_ptr<std::int32_t[]> narrow_;
};

// A view of the caller's matrix, whatever its form. It keeps the arrays alive and copies nothing but
// int64 indices.
class Matrix {
 public:
  using View = std::variant<DenseRows<float>, DenseRows<double>, DenseColumns<float>,
                            DenseColumns<double>, SparseRows<float>, SparseRows<double>>;

  static Matrix dense(AnyArray x);
  static Matrix csr(AnyArray data, AnyArray indices, Indices indptr, std::int64_t n_cols);

  std::int64_t n_rows() const;
  std::int64_t n_cols() const;

  Vector scores(Doubles w, std::optional<Indices> rows, int n_threads) const;
  Vector pull_back(Doubles v, std::optional<Indices> rows, int n_threads) const;
  Square gram(Doubles c, std::optional<Indices> rows, int n_threads) const;

  // sum_a sum_b w_a w_b x_a x_b' over the window of rows b that each row a has; sparse only.
  Square window_cross(Indices rows, Indices first, Indices last, Doubles weights, Indices others,
                      Doubles other_weights) const;

  // The rows themselves, dense.
  Square take(Indices rows) const;

  Vector squared_norms(std::optional<Indices> rows, int n_threads) const;

  // The first entry of a dense matrix that is NaN or beyond +-limit, as (row, column); (-1, -1)
  // if there is none.
  std::pair<std::int64_t, std::int64_t> first_unusable(double limit, int n_threads) const;

  // (flaw, row, position, canonical) of a CSR matrix; see Inspection.
  std::tuple<std::string, std::int64_t, std::int64_t, bool> inspect(std::int64_t n_stored,
                                                                    double limit,
                                                                    int n_threads) const;

  // Calls `work` with the rows of the matrix, which must be contiguous.
  template <class Work>
  auto with_rows(Work&& work) const {
    using Result = decltype(work(std::declval<const DenseRows<double>&>()));
    return std::visit(
        [&](const auto& x) -> Result {
          if constexpr (requires { x.entries(0); }) {
            return work(x);
          } else {
            throw nb::type_error("this kernel reads rows: pass a C-ordered copy");
          }
        },
        view());
  }

  // Calls `work` with the matrix in whatever form it is, and with the rows that take part.
  template <class Work>
  void with_view(const std::optional<Indices>& rows, Work&& work) const {
    const auto subset = checked(rows);
    std::visit([&](const auto& x) { work(x, subset); }, view());
  }

  // Calls `work` with the matrix, which must be dense.
  template <class Work>
  void with_dense(Work&& work) const {
    std::visit(
        [&](const auto& x) {
          if constexpr (requires { x.stride; }) work(x);
          else throw nb::type_error("this kernel reads a dense matrix");
        },
        view());
  }

 private:
  Matrix(View view, std::vector<AnyArray> arrays) : view_(view), arrays_(std::move(arrays)) {}

  template <class T>
  static View dense_view(const AnyArray& x);
  Subset checked(const std::optional<Indices>& rows) const;
  View view() const;

  View view_;  // without the indices where they are in `wide_indices_`
  std::vector<AnyArray> arrays_;
  std::shared_ptr<NarrowedIndices> wide_indices_;
};

}  // namespace toprank
