#include "dual_descent.ipp"

namespace toprank {

#define TOPRANK_SPARSE(T, I) \
  template std::unique_ptr<DualDescent> make_dual_descent(const SparseRows<T, I>&, PushProblem);
TOPRANK_SPARSE(float, std::int32_t)
TOPRANK_SPARSE(float, std::int64_t)
TOPRANK_SPARSE(double, std::int32_t)
TOPRANK_SPARSE(double, std::int64_t)

}  // namespace toprank
