#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "sampling/pair_round.hpp"
#include "support/interrupt.hpp"

namespace toprank {
namespace {

bool is_close(Strategy strategy) {
  return strategy == Strategy::hard_close || strategy == Strategy::soft_close;
}

// The places of the `count` first by `before`, in that order.
template <class Before>
std::vector<std::int64_t> first_places(std::int64_t size, std::int64_t count, Before before) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(size));
  std::iota(places.begin(), places.end(), std::int64_t{0});
  if (count < size) {
    std::nth_element(places.begin(), places.begin() + count, places.end(), before);
    places.resize(static_cast<std::size_t>(count));
  }
  std::sort(places.begin(), places.end(), before);
  return places;
}

// Pairs in increasing order of a key: `next` gives them one by one, false when there is none.
// Those that are chosen are passed over.
template <class Next>
void take_first(PairPool& pool, Strategy strategy, std::int64_t count, Next&& next, Round& round) {
  Poll poll;
  Pair pair;
  double margin;
  while (count > 0 && next(pair, margin)) {
    ++round.proposals;
    poll(256);
    if (!pool.choose(pair)) continue;
    round.take(pair, acceptance(strategy, margin));
    --count;
  }
}

// In a matrix of margins whose rows and columns increase, the smallest left is always the first
// left of a row; a row joins when the one before it has begun. Ties by row, then by column.
class LeastCorrect {
 public:
  // Each of the `reach` smallest is in the first rows and columns of that number.
  LeastCorrect(const ClassScores& scores, std::int64_t reach)
      : scores_(scores),
        rows_(first_places(size(scores.s), std::min(reach, size(scores.s)),
                           [&](auto a, auto b) {
                             const double x = scores.s[a], y = scores.s[b];
                             return x != y ? x < y : a < b;
                           })),
        columns_(first_places(size(scores.t), std::min(reach, size(scores.t)),
                              [&](auto a, auto b) {
                                const double x = scores.t[a], y = scores.t[b];
                                return x != y ? x > y : a < b;
                              })) {
    push(0, 0);
  }

  bool operator()(Pair& pair, double& margin) {
    if (heads_.empty() || slack(heads_.top().margin) <= 0) return false;
    const auto head = heads_.top();
    heads_.pop();
    push(head.row, head.column + 1);
    if (head.column == 0) push(head.row + 1, 0);
    pair = {rows_[head.row], columns_[head.column]};
    margin = head.margin;
    return true;
  }

 private:
  struct Head {
    double margin;
    std::size_t row, column;
    bool operator<(const Head& other) const {  // the queue's top is the greatest
      if (margin != other.margin) return margin > other.margin;
      return row != other.row ? row > other.row : column > other.column;
    }
  };
  static std::int64_t size(const std::vector<double>& v) {
    return static_cast<std::int64_t>(v.size());
  }
  void push(std::size_t row, std::size_t column) {
    if (row < rows_.size() && column < columns_.size())
      heads_.push({scores_.s[rows_[row]] - scores_.t[columns_[column]], row, column});
  }

  const ClassScores& scores_;
  std::vector<std::int64_t> rows_, columns_;
  std::priority_queue<Head> heads_;
};

// Each row of the smaller class has two streams of the larger one: at or below it, and above,
// the nearest first. Ties by the sorted place of the row, then below before above.
class Closest {
 public:
  explicit Closest(const ClassScores& scores)
      : sorted_(sort_scores(scores)),
        by_positive_(sorted_.positives.size() <= sorted_.negatives.size()),
        rows_(by_positive_ ? sorted_.positives : sorted_.negatives),
        others_(by_positive_ ? sorted_.negatives : sorted_.positives) {
    std::vector<Head> heads;
    std::int64_t k = 0;
    for (std::int64_t row = 0; row < rows_.size(); ++row) {
      while (k < others_.size() && others_.score[k] <= rows_.score[row]) ++k;
      if (k > 0) heads.push_back(head(row, k - 1, false));
      if (k < others_.size()) heads.push_back(head(row, k, true));
    }
    heads_ = std::priority_queue<Head>(std::less<Head>(), std::move(heads));
  }

  bool operator()(Pair& pair, double& margin) {
    if (heads_.empty()) return false;
    const auto now = heads_.top();
    heads_.pop();
    const auto next = now.above ? now.other + 1 : now.other - 1;
    if (next >= 0 && next < others_.size()) heads_.push(head(now.row, next, now.above));
    pair = {rows_.place[now.row], others_.place[now.other]};
    margin = rows_.score[now.row] - others_.score[now.other];
    if (!by_positive_) std::swap(pair.i, pair.j), margin = -margin;
    return true;
  }

 private:
  struct Head {
    double distance;
    std::int64_t row, other;
    bool above;
    bool operator<(const Head& than) const {  // the queue's top is the greatest
      if (distance != than.distance) return distance > than.distance;
      return row != than.row ? row > than.row : above > than.above;
    }
  };
  Head head(std::int64_t row, std::int64_t other, bool above) const {
    return {std::abs(rows_.score[row] - others_.score[other]), row, other, above};
  }

  SortedScores sorted_;
  bool by_positive_;
  const SortedClass &rows_, &others_;
  std::priority_queue<Head> heads_;
};

void take_first_points(const ClassScores& scores, PairPool& pool, Strategy strategy,
                       std::int64_t count, Round& round) {
  const auto m = pool.n_positives(), n = pool.n_negatives();
  auto margin_of = [&](std::int64_t k) { return k < m ? scores.s[k] : -scores.t[k - m]; };
  auto key = [&](std::int64_t k) {
    return is_close(strategy) ? std::abs(margin_of(k)) : margin_of(k);
  };
  const auto reach = std::min(m + n, count + pool.points_chosen());
  const auto points = first_places(m + n, reach, [&](auto a, auto b) {
    const double x = key(a), y = key(b);
    return x != y ? x < y : a < b;
  });
  auto at = points.begin();
  take_first(pool, strategy, count, [&](Pair& pair, double& margin) {
    if (at == points.end() || (!is_close(strategy) && slack(margin_of(*at)) <= 0)) return false;
    pair = pool.point(*at);
    margin = margin_of(*at++);
    return true;
  }, round);
}

void take_first_real(const ClassScores& scores, PairPool& pool, Strategy strategy,
                     std::int64_t count, Round& round) {
  if (is_close(strategy)) take_first(pool, strategy, count, Closest(scores), round);
  else take_first(pool, strategy, count, LeastCorrect(scores, count + pool.real_chosen()), round);
}

}  // namespace

// gamma of them are real pairs, the rest points; where one type has too few, the other fills up.
void draw_first(const ClassScores& scores, PairPool& pool, Strategy strategy, std::int64_t count,
                Round& round) {
  const auto missing = round.missing(count);
  const auto real = static_cast<std::int64_t>(
      std::lround(pool.real_share() * static_cast<double>(missing)));
  if (real > 0) take_first_real(scores, pool, strategy, real, round);
  const bool no_more = round.missing(count) > missing - real;
  if (pool.points_left() > 0 && round.missing(count) > 0)
    take_first_points(scores, pool, strategy, round.missing(count), round);
  if (!no_more && pool.real_left() > 0 && round.missing(count) > 0)
    take_first_real(scores, pool, strategy, round.missing(count), round);
}

}  // namespace toprank
