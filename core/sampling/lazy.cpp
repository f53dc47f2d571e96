#include <algorithm>

#include "sampling/pair_round.hpp"
#include "support/interrupt.hpp"

namespace toprank {
namespace {

// Rows are scattered over the memory: many are fetched at once.
constexpr std::int64_t kBatch = 64;

Pair propose(const PairPool& pool, Random& random) {
  if (random.uniform() < pool.real_share())
    return {random.below(pool.n_positives()), random.below(pool.n_negatives())};
  return pool.point(random.below(pool.n_positives() + pool.n_negatives()));
}

}  // namespace

void draw_lazily(PairScores& scores, PairPool& pool, Random& random, Strategy strategy,
                 std::int64_t count, std::int64_t most, Round& round) {
  MeanOfProposals mean;
  Poll poll;
  Pair batch[kBatch];
  double coins[kBatch];
  std::int64_t made = 0;
  while (round.missing(count) > 0 && made < most) {
    const auto size = std::min({kBatch, most - made, 8 + 2 * round.missing(count)});
    for (std::int64_t k = 0; k < size; ++k) {
      batch[k] = propose(pool, random);
      coins[k] = random.uniform();
      scores.prefetch_place(batch[k]);
    }
    for (std::int64_t k = 0; k < size; ++k) scores.prefetch(batch[k]);
    for (std::int64_t k = 0; k < size && round.missing(count) > 0; ++k) {
      const double p = acceptance(strategy, scores.margin(batch[k]));
      if (coins[k] < p && pool.choose(batch[k])) round.take(batch[k], p);
      mean.add(p, round.missing(count) == 0);
      ++made;
      poll(32 + scores.entries(batch[k]));
    }
  }
  round.proposals += made;
  if (!mean.empty()) round.acceptance = mean.value();
}

}  // namespace toprank
