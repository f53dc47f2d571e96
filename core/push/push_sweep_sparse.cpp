#include "push/push_sweep.ipp"

namespace toprank {

#define TOPRANK_SPARSE(T, I) \
  template std::unique_ptr<PushSweep> make_push_sweep(const SparseRows<T, I>&, Surrogate, NegativeSide);
TOPRANK_SPARSE(float, std::int32_t)
TOPRANK_SPARSE(float, std::int64_t)
TOPRANK_SPARSE(double, std::int32_t)
TOPRANK_SPARSE(double, std::int64_t)

}  // namespace toprank
