// The scores of both classes at the weights of a round: of a row when it is asked for, or of all.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "matrix/row_reader.hpp"
#include "sampling/pair_pool.hpp"

namespace toprank {

// s of the positives, t of the negatives, by their places.
struct ClassScores {
  std::vector<double> s, t;
};

class PairScores {
 public:
  PairScores(std::unique_ptr<RowReader> reader, const std::int64_t* positives, std::int64_t m,
             const std::int64_t* negatives, std::int64_t n)
      : reader_(std::move(reader)), positives_(positives), negatives_(negatives), m_(m), n_(n),
        known_(std::bit_ceil(static_cast<std::uint64_t>(std::min(m + n, kMostKnown)))) {}

  // What was known is of other weights.
  void begin(const double* w) {
    w_ = w;
    ++round_;
  }
  double margin(Pair pair) {
    const double s = pair.i == kNoRow ? 0.0 : known(pair.i, positives_[pair.i]);
    return pair.j == kNoRow ? s : s - known(m_ + pair.j, negatives_[pair.j]);
  }
  // Entries of the rows of a pair.
  std::int64_t entries(Pair pair) const {
    return (pair.i == kNoRow ? 0 : reader_->entries(positives_[pair.i])) +
           (pair.j == kNoRow ? 0 : reader_->entries(negatives_[pair.j]));
  }
  void prefetch_place(Pair pair) const {
    if (pair.i != kNoRow) reader_->prefetch_place(positives_[pair.i]);
    if (pair.j != kNoRow) reader_->prefetch_place(negatives_[pair.j]);
  }
  void prefetch(Pair pair) const {
    if (pair.i != kNoRow) reader_->prefetch(positives_[pair.i]);
    if (pair.j != kNoRow) reader_->prefetch(negatives_[pair.j]);
  }

  ClassScores all(int n_threads) const {
    ClassScores scores{std::vector<double>(static_cast<std::size_t>(m_)),
                       std::vector<double>(static_cast<std::size_t>(n_))};
    reader_->scores(w_, positives_, m_, scores.s.data(), n_threads);
    reader_->scores(w_, negatives_, n_, scores.t.data(), n_threads);
    return scores;
  }

 private:
  // Scores of this round, a place for every row or, where rows are many, for the last of those
  // that share it: then few are met twice, and the cost does not grow with the rows.
  struct Known {
    double score = 0;
    std::uint64_t tag = 0;  // the round, counted from one, and the row
  };
  static constexpr std::int64_t kMostKnown = 1 << 16;

  double known(std::int64_t place, std::int64_t row) {
    const auto of_row = static_cast<std::uint64_t>(place);
    const auto tag = (round_ << 32) | of_row;
    auto& entry = known_[of_row & (known_.size() - 1)];
    if (entry.tag != tag) entry = {reader_->dot(row, w_), tag};
    return entry.score;
  }

  std::unique_ptr<RowReader> reader_;
  const std::int64_t *positives_, *negatives_;
  std::int64_t m_, n_;
  std::vector<Known> known_;
  const double* w_ = nullptr;
  std::uint64_t round_ = 0;
};

}  // namespace toprank
