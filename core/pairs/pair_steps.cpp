#include "pairs/pair_steps.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace toprank {
namespace {

// The Hessian of the scores of a few rows: each of the first ones loses with the others up to its
// last.
template <class A>
class Windows {
 public:
  explicit Windows(PairRanks::Thinned kept)
      : kept_(std::move(kept)), weight_(kept_.others.size() + 1), loses_(kept_.others.size() + 1),
        along_(weight_.size()), gathered_(weight_.size()) {
    for (std::size_t b = 0; b < kept_.others.size(); ++b)
      weight_[b + 1] = weight_[b] + kept_.other_weights[b];
    for (std::size_t a = 0; a < kept_.rows.size(); ++a) loses_[last(a)] += kept_.weights[a];
    for (std::size_t b = kept_.others.size(); b-- > 0;) loses_[b] += loses_[b + 1];
  }

  // Its diagonal.
  std::vector<A> degrees() const {
    std::vector<A> out;
    for (std::size_t a = 0; a < kept_.rows.size(); ++a)
      out.push_back(static_cast<A>(kept_.weights[a] * weight_[last(a)]));
    for (std::size_t b = 0; b < kept_.others.size(); ++b)
      out.push_back(static_cast<A>(kept_.other_weights[b] * loses_[b + 1]));
    return out;
  }

  void operator()(A* r) {
    const std::size_t size = kept_.others.size();
    A* other = r + kept_.rows.size();
    for (std::size_t b = 0; b < size; ++b)
      along_[b + 1] = along_[b] + kept_.other_weights[b] * static_cast<double>(other[b]);
    std::fill(gathered_.begin(), gathered_.end(), 0.0);
    for (std::size_t a = 0; a < kept_.rows.size(); ++a) {
      const double w = kept_.weights[a], own = static_cast<double>(r[a]);
      gathered_[last(a)] += w * own;
      r[a] = static_cast<A>(w * (weight_[last(a)] * own - along_[last(a)]));
    }
    double sum = 0;
    for (std::size_t b = size; b-- > 0;) {
      sum += gathered_[b + 1];
      other[b] = static_cast<A>(kept_.other_weights[b] *
                                (loses_[b + 1] * static_cast<double>(other[b]) - sum));
    }
  }

 private:
  std::size_t last(std::size_t a) const { return static_cast<std::size_t>(kept_.last[a]); }

  PairRanks::Thinned kept_;
  std::vector<double> weight_;  // of the others up to each
  std::vector<double> loses_;   // the weight of the rows whose last is each or beyond
  std::vector<double> along_, gathered_;
};

template <class A>
class StepsOf : public PairSteps {
 public:
  StepsOf(std::unique_ptr<WideRows<A>> rows, int n_threads)
      : rows_(std::move(rows)), measure_(static_cast<std::size_t>(rows_->n_rows())) {
    squares.resize(measure_.size());
    rows_->squares(squares.data(), n_threads);
    const double total = std::accumulate(squares.begin(), squares.end(), 0.0);
    if (total > 0) typical = total / static_cast<double>(squares.size());
  }

  Stepped step(const PairRanks& ranks, const double* gradient, const StepAsk& ask, double least,
               double* out) override {
    for (std::size_t i = 0; i < squares.size(); ++i)
      measure_[i] = 0.5 * (squares[i] + typical) / ask.alpha;
    auto kept = ranks.thinned_by(measure_.data(), least);
    ThinCopy<A> thin;
    thin.rows = kept.rows;
    thin.rows.insert(thin.rows.end(), kept.others.begin(), kept.others.end());
    Windows<A> windows(std::move(kept));
    thin.weight = windows.degrees();
    thin.bend = [&](A* r) { windows(r); };
    rows_->copy(thin);
    entries = thin.n_entries();
    return newton_step(thin, rows_->n_cols(), gradient, ask, out);
  }

 private:
  std::unique_ptr<WideRows<A>> rows_;
  std::vector<double> measure_;
};

}  // namespace

template <class A>
std::unique_ptr<PairSteps> pair_steps(std::unique_ptr<WideRows<A>> rows, int n_threads) {
  return std::make_unique<StepsOf<A>>(std::move(rows), n_threads);
}

template std::unique_ptr<PairSteps> pair_steps(std::unique_ptr<WideRows<float>>, int);
template std::unique_ptr<PairSteps> pair_steps(std::unique_ptr<WideRows<double>>, int);

}  // namespace toprank
