#include "push/push_sweep.ipp"

namespace toprank {

template std::unique_ptr<PushSweep> make_push_sweep(const SparseRows<float>&, Surrogate, NegativeSide);
template std::unique_ptr<PushSweep> make_push_sweep(const SparseRows<double>&, Surrogate, NegativeSide);

}  // namespace toprank
