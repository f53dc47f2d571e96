// PushDescent::settle: the exact minimum over the few duals that moved most. Included by
// dual_descent.cpp.
//
// Rows that are almost equal hand their duals to each other in many small steps, one pass each.
// They are restless together, and few: with the products of their rows that is one step.

template <class Loss, class Negatives>
void PushDescent<Loss, Negatives>::settle() {
  if constexpr (!Loss::quadratic) return;
  movers_.clear();
  for (std::int64_t t = 0; t < size(target_); ++t) {
    const auto i = target_[t];
    if (const double by = std::abs(y_[i] - y_before_[t]); by > 0)
      movers_.emplace_back(static_cast<float>(by * stiffness_[i]), i);
  }
  // The products are to cost less than the epoch did.
  const auto room = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n_active_)));
  const auto count = std::min({size(movers_), room, std::int64_t{BoxQuadratic::kMost}});
  if (count < 2) return;
  std::nth_element(movers_.begin(), movers_.begin() + (count - 1), movers_.end(),
                   std::greater<>());
  auto& few = few_;
  few.n = static_cast<int>(count);
  spread_.resize(w_.size());
  for (int k = 0; k < few.n; ++k) {
    const auto i = movers_[k].second;
    const double y = y_[i], p = weight_[i];
    const bool positive = i < m_;
    add(i, 1, spread_.data());
    for (int l = 0; l < k; ++l) {
      const auto j = movers_[l].second;
      entries_read_ += x_->entries(rows_[j]);
      few.gram[k][l] = few.gram[l][k] =
          sign(i) * sign(j) * (x_->dot(rows_[j], spread_.data()) / alpha_ + rho_);
    }
    add(i, -1, spread_.data());  // zero again, to the bit
    const double slope = positive ? Loss::slope(y, p) : negatives_.slope(y, p);
    few.gram[k][k] =
        stiffness_[i] + (positive ? Loss::curvature(y, p) : negatives_.curvature(y, p));
    few.at[k] = y;
    few.pull[k] = -sign(i) * (read(i) + bias_) - slope;
    const Box piece = positive ? Loss::box(y, p) : piece_of(y, p);
    few.low[k] = piece.low;
    few.high[k] = piece.high;
  }
  few.solve();
  for (int k = 0; k < few.n; ++k) {
    const auto i = movers_[k].second;
    const double by = sign(i) * (few.at[k] - y_[i]);
    if (by == 0) continue;
    y_[i] = few.at[k];
    bias_ += rho_ * by;
    excess_ += by;
    add(i, by / alpha_, w_.data());
  }
}

// Where the cost of a negative's dual is the same quadratic as it is here.
template <class Loss, class Negatives>
Box PushDescent<Loss, Negatives>::piece_of(double y, double weight) const {
  if (Negatives::lossless) return {0, kInfinity};
  const double cap = negatives_.cap(weight);
  return y < cap ? Box{0, cap} : Box{cap, kInfinity};
}
