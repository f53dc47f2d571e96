#include "matrix/row_reader.ipp"

namespace toprank {

template std::unique_ptr<RowReader> make_row_reader(const SparseRows<float>&);
template std::unique_ptr<RowReader> make_row_reader(const SparseRows<double>&);

}  // namespace toprank
