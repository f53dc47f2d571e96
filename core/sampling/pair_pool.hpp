// Which pairs may be drawn, how likely each is proposed, and which have been chosen.
//
// A pair (i, j) is a positive and a negative, by their places in their classes. A pseudo-pair has
// one side only, kNoRow on the other: it is a point. Proposals choose the type first, a real pair
// with probability gamma, then are uniform within the type.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "matrix/rows.hpp"

namespace toprank {

struct Pair {
  std::int64_t i, j;
  bool real() const { return i != kNoRow && j != kNoRow; }
};

// Open addressing; half of the places are empty at least. Every proposal asks whether its pair was
// drawn before: std::unordered_set makes a node for each, and looks for it in another cache line.
class KeySet {
 public:
  bool contains(std::uint64_t key) const {
    return !slots_.empty() && slots_[find(key)] == key;
  }
  // False if it was there already. No key is 0.
  bool insert(std::uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    auto& slot = slots_[find(key)];
    if (slot == key) return false;
    slot = key;
    ++size_;
    return true;
  }

 private:
  std::size_t find(std::uint64_t key) const {
    const auto mask = slots_.size() - 1;
    auto at = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 32) & mask;
    while (slots_[at] != 0 && slots_[at] != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    auto old = std::exchange(slots_, std::vector<std::uint64_t>(
                                         slots_.empty() ? 1024 : 2 * slots_.size()));
    for (const auto key : old)
      if (key != 0) slots_[find(key)] = key;
  }

  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

class PairPool {
 public:
  // m n and the keys below stay within 64 bits for classes of less than 2^31 rows.
  PairPool(std::int64_t m, std::int64_t n, double gamma)
      : m_(m), n_(n), gamma_(gamma), n_real_(gamma > 0 ? m * n : 0),
        n_points_(gamma < 1 ? m + n : 0) {}

  std::int64_t n_positives() const { return m_; }
  std::int64_t n_negatives() const { return n_; }
  std::int64_t size() const { return n_real_ + n_points_; }
  std::int64_t n_chosen() const { return real_chosen_ + points_chosen_; }
  std::int64_t real_chosen() const { return real_chosen_; }
  std::int64_t points_chosen() const { return points_chosen_; }
  std::int64_t real_left() const { return n_real_ - real_chosen_; }
  std::int64_t points_left() const { return n_points_ - points_chosen_; }

  // gamma, while there are both types; once one is used up, all proposals are of the other.
  double real_share() const {
    if (points_left() == 0) return 1.0;
    return real_left() == 0 ? 0.0 : gamma_;
  }
  // How likely a proposal is this very real pair, this very point.
  double real_measure() const {
    const double share = real_share();
    return share > 0 ? share / static_cast<double>(n_real_) : 0.0;
  }
  double point_measure() const {
    const double share = real_share();
    return share < 1 ? (1.0 - share) / static_cast<double>(n_points_) : 0.0;
  }
  // Point k: the positives first.
  Pair point(std::int64_t k) const { return k < m_ ? Pair{k, kNoRow} : Pair{kNoRow, k - m_}; }

  bool chosen(Pair pair) const { return keys_.contains(key(pair)); }
  // False if it was chosen before.
  bool choose(Pair pair) {
    if (!keys_.insert(key(pair))) return false;
    ++(pair.real() ? real_chosen_ : points_chosen_);
    return true;
  }

 private:
  std::uint64_t key(Pair pair) const {
    return static_cast<std::uint64_t>(pair.i + 1) * static_cast<std::uint64_t>(n_ + 1) +
           static_cast<std::uint64_t>(pair.j + 1);
  }

  std::int64_t m_, n_;
  double gamma_;
  std::int64_t n_real_, n_points_, real_chosen_ = 0, points_chosen_ = 0;
  KeySet keys_;
};

}  // namespace toprank
