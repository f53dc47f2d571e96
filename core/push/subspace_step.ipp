// PushDescent::subspace_step: the exact minimum of the augmented Lagrangian over the span of the
// last total steps, clipped to the box and then searched along. Included by dual_descent.cpp.

template <class Loss, class Negatives>
void PushDescent<Loss, Negatives>::subspace_step() {
  const auto d = size(w_), nt = size(target_), mt = m_target_;
  const auto curved = Negatives::lossless ? mt : nt;  // the rows whose duals have a cost
  const double settled = bias_ - rho_ * excess_;
  auto& now = steps_[head_];
  n_steps_ = std::max(n_steps_, head_ + 1);
  now.y.resize(static_cast<std::size_t>(nt));
  now.w.resize(static_cast<std::size_t>(d));
  y_now_.resize(static_cast<std::size_t>(nt));
  slope_.resize(static_cast<std::size_t>(curved));
  curve_.resize(static_cast<std::size_t>(curved));
  for (std::int64_t t = 0; t < nt; ++t) {
    y_now_[t] = y_[target_[t]];
    now.y[t] = y_now_[t] - y_before_[t];
  }
  for (std::int64_t t = 0; t < mt; ++t) {
    slope_[t] = Loss::slope(y_now_[t], weight_[target_[t]]);
    curve_[t] = Loss::curvature(y_now_[t], weight_[target_[t]]);
  }
  for (std::int64_t t = mt; t < curved; ++t) {
    slope_[t] = negatives_.slope(y_now_[t], weight_[target_[t]]);
    curve_[t] = negatives_.curvature(y_now_[t], weight_[target_[t]]);
  }
  now.excess = imbalance(now.y, mt);

  // The augmented Lagrangian on the span of the steps: gradient g and Gram matrix G. One sweep
  // over the features, block by block, serves every inner product.
  double with_w[kSteps] = {}, g[kSteps], gram[kSteps][kSteps], c[kSteps] = {};
  auto refresh = [&](auto&& write) {
    double with_now[kSteps] = {};
    for (std::int64_t j = 0; j < d; j += kBlock) {
      const auto length = std::min(kBlock, d - j);
      write(j, length);
      for (int k = 0; k < n_steps_; ++k)
        with_now[k] += dot(&now.w[j], &steps_[k].w[j], length);
    }
    for (int k = 0; k < n_steps_; ++k)
      step_gram_[head_][k] = step_gram_[k][head_] = alpha_ * with_now[k];
  };
  refresh([&](std::int64_t j, std::int64_t length) {
    difference(&w_[j], &w_before_[j], &now.w[j], length);
    for (int k = 0; k < n_steps_; ++k) with_w[k] += dot(&w_[j], &steps_[k].w[j], length);
  });
  // A step at the size of w's own rounding is noise: its y and its w do not belong together, and
  // a large multiple of it would part w from what the duals say.
  const double noise = kNoise * alpha_ * dot(w_.data(), w_.data(), d);
  auto sound = [&](int k) { return step_gram_[k][k] > noise; };
  for (int k = 0; k < n_steps_; ++k) {
    const auto& step = steps_[k];
    g[k] = alpha_ * with_w[k] + dot(slope_.data(), step.y.data(), curved) + bias_ * step.excess;
    if (!sound(k)) g[k] = 0;
    for (int l = 0; l <= k; ++l) {
      gram[k][l] = step_gram_[k][l] + dot3(curve_.data(), step.y.data(), steps_[l].y.data(), curved) +
                   rho_ * step.excess * steps_[l].excess;
      if (!sound(k) || !sound(l)) gram[k][l] = 0;
      gram[l][k] = gram[k][l];
    }
  }

  double theta = 0;
  if (solve_small(n_steps_, gram, g, c)) {
    shift_.assign(static_cast<std::size_t>(nt), 0.0);
    for (int k = 0; k < n_steps_; ++k) add_multiple(c[k], steps_[k].y.data(), shift_.data(), nt);
    w_shift_.resize(static_cast<std::size_t>(d));
    for (std::int64_t j = 0; j < d; j += kBlock) {
      const auto length = std::min(kBlock, d - j);
      std::fill_n(&w_shift_[j], length, 0.0);
      for (int k = 0; k < n_steps_; ++k)
        add_multiple(c[k], &steps_[k].w[j], &w_shift_[j], length);
    }
    double ww = 0, wd = 0;  // w_shift . w_shift and w_shift . w, at first from what is known
    for (int k = 0; k < n_steps_; ++k) {
      wd += c[k] * with_w[k];
      for (int l = 0; l < n_steps_; ++l) ww += c[k] * c[l] * step_gram_[k][l] / alpha_;
    }
    // Almost parallel steps take huge multiples, which blow up the rounding they differ by: then
    // the shift of w is made anew from that of the duals.
    double multiples = 0;
    for (int k = 0; k < n_steps_; ++k) multiples += std::abs(c[k]);
    if (multiples > kAmplified) {
      std::fill(w_shift_.begin(), w_shift_.end(), 0.0);
      for (std::int64_t t = 0; t < nt; ++t)
        if (shift_[t] != 0) add(target_[t], sign(target_[t]) * shift_[t] / alpha_, w_shift_.data());
      ww = dot(w_shift_.data(), w_shift_.data(), d);
      wd = dot(w_shift_.data(), w_.data(), d);
    }
    // Clip to the box: only clipped rows are touched. The line search below keeps it a descent.
    for (std::int64_t t = 0; t < nt; ++t) {
      const auto i = target_[t];
      const Box box = t < mt ? Loss::box(y_now_[t], weight_[i])
                             : negatives_.box(y_now_[t], weight_[i]);
      const double wish = y_now_[t] + shift_[t], inside = std::clamp(wish, box.low, box.high);
      if (wish == inside) continue;
      const double by = sign(i) * (inside - wish) / alpha_;
      wd += by * read(i);
      ww += by * (2 * x_->dot(rows_[i], w_shift_.data()) + by * (stiffness_[i] - rho_) * alpha_);
      add(i, by, w_shift_.data());
      shift_[t] = inside - y_now_[t];
    }
    const double de = imbalance(shift_, mt);
    // phi'(t) along the clipped direction, and its slope.
    auto derivative = [&](double t) {
      Residual<double> r{alpha_ * (wd + t * ww) + bias_ * de + rho_ * t * de * de,
                 alpha_ * ww + rho_ * de * de};
      for (std::int64_t k = 0; k < curved; ++k) {
        if (shift_[k] == 0) continue;
        const double y = y_now_[k] + t * shift_[k], p = weight_[target_[k]];
        r.f += shift_[k] * (k < mt ? Loss::slope(y, p) : negatives_.slope(y, p));
        r.slope += shift_[k] * shift_[k] *
                   (k < mt ? Loss::curvature(y, p) : negatives_.curvature(y, p));
      }
      return r;
    };
    const auto first = derivative(0);
    if (first.f < 0) {
      if (Loss::quadratic && Negatives::lossless) {
        theta = std::min(1.0, -first.f / std::max(first.slope, 1e-300));
      } else {
        const double enough = 0.05 * -first.f;
        auto look = [&](double t) {
          auto at = derivative(theta = t);
          at.slope = std::max(at.slope, 1e-300);
          // The whole step is taken if the objective still falls at its end.
          if (!(at.f > enough || (t < 1 && at.f < -enough))) at.f = 0;
          return at;
        };
        bracketed_root(look, 1.0, 0.0, 1.0, 0.0, kLineLooks);
      }
    }
  }
  if (theta > 1e-6) {
    for (std::int64_t t = 0; t < nt; ++t) {
      y_now_[t] = std::max(y_now_[t] + theta * shift_[t], 0.0);
      y_[target_[t]] = y_now_[t];
      now.y[t] = y_now_[t] - y_before_[t];
    }
    now.excess = imbalance(now.y, mt);
    excess_ += theta * imbalance(shift_, mt);
    bias_ = settled + rho_ * excess_;
    refresh([&](std::int64_t j, std::int64_t length) {
      add_multiple(theta, &w_shift_[j], &w_[j], length);
      add_multiple(theta, &w_shift_[j], &now.w[j], length);
      std::copy_n(&w_[j], length, &w_before_[j]);
    });
  } else {
    w_before_ = w_;
  }
  std::copy(y_now_.begin(), y_now_.end(), y_before_.begin());
  head_ = (head_ + 1) % kSteps;
}
