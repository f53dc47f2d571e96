#include "pairs/pair_descent.ipp"

namespace toprank {

template std::unique_ptr<PairDescent> make_pair_descent(const SparseRows<float>&, std::uint64_t);
template std::unique_ptr<PairDescent> make_pair_descent(const SparseRows<double>&, std::uint64_t);

}  // namespace toprank
