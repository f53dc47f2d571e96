#include "matrix/row_reader.ipp"

namespace toprank {

template std::unique_ptr<RowReader> make_row_reader(const DenseRows<float>&);
template std::unique_ptr<RowReader> make_row_reader(const DenseRows<double>&);

}  // namespace toprank
