#include "sampling/pair_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace toprank {
namespace {

// More pairs than this are not looked at one by one.
constexpr std::int64_t kMostEnumerated = 20'000'000;

}  // namespace

ClassScores PairSampler::all_scores(int n_threads) const {
  auto scores = scores_.all(n_threads);
  for (const auto* side : {&scores.s, &scores.t})
    for (const auto score : *side)
      if (!std::isfinite(score)) throw std::domain_error("a score is not finite");
  return scores;
}

Round PairSampler::draw(const double* w, std::int64_t count, Strategy strategy, Method method,
                        int n_threads) {
  Round round;
  count = std::min(count, pool_.size() - pool_.n_chosen());
  if (count == 0) return round;
  scores_.begin(w);
  switch (strategy) {
    case Strategy::random:
      draw_uniformly(pool_, random_, count, round);
      break;
    case Strategy::hard_close:
    case Strategy::hard_correct:
      draw_first(all_scores(n_threads), pool_, strategy, count, round);
      break;
    default:
      draw_softly(count, strategy, method, n_threads, round);
  }
  return round;
}

void PairSampler::draw_softly(std::int64_t count, Strategy strategy, Method method, int n_threads,
                              Round& round) {
  // By then rejection has scored about as many rows as there are, which is what sorting all of
  // them costs. Where the last round shows that it will take longer, it is not tried.
  const auto n_rows = pool_.n_positives() + pool_.n_negatives();
  const auto patience = std::max(4 * count, n_rows / 2);
  const bool few_left = pool_.size() <= 2 * (pool_.n_chosen() + count);
  const bool automatic = method == Method::automatic;
  if (method == Method::lazy ||
      (automatic && !few_left && expected_ <= static_cast<double>(patience)))
    draw_lazily(scores_, pool_, random_, strategy, count, patience, round);
  if (round.missing(count) > 0 && method != Method::lazy) {
    const auto scores = all_scores(n_threads);
    const auto sorted = sort_scores(scores);
    const auto possible = n_possible(sorted, pool_, strategy);
    const auto missing = round.missing(count);
    // Looking at each is cheaper than drawing where most of them are chosen, or they are few.
    const bool cheap = few_left || possible <= std::max(64 * count, 2 * pool_.n_chosen());
    if (method == Method::envelope || (automatic && !cheap))
      draw_by_envelope(sorted, pool_, random_, strategy, count, 50 * missing + 1000, round);
    if (round.missing(count) > 0 && method != Method::envelope) {
      if (possible <= kMostEnumerated || method == Method::enumeration)
        draw_by_enumeration(sorted, pool_, random_, strategy, count, round);
      else  // those chosen have all but a vanishing part of the probability
        draw_first(scores, pool_, strategy, count, round);
    }
  }
  expected_ = static_cast<double>(count) / std::max(round.acceptance, 1e-300);
}

std::vector<double> PairSampler::envelope_rows(const double* w, Strategy strategy, int n_threads) {
  scores_.begin(w);
  return toprank::envelope_rows(sort_scores(all_scores(n_threads)), strategy);
}

}  // namespace toprank
