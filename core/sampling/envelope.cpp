#include "sampling/envelope.hpp"

#include <algorithm>
#include <cmath>

#include "support/interrupt.hpp"

namespace toprank {

void Envelope::weigh(const PairPool& pool) {
  const auto m = scores_.positives.size(), n = scores_.negatives.size();
  const double of_real = pool.real_measure(), of_point = pool.point_measure();
  const bool any_chosen = pool.points_chosen() > 0;
  cumulative_.clear();
  cumulative_.reserve(static_cast<std::size_t>(of_point > 0 ? 2 * m + n : m));
  double total = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    if (of_real > 0) total += of_real * std::max(row(i), 0.0);
    cumulative_.push_back(total);
  }
  left_out_ = 0;
  if (of_point == 0) return;
  auto add = [&](Pair pair, double margin) {
    if (any_chosen && pool.chosen(pair)) left_out_ += of_point * acceptance(strategy(), margin);
    else total += of_point * point(margin);
    cumulative_.push_back(total);
  };
  for (std::int64_t i = 0; i < m; ++i)
    add({scores_.positives.place[i], kNoRow}, scores_.positives.score[i]);
  for (std::int64_t k = 0; k < n; ++k)
    add({kNoRow, scores_.negatives.place[k]}, -scores_.negatives.score[k]);
}

Envelope::Candidate Envelope::draw(Random& random) const {
  const auto &positives = scores_.positives, &negatives = scores_.negatives;
  const auto at = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1,
                                   random.uniform() * cumulative_.back());
  auto i = at - cumulative_.begin();
  if (i < positives.size()) {
    const auto k = draw_in_row(i, random);
    return {{positives.place[i], negatives.place[k]}, positives.score[i] - negatives.score[k]};
  }
  i -= positives.size();
  if (i < positives.size()) return {{positives.place[i], kNoRow}, positives.score[i]};
  i -= positives.size();
  return {{kNoRow, negatives.place[i]}, -negatives.score[i]};
}

void draw_by_envelope(const SortedScores& scores, PairPool& pool, Random& random,
                      Strategy strategy, std::int64_t count, std::int64_t most, Round& round) {
  const auto envelope = strategy == Strategy::soft_correct ? correct_envelope(scores)
                                                           : close_envelope(scores, pool);
  envelope->weigh(pool);
  if (!(envelope->total() > 0)) return;
  MeanOfProposals mean;
  Poll poll;
  for (std::int64_t made = 0; made < most && round.missing(count) > 0; ++made) {
    const auto [pair, margin] = envelope->draw(random);
    const double ratio = envelope->ratio(margin);
    if (random.uniform() < ratio && pool.choose(pair))
      round.take(pair, acceptance(strategy, margin));
    mean.add(ratio, round.missing(count) == 0);
    ++round.proposals;
    poll(1000);
  }
  if (!mean.empty())
    round.acceptance = std::min(
        1.0, envelope->unit() * envelope->total() * mean.value() + envelope->left_out());
}

std::vector<double> envelope_rows(const SortedScores& scores, Strategy strategy) {
  const auto m = scores.positives.size(), n = scores.negatives.size();
  const PairPool pool(m, n, 1.0);
  const auto envelope = strategy == Strategy::soft_correct ? correct_envelope(scores)
                                                           : close_envelope(scores, pool);
  std::vector<double> rows(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i)
    rows[scores.positives.place[i]] = envelope->unit() * envelope->row(i);
  return rows;
}

}  // namespace toprank
