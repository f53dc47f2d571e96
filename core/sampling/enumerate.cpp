#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "sampling/pair_round.hpp"
#include "support/interrupt.hpp"

namespace toprank {
namespace {

// Everyone waits for a time of its own, exponential with its weight as rate: the order in which
// they come is that of drawing without replacement with these weights. Times are kept as
// logarithms: weights may be smaller than any number.
class FirstToCome {
 public:
  FirstToCome(PairPool& pool, Random& random, Strategy strategy, std::int64_t count)
      : pool_(pool), random_(random), strategy_(strategy), count_(count) {}

  void look(Pair pair, double margin, double measure) {
    ++looked_at;
    const double log_p = log_acceptance(strategy_, margin);
    total += measure * std::exp(log_p);
    // A chosen pair may well be at the very edge of its loss, on either side by rounding: it must
    // not use up a random number.
    if (!(log_p > -std::numeric_limits<double>::infinity()) || pool_.chosen(pair)) return;
    const double time = std::log(-std::log(random_.inside())) - std::log(measure) - log_p;
    const bool full = static_cast<std::int64_t>(first_.size()) == count_;
    if (full && time >= first_.top().time) return;
    if (full) first_.pop();
    first_.push({time, pair, acceptance(strategy_, margin)});
  }

  void take(Round& round) {
    std::vector<Waiting> in_order;
    for (; !first_.empty(); first_.pop()) in_order.push_back(first_.top());
    for (auto it = in_order.rbegin(); it != in_order.rend(); ++it) {
      pool_.choose(it->pair);
      round.take(it->pair, it->p);
    }
  }

  double total = 0;  // the mean p of a proposal
  std::int64_t looked_at = 0;

 private:
  struct Waiting {
    double time;
    Pair pair;
    double p;
    bool operator<(const Waiting& other) const { return time < other.time; }
  };
  PairPool& pool_;
  Random& random_;
  Strategy strategy_;
  std::int64_t count_;
  std::priority_queue<Waiting> first_;
};

}  // namespace

void draw_by_enumeration(const SortedScores& scores, PairPool& pool, Random& random,
                         Strategy strategy, std::int64_t count, Round& round) {
  const auto &positives = scores.positives, &negatives = scores.negatives;
  FirstToCome first(pool, random, strategy, round.missing(count));
  Poll poll;
  if (const double measure = pool.real_measure(); measure > 0) {
    std::vector<std::int64_t> begin(positives.score.size(), 0);
    if (strategy == Strategy::soft_correct) begin = first_with_loss(scores);
    for (std::size_t i = 0; i < positives.score.size(); ++i)
      for (auto k = static_cast<std::size_t>(begin[i]); k < negatives.score.size(); ++k) {
        first.look({positives.place[i], negatives.place[k]},
                   positives.score[i] - negatives.score[k], measure);
        poll(64);
      }
  }
  if (const double measure = pool.point_measure(); measure > 0) {
    for (std::size_t i = 0; i < positives.score.size(); ++i)
      first.look({positives.place[i], kNoRow}, positives.score[i], measure);
    for (std::size_t k = 0; k < negatives.score.size(); ++k)
      first.look({kNoRow, negatives.place[k]}, -negatives.score[k], measure);
  }
  first.take(round);
  round.proposals += first.looked_at;
  round.acceptance = std::min(first.total, 1.0);
}

}  // namespace toprank
