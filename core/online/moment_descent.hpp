// OPAUC and AdaOAM: steps on the pairwise squared loss of a row with all rows of the other class
// read so far, of which the weight n, the mean m and the scatter M = n S are enough. A row x of
// sign y and weight v first goes into the moments of its own class; then, o the other class,
//   g = alpha w + (w.(x - m_o) - y)(x - m_o) + S_o w
//   OPAUC   w <- w - eta v g
//   AdaOAM  h = v g,  G <- G + h^2,  w <- w - eta h / (1e-8 + sqrt G),  then  |w| <= 1/sqrt(alpha)
// entry by entry. Nothing is learnt before the other class has been read.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/rows.hpp"
#include "online/reading.hpp"
#include "support/interrupt.hpp"

namespace toprank {

struct MomentRules {
  double alpha;
  double eta;     // zero: 1 / (max v (4 max |x|^2 + alpha)), over the rows read so far
  bool adaptive;  // AdaOAM
};

// Of the rows read so far.
struct Sizes {
  double longest = 0.0, heaviest = 0.0;  // max |x|^2, max v
};

// Symmetric matrices are kept as the rows of their lower triangles, one after the other.
struct ClassMoments {
  double weight = 0.0;
  std::vector<double> mean, scatter;
};

class MomentDescent {
 public:
  MomentDescent(MomentRules rules, std::vector<double> w, std::vector<double> squares,
                Sizes sizes, ClassMoments negatives, ClassMoments positives);

  // Returns how many rows were read before a step that overflowed, all if none did.
  template <class Rows>
  std::int64_t run(const Rows& x, const Reading& reading);

  const std::vector<double>& weights() const { return w_; }
  const std::vector<double>& squares() const { return squares_; }
  const Sizes& sizes() const { return sizes_; }
  const ClassMoments& moments(int positive) const { return moments_[positive]; }

 private:
  template <class Rows>
  void learn_moments(const Rows& x, std::int64_t i, double v, ClassMoments& own);
  // True if all went well.
  template <class Rows>
  bool step(const Rows& x, std::int64_t i, double sign, double v, const ClassMoments& other);
  bool move(double v);
  void shift_scatters(double sign);

  MomentRules rules_;
  Sizes sizes_;
  ClassMoments moments_[2];
  std::vector<double> w_, squares_, gradient_, difference_;
  Poll poll_;
};

}  // namespace toprank
