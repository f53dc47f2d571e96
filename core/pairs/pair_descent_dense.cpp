#include "pairs/pair_descent.ipp"

namespace toprank {

template std::unique_ptr<PairDescent> make_pair_descent(const DenseRows<float>&, std::uint64_t);
template std::unique_ptr<PairDescent> make_pair_descent(const DenseRows<double>&, std::uint64_t);

}  // namespace toprank
