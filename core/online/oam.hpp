// OAM: online steps on the pairwise hinge against a sample of the other class. Of each class a
// buffer of `capacity` rows is kept: the first ones, then a row replaces a random one of them with
// probability capacity v / (weight read so far), v its own weight, which makes it a fair sample.
// A row x of sign y and weight v is compared with the rows z of the other class's buffer, each of
// which stands for the weight u: its own while every row was kept, (weight read) / capacity later.
//   sequential  for each z: tau = min(C v u / 2, [1 - y w.(x-z)]_+ / |x-z|^2),  w += tau y (x-z)
//   gradient    w += y sum C v u / 2 (x-z)  over the z with y w.(x-z) <= 1, w as it was before
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/rows.hpp"
#include "online/reading.hpp"
#include "support/interrupt.hpp"
#include "support/random.hpp"

namespace toprank {

struct BufferRules {
  double C;
  std::int64_t capacity;
  bool sequential;
};

// A kept row, zeros left out. Rows of a dense matrix are spread out while it is read.
struct KeptRow {
  std::vector<double> data;
  std::vector<std::int64_t> indices;  // none if spread out
  double squared_norm = 0.0, weight = 0.0;
};

struct Buffer {
  std::vector<KeptRow> rows;
  std::int64_t n_read = 0;
  double weight = 0.0;  // of all rows read
};

class BufferedDescent {
 public:
  // Goes on from `w` after `n_read` rows: two random numbers were used for each.
  BufferedDescent(BufferRules rules, std::uint64_t seed, std::int64_t n_read,
                  std::vector<double> w, Buffer negatives, Buffer positives);

  // Returns how many rows were read before a step that overflowed, all if none did.
  template <class Rows>
  std::int64_t run(const Rows& x, const Reading& reading);

  const std::vector<double>& weights() const { return w_; }
  const Buffer& buffer(int positive) const { return buffers_[positive]; }

 private:
  template <class Rows>
  void keep(const Rows& x, std::int64_t i, double v, Buffer& own);
  template <class Rows>
  void compare(const Rows& x, std::int64_t i, double sign, double v, const Buffer& other);
  template <class Rows>
  void one_by_one(const Rows& x, std::int64_t i, double sign, const Buffer& other);
  template <class Rows>
  void at_once(const Rows& x, std::int64_t i, double sign, const Buffer& other);
  void spread(bool out);

  BufferRules rules_;
  Random random_;
  Buffer buffers_[2];
  std::vector<double> w_, row_, moves_;  // row_: x, spread out; moves_: one a kept row
  Poll poll_;
};

}  // namespace toprank
