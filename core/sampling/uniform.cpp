#include <algorithm>
#include <utility>

#include "sampling/pair_round.hpp"
#include "support/interrupt.hpp"

namespace toprank {
namespace {

// Draws uniformly from what is left of one type. While half of it is left, a random member is
// soon one of those; after that they are listed, which costs no more than choosing the others did.
template <class Member>
class LeftOver {
 public:
  LeftOver(std::int64_t size, std::int64_t left, std::int64_t count, Member member)
      : size_(size), listed_(2 * (left - std::min(left, count)) < size), member_(member) {}

  Pair draw(const PairPool& pool, Random& random, Round& round, Poll& poll) {
    if (!listed_) {
      for (;;) {
        ++round.proposals;
        poll(32);
        const auto pair = member_(random.below(size_));
        if (!pool.chosen(pair)) return pair;
      }
    }
    if (list_.empty()) {
      for (std::int64_t k = 0; k < size_; ++k) {
        poll(32);
        if (!pool.chosen(member_(k))) list_.push_back(k);
      }
    }
    ++round.proposals;
    std::swap(list_[static_cast<std::size_t>(
                  random.below(static_cast<std::int64_t>(list_.size())))],
              list_.back());
    const auto pair = member_(list_.back());
    list_.pop_back();
    return pair;
  }

 private:
  std::int64_t size_;
  bool listed_;
  Member member_;
  std::vector<std::int64_t> list_;
};

}  // namespace

// A proposal that is chosen already is drawn again, type and all: so the type goes by its share
// and by how much of it is left.
void draw_uniformly(PairPool& pool, Random& random, std::int64_t count, Round& round) {
  const auto m = pool.n_positives(), n = pool.n_negatives();
  LeftOver real(m * n, pool.real_left(), count, [=](std::int64_t k) { return Pair{k / n, k % n}; });
  LeftOver points(m + n, pool.points_left(), count, [&](std::int64_t k) { return pool.point(k); });
  Poll poll;
  while (round.missing(count) > 0 && pool.real_left() + pool.points_left() > 0) {
    const double of_real = pool.real_measure() * static_cast<double>(pool.real_left());
    const double of_points = pool.point_measure() * static_cast<double>(pool.points_left());
    const bool is_real = random.uniform() * (of_real + of_points) < of_real;
    const auto pair = is_real ? real.draw(pool, random, round, poll)
                              : points.draw(pool, random, round, poll);
    pool.choose(pair);
    round.take(pair, 1.0);
  }
}

}  // namespace toprank
