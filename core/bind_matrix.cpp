#include "bind_matrix.hpp"

#include "bind.hpp"

using namespace nanobind::literals;

namespace toprank {

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
