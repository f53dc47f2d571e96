// The primal and dual bounds of PushDescent, at a check. Included by dual_descent.cpp.

// The weights at which the primal bound is looked for. For TopPush, whose P holds the highest score
// of a negative, they are w with the listed negatives above their level lowered to it: few are, and
// P falls by the way they were above, where it rises by the square of that. Returns the highest
// score of these before.
template <class Loss, class Negatives>
double PushDescent<Loss, Negatives>::level() {
  level_ = w_;
  if constexpr (!Negatives::lossless) return -kInfinity;
  movers_.clear();
  double sum = 0, weighted = 0, top = -kInfinity;
  for (std::int64_t k = 0; k < n_active_; ++k) {
    const auto j = active_[k];
    if (j < m_) continue;
    const double score = read(j);
    top = std::max(top, score);
    sum += y_[j];
    weighted += y_[j] * score;
    movers_.emplace_back(static_cast<float>(score), j);
  }
  if (!(sum > 0)) return top;
  const double target = weighted / sum;
  std::erase_if(movers_, [&](const auto& mover) { return !(mover.first > target); });
  std::sort(movers_.begin(), movers_.end(), std::greater<>());
  for (const auto& [score, j] : movers_) {
    const double square = (stiffness_[j] - rho_) * alpha_;
    entries_read_ += x_->entries(rows_[j]);
    const double above = x_->dot(rows_[j], level_.data()) - target;
    if (above > 0 && square > kFlat * alpha_ * rho_) add(j, -above / square, level_.data());
  }
  return top;
}

// The b that makes P least at these scores, every negative at or below the ceiling.
template <class Loss, class Negatives>
double PushDescent<Loss, Negatives>::best_bias(const std::vector<double>& score,
                                               double start) const {
  const double highest = Negatives::ceiling ? -max(score.data() + m_, n_ - m_) : kInfinity;
  if (Negatives::lossless) return highest;
  auto look = [&](double b) {  // the slope of P in b, which increases, and its own slope
    const double *s = score.data(), *c = weight_.data();
    double f = 0, slope = 0;
#pragma omp simd reduction(+ : f, slope)
    for (std::int64_t i = 0; i < m_; ++i) {
      const double z = -(s[i] + b);
      f -= c[i] * Loss::rate(z);
      slope += c[i] * Loss::bend(z);
    }
    const Negatives negatives = negatives_;
#pragma omp simd reduction(+ : f, slope)
    for (auto j = m_; j < n_; ++j) {
      const double z = s[j] + b;
      f += c[j] * negatives.rate(z);
      slope += c[j] * negatives.bend(z);
    }
    return Residual<double>{f, slope};
  };
  if (Negatives::ceiling && look(highest).f <= 0) return highest;
  // Where all rows are far on one side the slope vanishes: steps are no longer than a stride.
  double stride = 1;
  auto damped = [&](double b) {
    auto at = look(b);
    at.slope = std::max({at.slope, 1e-300, std::abs(at.f) / stride});
    stride *= 2;
    return std::isnan(at.f) ? Residual<double>{0, 1} : at;
  };
  const double first = std::min(start, highest);
  return bracketed_root(damped, first, -kInfinity, highest, kBiasTolerance, kRootLooks);
}

template <class Loss, class Negatives>
double PushDescent<Loss, Negatives>::bias_on_line(double theta, double of_current) const {
  const double between = bias_best_ + theta * (of_current - bias_best_);
  if (!Negatives::ceiling) return between;
  const double* b = score_best_.data();
  const double* c = score_.data();
  double top = -kInfinity;
#pragma omp simd reduction(max : top)
  for (std::int64_t j = m_; j < n_; ++j) top = std::max(top, b[j] + theta * (c[j] - b[j]));
  if (Negatives::lossless) return -top;
  return std::min(between, -top);
}

// P(w) - P(0) from scores, on the line best + theta (current - best), and its rounding.
template <class Loss, class Negatives>
auto PushDescent<Loss, Negatives>::rise_on_line(double theta, double quadratic,
                                                double bias) const -> Rise {
  const double* b = score_best_.data();
  const double* c = score_.data();
  const double* p = weight_.data();
  double value = 0, terms = 0, level = 0, size = 0;  // terms and size: sums of absolute values
#pragma omp simd reduction(+ : value, terms, level, size)
  for (std::int64_t i = 0; i < m_; ++i) {
    const double score = b[i] + theta * (c[i] - b[i]), z = -(score + bias);
    const double term = p[i] * Loss::rise(z);
    value += term;
    terms += std::abs(term);
    level += p[i] * Loss::value(z);
    size += p[i] * std::abs(score);
  }
  if constexpr (!Negatives::lossless) {
    const Negatives negatives = negatives_;
#pragma omp simd reduction(+ : value, terms, level, size)
    for (auto j = m_; j < n_; ++j) {
      const double score = b[j] + theta * (c[j] - b[j]), z = score + bias;
      const double term = p[j] * negatives.rise(z);
      value += term;
      terms += std::abs(term);
      level += p[j] * negatives.value(z);
      size += p[j] * std::abs(score);
    }
  }
  if (!std::isfinite(value)) return {kInfinity, 0, kInfinity};
  const double ridge = 0.5 * alpha_ * quadratic;
  return {value + ridge, 1e-13 * terms + 1e-15 * (size + std::abs(bias)), level + ridge};
}

// The best point on the line through the best and the current w, by golden section on the scores.
template <class Loss, class Negatives>
void PushDescent<Loss, Negatives>::improve_primal() {
  const auto d = size(w_);
  const double bb = dot(w_best_.data(), w_best_.data(), d), bw = dot(w_best_.data(), level_.data(), d),
               ww = dot(level_.data(), level_.data(), d);
  const double of_current = best_bias(score_, bias_);
  auto rise = [&](double t, double b) {
    return rise_on_line(t, (1 - t) * (1 - t) * bb + 2 * t * (1 - t) * bw + t * t * ww, b);
  };
  // Far below P(0), P(0) + rise would be all rounding: P itself is compared there.
  const bool low_down = best_primal_ < 0.5 * (Loss::at_zero + Negatives::at_zero);
  auto value = [&](double t) {
    const auto at = rise(t, bias_on_line(t, of_current));
    return low_down ? at.level : at.value;
  };
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
  const double bias = bias_on_line(theta, of_current);
  const auto [least, error, level] = rise(theta, bias);
  if (!(least < -error) || !(low_down ? level < best_primal_ : least < best_rise_)) return;
  best_rise_ = least;
  best_primal_ = level;
  bias_best_ = bias;
  mix(w_best_.data(), level_.data(), theta, d);
  mix(score_best_.data(), score_.data(), theta, n_);
  if (Negatives::lossless) return;
  // On the line b went along; at its best point b is made the best.
  const double better = best_bias(score_best_, bias);
  const auto there = rise_on_line(0, dot(w_best_.data(), w_best_.data(), d), better);
  if (!(low_down ? there.level < best_primal_ : there.value < best_rise_)) return;
  best_rise_ = there.value;
  best_primal_ = there.level;
  bias_best_ = better;
}

// Makes the sums of the duals equal: what the negatives lack goes to the highest of them, what
// they have too much is taken from those at their constraint, or scaled away.
template <class Loss, class Negatives>
void PushDescent<Loss, Negatives>::improve_dual() {
  const double a = sum(y_.data(), m_), delta = sum(y_.data() + m_, n_ - m_);
  excess_ = a - delta;
  if (!(a > 0)) return;
  trial_ = y_;
  if constexpr (!Negatives::ceiling) {
    const double dual = scaled_dual();
    if (!(dual > best_dual_)) return;
    best_dual_ = dual;
    y_best_ = trial_;
    return;
  }
  w_trial_ = w_;
  if (excess_ > 0) {
    const auto top = std::max_element(score_.begin() + m_, score_.end()) - score_.begin();
    trial_[top] += excess_;
    add(top, -excess_ / alpha_, w_trial_.data());
  } else if (excess_ < 0) {
    double beyond = 0;
    for (auto j = m_; j < n_; ++j) beyond += std::max(y_[j] - negatives_.cap(weight_[j]), 0.0);
    const bool from_hard = beyond >= -excess_;
    const double share = excess_ / (from_hard ? beyond : delta);
    for (auto j = m_; j < n_; ++j) {
      const double part =
          from_hard ? std::max(y_[j] - negatives_.cap(weight_[j]), 0.0) : y_[j];
      if (part == 0) continue;
      trial_[j] += share * part;
      add(j, -share * part / alpha_, w_trial_.data());
    }
  }
  double dual = -dual_objective(w_trial_), scale = 1;
  if constexpr (Loss::quadratic && Negatives::lossless) {  // the best multiple: D = S^2 / (4 q)
    const double q = a - dual;
    if (q > 0) {  // of the hinge at w = 0 there is nothing but rounding
      scale = a / (2 * q);
      for (std::int64_t i = 0; i < m_; ++i)
        scale = std::min(scale, Loss::most_multiple(trial_[i], weight_[i]));
      dual = scale * a - scale * scale * q;
    }
  }
  if (!(dual > best_dual_)) return;
  best_dual_ = dual;
  for (std::int64_t i = 0; i < n_; ++i) y_best_[i] = scale * trial_[i];
}

// Scales the side whose duals sum to more down to the other, and bounds the dual value from below
// without a product: |w - s w_side|^2 is known but for s^2 |w_side|^2.
template <class Loss, class Negatives>
double PushDescent<Loss, Negatives>::scaled_dual() {
  const bool of_positives = excess_ > 0;
  const auto begin = of_positives ? 0 : m_, end = of_positives ? m_ : n_;
  const double share = std::abs(excess_) / sum(y_.data() + begin, end - begin);
  double along = 0, length = 0;  // alpha w.w_side, and alpha |w_side| at the most
  for (auto i = begin; i < end; ++i) {
    if (y_[i] == 0) continue;
    along += sign(i) * y_[i] * score_[i];
    length += y_[i] * std::sqrt((stiffness_[i] - rho_) * alpha_);
    trial_[i] = (1 - share) * y_[i];
  }
  const double more = share * (0.5 * share * length * length / alpha_ - along);
  return -dual_objective(w_) - more;
}
