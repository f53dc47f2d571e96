#include "pairs/pair_descent.ipp"

namespace toprank {

#define TOPRANK_SPARSE(T, I) \
  template std::unique_ptr<PairDescent> make_pair_descent(const SparseRows<T, I>&, std::uint64_t);
TOPRANK_SPARSE(float, std::int32_t)
TOPRANK_SPARSE(float, std::int64_t)
TOPRANK_SPARSE(double, std::int32_t)
TOPRANK_SPARSE(double, std::int64_t)

}  // namespace toprank
