// The squared hinge of all pairs of a positive and a negative row, with one class sorted.
//
//   F(s) = sum_i sum_j p_i q_j [1 - s_i + s_j]_+^2
//
// The smaller class, the few, is sorted so that g ascends: s of positives, -s of negatives. A row
// of the other class, the many, has e = 1 + s or 1 - s, and loses with the few up to its rank, the
// number of g < e. Sums over the few up to a rank serve every row of the many; sums over the many
// of each rank, added up from the highest, serve the few. So a rank is all that is asked of the
// many: a table of places tells it but for a short search.
//
// All sums are of terms >= 0, u = e - g against the last of the few that counts, so that they are
// good to rounding of themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "support/sort.hpp"

namespace toprank {

class PairRanks {
 public:
  // Rows of the two classes and their weights; weights may be null: then all are the same.
  PairRanks(std::int64_t n_rows, const std::int64_t* positives, const double* p, std::int64_t m,
            const std::int64_t* negatives, const double* q, std::int64_t n);

  struct Sums {
    double value = 0;  // F
    double total = 0;  // the sum of the duals of all pairs
    double curved = 0;  // r' F'' r, where r was given
  };

  // F at the scores, and dF/ds of every row; with r, the curvature along it.
  Sums slope(const double* scores, double* v, const double* r = nullptr);

  // The second derivative of F at the last scores times r, both of all rows.
  void curvature(const double* r, double* out);

  // The slope of the objective along a ray, at its beginning, and that of all but F: linear +
  // theta square; and the theta to try first.
  struct Ray {
    double slope, linear, square, first;
  };
  struct Step {
    double theta = 0;
    Sums sums;
    double left = 0;  // the slope of the objective there
  };
  // How far to go from s along r, downwards, until no more than `share` of the slope is left.
  // v is dF/ds there, and `moved` is s + theta r.
  Step search(const double* s, const double* r, const Ray& ray, double share, double* moved,
              double* v);

  // Pairs that stand for all that count at the last scores: about `most` rows of each class, kept
  // in proportion to their curvature and weighted to make up for the others. Rows of the many by
  // rank, the others of each being the few up to `last`.
  struct Thinned {
    std::vector<std::int64_t> rows, last, others;
    std::vector<double> weights, other_weights;
  };
  Thinned thinned(double most) const;
  // The same with the chance min(1, c m_r + least) of a row r of curvature c.
  Thinned thinned_by(const double* m, double least) const;

  std::int64_t n_rows() const { return n_rows_; }
  bool known() const { return known_; }

 private:
  struct Side {
    double sign;
    std::vector<std::uint32_t> rows;
    std::vector<double> weights;  // empty where all are one
    std::uint32_t size() const { return static_cast<std::uint32_t>(rows.size()); }
    double weight(std::uint32_t k) const { return weights.empty() ? 1.0 : weights[k]; }
  };
  // Over the few below a rank: the last g, weights, and sums of w u and w u^2 for e = that g.
  struct Below {
    double last = 0, weight = 0, u = 0, u2 = 0;
  };
  // Two sums: over the many of a rank, of w and w (e - g); over the few below it, of w r and w r^2.
  struct Two {
    double first = 0, second = 0;
  };

  void sort(const double* scores);
  void make_table();
  std::uint32_t part_of(double value) const;
  void rank_many(const double* scores);
  template <bool kAlong>
  Sums sweep(double* v, const double* r);
  // With the chance of a row of the few, and of the many, from its place there, its weight and the
  // weight of what it loses with.
  template <class OfFew, class OfMany>
  Thinned keep(const OfFew& of_few, const OfMany& of_many) const;

  std::int64_t n_rows_;
  double scale_;  // of a pair of weights one
  bool known_ = false;
  Side few_, many_;
  Sorter sorter_;
  std::vector<double> values_, g_;      // g with infinity at its end
  std::vector<double> e_;               // of the many
  std::vector<std::uint32_t> order_;    // of the few
  std::vector<std::uint32_t> rank_;     // of the many
  std::vector<std::uint32_t> begins_;   // the first of the few in every part of the table
  double low_ = 0, per_part_ = 0;
  std::uint32_t last_part_ = 0;
  std::vector<Below> below_;
  std::vector<Two> many_of_, along_;
  std::vector<double> above_;           // the weight of the many that each of the few loses with
};

}  // namespace toprank
