#include "dual_descent.ipp"

namespace toprank {

template std::unique_ptr<DualDescent> make_dual_descent(const DenseRows<float>&, PushProblem);
template std::unique_ptr<DualDescent> make_dual_descent(const DenseRows<double>&, PushProblem);

}  // namespace toprank
