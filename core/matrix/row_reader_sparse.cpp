#include "matrix/row_reader.ipp"

namespace toprank {

template std::unique_ptr<RowReader> make_row_reader(const SparseRows<float, std::int32_t>&);
template std::unique_ptr<RowReader> make_row_reader(const SparseRows<float, std::int64_t>&);
template std::unique_ptr<RowReader> make_row_reader(const SparseRows<double, std::int32_t>&);
template std::unique_ptr<RowReader> make_row_reader(const SparseRows<double, std::int64_t>&);

}  // namespace toprank
