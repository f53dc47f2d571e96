#include "sampling/pair_round.hpp"

#include "support/sort.hpp"

namespace toprank {

SortedScores sort_scores(const ClassScores& scores) {
  Sorter sort;
  auto sorted = [&](const std::vector<double>& score) {
    SortedClass out{std::vector<double>(score.size()), std::vector<std::uint32_t>(score.size())};
    sort(score.data(), static_cast<std::uint32_t>(score.size()), out.place.data(),
         out.score.data());
    return out;
  };
  return {sorted(scores.s), sorted(scores.t)};
}

std::vector<std::int64_t> first_with_loss(const SortedScores& scores) {
  const auto &s = scores.positives.score, &t = scores.negatives.score;
  std::vector<std::int64_t> first(s.size());
  std::size_t k = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    while (k < t.size() && slack(s[i] - t[k]) <= 0) ++k;
    first[i] = static_cast<std::int64_t>(k);
  }
  return first;
}

std::int64_t n_possible(const SortedScores& scores, const PairPool& pool, Strategy strategy) {
  if (strategy != Strategy::soft_correct) return pool.size();
  std::int64_t possible = 0;
  if (pool.real_share() > 0)
    for (const auto first : first_with_loss(scores)) possible += scores.negatives.size() - first;
  if (pool.real_share() < 1) {
    for (const auto s : scores.positives.score) possible += slack(s) > 0;
    for (const auto t : scores.negatives.score) possible += slack(-t) > 0;
  }
  return possible;
}

}  // namespace toprank
