#include "push/push_sweep.ipp"

namespace toprank {

template std::unique_ptr<PushSweep> make_push_sweep(const DenseRows<float>&, Surrogate, NegativeSide);
template std::unique_ptr<PushSweep> make_push_sweep(const DenseRows<double>&, Surrogate, NegativeSide);

}  // namespace toprank
