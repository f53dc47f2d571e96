// The primal and dual bounds of TopDescent, at a check. Included by dual_descent.ipp.

// P(w) - P(0) from scores, on the line best + theta (current - best), and its rounding.
template <class Rows, class Loss>
auto TopDescent<Rows, Loss>::rise_on_line(double theta, double quadratic) const -> Rise {
  const double* b = score_best_.data();
  const double* c = score_.data();
  double top = -kInfinity;
#pragma omp simd reduction(max : top)
  for (std::int64_t j = m_; j < n_; ++j) top = std::max(top, b[j] + theta * (c[j] - b[j]));
  Rise rise{0.5 * alpha_ * quadratic, 1e-15 * std::abs(top), 0.5 * alpha_ * quadratic};
  for (std::int64_t i = 0; i < m_; ++i) {
    const double score = b[i] + theta * (c[i] - b[i]), term = p_[i] * Loss::rise(top - score);
    rise.value += term;
    rise.level += p_[i] * Loss::value(top - score);
    rise.error += 1e-13 * std::abs(term) + 1e-15 * p_[i] * std::abs(score);
  }
  if (!std::isfinite(rise.value)) return {kInfinity, 0, kInfinity};
  return rise;
}

// The best point on the line through the best and the current w, by golden section on the scores.
template <class Rows, class Loss>
void TopDescent<Rows, Loss>::improve_primal() {
  const auto d = x_.n_cols;
  const double bb = dot(w_best_.data(), w_best_.data(), d), bw = dot(w_best_.data(), w_.data(), d),
               ww = dot(w_.data(), w_.data(), d);
  auto rise = [&](double t) {
    return rise_on_line(t, (1 - t) * (1 - t) * bb + 2 * t * (1 - t) * bw + t * t * ww);
  };
  // Far below P(0), P(0) + rise would be all rounding: P itself is compared there.
  const bool low_down = best_primal_ < 0.5 * Loss::at_zero;
  auto value = [&](double t) { return low_down ? rise(t).level : rise(t).value; };
  constexpr double golden = 0.6180339887498949;
  double low = 0, high = 1.5, t1 = high - golden * (high - low), t2 = low + golden * (high - low);
  double p1 = value(t1), p2 = value(t2);
  for (int step = 0; step < 6; ++step) {
    if (p1 < p2) {
      high = t2, t2 = t1, p2 = p1;
      t1 = high - golden * (high - low), p1 = value(t1);
    } else {
      low = t1, t1 = t2, p1 = p2;
      t2 = low + golden * (high - low), p2 = value(t2);
    }
  }
  double theta = p1 < p2 ? t1 : t2;
  if (value(1) < std::min(p1, p2)) theta = 1;
  const auto [least, error, level] = rise(theta);
  if (!(least < -error) || !(low_down ? level < best_primal_ : least < best_rise_)) return;
  best_rise_ = least;
  best_primal_ = level;
  mix(w_best_.data(), w_.data(), theta, d);
  mix(score_best_.data(), score_.data(), theta, n_);
}

// Makes the sums of the duals equal: what the negatives lack goes to the highest of them,
// what they have too much is scaled away.
template <class Rows, class Loss>
void TopDescent<Rows, Loss>::improve_dual() {
  const double a = sum(y_.data(), m_), delta = sum(y_.data() + m_, n_ - m_);
  excess_ = a - delta;
  if (!(a > 0)) return;
  trial_ = y_;
  w_trial_ = w_;
  if (excess_ > 0) {
    const auto top = std::max_element(score_.begin() + m_, score_.end()) - score_.begin();
    trial_[top] += excess_;
    add(top, -excess_ / alpha_, w_trial_.data());
  } else if (excess_ < 0) {
    const double share = excess_ / delta;
    for (auto j = m_; j < n_; ++j) {
      if (y_[j] == 0) continue;
      trial_[j] += share * y_[j];
      add(j, -share * y_[j] / alpha_, w_trial_.data());
    }
  }
  double dual = -dual_objective(w_trial_), scale = 1;
  if (Loss::quadratic) {  // the best multiple of this point: D = S^2 / (4 q)
    const double q = a - dual;
    scale = a / (2 * q);
    dual = scale * a - scale * scale * q;
  }
  if (!(dual > best_dual_)) return;
  best_dual_ = dual;
  for (std::int64_t i = 0; i < n_; ++i) y_best_[i] = scale * trial_[i];
}
