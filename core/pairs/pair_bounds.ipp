// P and D of PairDescent; see pair_descent.hpp. Included by pair_descent.ipp.

// P and D of all pairs, and a new list of those that do not rest.
template <class Rows>
void DescentOnPairs<Rows>::look(PairOutcome& outcome) {
  for (bool fresh : {false, true}) {
    stretch_ = 1;
    margins_.resize(pairs_.size());
    active_.clear();
    double loss = 0, total = 0, along = 0, projected;
    for (std::int64_t q = 0; q < n_pairs(); ++q) {
      if (q + kAhead < n_pairs()) fetch(q + kAhead);
      const auto& pair = pairs_[q];
      const double m = margins_[q] = margin(q);
      loss += pair.bound * std::max(1 - m, 0.0);
      total += pair.dual;
      along += pair.dual * m;
      if (pair.bound > 0 && !rests(pair, m - 1, projected))
        active_.push_back(static_cast<std::int32_t>(q));
    }
    n_active_ = static_cast<std::int64_t>(active_.size());
    squared_ = dot(w_.data(), w_.data(), x_.n_cols);
    outcome.primal = 0.5 * squared_ + loss;
    outcome.dual = total - 0.5 * squared_;
    // w.(sum a z) = sum a (w.z): how far w has drifted from the duals along itself, which is
    // all that D feels of it.
    const double gap = outcome.primal - outcome.dual;
    if (fresh || !(std::abs(along - squared_) > kDriftShare * gap)) return;
    weights_from_duals();
  }
}

// P at t w and its derivative in t.
template <class Rows>
std::pair<double, double> DescentOnPairs<Rows>::primal_at(double t) const {
  double value = 0.5 * t * t * squared_, slope = t * squared_;
  for (std::int64_t q = 0; q < n_pairs(); ++q) {
    const double lost = 1 - t * margins_[q];
    value += pairs_[q].bound * std::max(lost, 0.0);
    slope -= lost > 0 ? pairs_[q].bound * margins_[q] : 0.0;
  }
  return {value, slope};
}

// The best multiple of w, by bisection. Where bounds are high a w that is a little too short
// costs much. P bends at least as much as |w|^2/2 t^2 does, and cannot fall by more than the
// gap: that is how far from 1 the best t can be.
template <class Rows>
void DescentOnPairs<Rows>::stretch(PairOutcome& outcome) {
  const auto gap = [&] { return outcome.primal - outcome.dual; };
  double near = 1, width = std::sqrt(2 * gap() / squared_);
  if (!std::isfinite(width)) return;  // w = 0, or rounding alone is left of the gap
  const double side = primal_at(1).second < 0 ? 1 : -1;
  for (int step = 0; step < kMostHalvings; ++step) {
    width *= 0.5;
    const double t = near + side * width;
    const auto [value, slope] = primal_at(t);
    if (value < outcome.primal) {
      outcome.primal = value;
      stretch_ = t;
    }
    if (std::abs(slope) * width <= kGainShare * gap()) return;
    if (side * slope < 0) near = t;
  }
}
