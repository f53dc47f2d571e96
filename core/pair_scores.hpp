// The scores of both classes at the weights of a round: of a row when it is asked for, or of all.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "pair_pool.hpp"
#include "rows.hpp"

namespace toprank {

// A matrix by rows, whatever its form.
class RowReader {
 public:
  virtual ~RowReader() = default;
  virtual double dot(std::int64_t row, const double* w) const = 0;
  virtual std::int64_t entries(std::int64_t row) const = 0;
  virtual void prefetch_place(std::int64_t row) const = 0;
  virtual void prefetch(std::int64_t row) const = 0;
  virtual void scores(const double* w, const std::int64_t* rows, std::int64_t count, double* out,
                      int n_threads) const = 0;
};

template <class Rows>
std::unique_ptr<RowReader> make_row_reader(const Rows&);

// s of the positives, t of the negatives, by their places.
struct ClassScores {
  std::vector<double> s, t;
};

class PairScores {
 public:
  PairScores(std::unique_ptr<RowReader> reader, const std::int64_t* positives, std::int64_t m,
             const std::int64_t* negatives, std::int64_t n)
      : reader_(std::move(reader)), positives_(positives), negatives_(negatives), m_(m), n_(n),
        // Zeros that cost no work until they are read.
        known_(static_cast<Known*>(std::calloc(static_cast<std::size_t>(m + n), sizeof(Known)))) {
    if (known_ == nullptr) throw std::bad_alloc();
  }

  // What was known is of other weights.
  void begin(const double* w) {
    w_ = w;
    ++round_;
  }
  double margin(Pair pair) {
    const double s = pair.i == kNone ? 0.0 : known(pair.i, positives_[pair.i]);
    return pair.j == kNone ? s : s - known(m_ + pair.j, negatives_[pair.j]);
  }
  // Entries of the rows of a pair.
  std::int64_t entries(Pair pair) const {
    return (pair.i == kNone ? 0 : reader_->entries(positives_[pair.i])) +
           (pair.j == kNone ? 0 : reader_->entries(negatives_[pair.j]));
  }
  void prefetch_place(Pair pair) const {
    if (pair.i != kNone) {
      __builtin_prefetch(&known_[pair.i]);
      reader_->prefetch_place(positives_[pair.i]);
    }
    if (pair.j != kNone) {
      __builtin_prefetch(&known_[m_ + pair.j]);
      reader_->prefetch_place(negatives_[pair.j]);
    }
  }
  void prefetch(Pair pair) const {
    if (pair.i != kNone) reader_->prefetch(positives_[pair.i]);
    if (pair.j != kNone) reader_->prefetch(negatives_[pair.j]);
  }

  ClassScores all(int n_threads) const {
    ClassScores scores{std::vector<double>(static_cast<std::size_t>(m_)),
                       std::vector<double>(static_cast<std::size_t>(n_))};
    reader_->scores(w_, positives_, m_, scores.s.data(), n_threads);
    reader_->scores(w_, negatives_, n_, scores.t.data(), n_threads);
    return scores;
  }

 private:
  struct Known {
    double score;
    std::uint64_t round;
  };
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };

  double known(std::int64_t place, std::int64_t row) {
    auto& entry = known_[place];
    if (entry.round != round_) entry = {reader_->dot(row, w_), round_};
    return entry.score;
  }

  std::unique_ptr<RowReader> reader_;
  const std::int64_t *positives_, *negatives_;
  std::int64_t m_, n_;
  std::unique_ptr<Known[], Free> known_;
  const double* w_ = nullptr;
  std::uint64_t round_ = 0;
};

}  // namespace toprank
