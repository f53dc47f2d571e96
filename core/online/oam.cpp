#include "online/oam.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/vectors.hpp"

namespace toprank {
namespace {

// Below this share of |x|^2 + |z|^2 the squared distance is taken anew: it has lost its digits.
constexpr double kNear = 1e-6;

double square(double value) { return value * value; }

// a.z
double kept_dot(const KeptRow& z, const double* a) {
  const auto n = static_cast<std::int64_t>(z.data.size());
  if (z.indices.empty()) return dot(z.data.data(), a, n);
  double s = 0;
  for (std::int64_t q = 0; q < n; ++q) s += z.data[q] * a[z.indices[q]];
  return s;
}

// (a.z, b.z)
std::pair<double, double> two_dots(const KeptRow& z, const double* a, const double* b) {
  const auto n = static_cast<std::int64_t>(z.data.size());
  const double* data = z.data.data();
  double az = 0, bz = 0;
  if (z.indices.empty()) {
#pragma omp simd reduction(+ : az, bz)
    for (std::int64_t q = 0; q < n; ++q) {
      az += data[q] * a[q];
      bz += data[q] * b[q];
    }
  } else {
    const auto* indices = z.indices.data();
    for (std::int64_t q = 0; q < n; ++q) {
      az += data[q] * a[indices[q]];
      bz += data[q] * b[indices[q]];
    }
  }
  return {az, bz};
}

void add(const KeptRow& z, double c, double* out) {
  const auto n = static_cast<std::int64_t>(z.data.size());
  if (z.indices.empty()) dense_add(z.data.data(), n, c, out);
  else sparse_add(z.data.data(), z.indices.data(), n, c, out);
}

// |x_i - z|^2 entry by entry; the columns of sparse rows increase.
template <class Rows>
double squared_distance(const Rows& x, std::int64_t i, const KeptRow& z) {
  double s = 0;
  if constexpr (is_sparse<Rows>) {
    auto p = x.indptr[i];
    const auto p_end = x.indptr[i + 1];
    for (std::size_t q = 0; q < z.data.size(); ++q) {
      for (; p < p_end && x.indices[p] < z.indices[q]; ++p) s += square(x.data[p]);
      const bool both = p < p_end && x.indices[p] == z.indices[q];
      s += square((both ? static_cast<double>(x.data[p]) : 0.0) - z.data[q]);
      p += both;
    }
    for (; p < p_end; ++p) s += square(x.data[p]);
  } else {
    const auto* row = x.x + i * x.stride;
    for (std::int64_t j = 0; j < x.n_cols; ++j) s += square(static_cast<double>(row[j]) - z.data[j]);
  }
  return s;
}

}  // namespace

BufferedDescent::BufferedDescent(BufferRules rules, std::uint64_t seed, std::int64_t n_read,
                                 std::vector<double> w, Buffer negatives, Buffer positives)
    : rules_(rules),
      random_(seed + 2 * static_cast<std::uint64_t>(n_read) * Random::kCounter),
      buffers_{std::move(negatives), std::move(positives)},
      w_(std::move(w)),
      row_(w_.size()) {}

template <class Rows>
std::int64_t BufferedDescent::run(const Rows& x, const Reading& reading) {
  if constexpr (!is_sparse<Rows>) spread(true);
  std::int64_t k = 0;
  for (; k < reading.size; ++k) {
    ask_ahead(x, reading, k);
    const auto i = reading.rows[k];
    const double sign = reading.signs[i], v = reading.weights[i];
    keep(x, i, v, buffers_[sign > 0]);
    compare(x, i, sign, v, buffers_[sign < 0]);
    if (!std::isfinite(x.dot(i, w_.data()))) return k;
  }
  if constexpr (!is_sparse<Rows>) spread(false);
  const bool sound = std::all_of(w_.begin(), w_.end(), [](double e) { return std::isfinite(e); });
  return sound ? k : k - 1;
}

template <class Rows>
void BufferedDescent::keep(const Rows& x, std::int64_t i, double v, Buffer& own) {
  const double chance = random_.uniform();
  const auto slot = static_cast<std::size_t>(random_.below(rules_.capacity));
  own.n_read += 1;
  own.weight += v;
  KeptRow* kept = nullptr;
  if (own.n_read <= rules_.capacity)
    kept = &own.rows.emplace_back();
  else if (chance < static_cast<double>(rules_.capacity) * v / own.weight)
    kept = &own.rows[slot];
  if (kept == nullptr) return;
  if constexpr (is_sparse<Rows>) {
    kept->data.assign(x.data + x.indptr[i], x.data + x.indptr[i + 1]);
    kept->indices.assign(x.indices + x.indptr[i], x.indices + x.indptr[i + 1]);
  } else {
    kept->data.assign(x.x + i * x.stride, x.x + i * x.stride + x.n_cols);
  }
  kept->squared_norm = dot(kept->data.data(), kept->data.data(),
                           static_cast<std::int64_t>(kept->data.size()));
  kept->weight = v;
}

template <class Rows>
void BufferedDescent::compare(const Rows& x, std::int64_t i, double sign, double v,
                              const Buffer& other) {
  // How much each z may move w.
  const double share = other.weight / static_cast<double>(rules_.capacity);
  moves_.clear();
  std::int64_t entries = x.entries(i);
  for (const auto& z : other.rows) {
    const double u = other.n_read <= rules_.capacity ? z.weight : share;
    moves_.push_back(0.5 * rules_.C * v * u);
    entries += static_cast<std::int64_t>(z.data.size());
  }
  if (rules_.sequential) one_by_one(x, i, sign, other);
  else at_once(x, i, sign, other);
  poll_(2 * entries);
}

// While the z are gone through, w = w_ + held x: x is added once, at the end.
template <class Rows>
void BufferedDescent::one_by_one(const Rows& x, std::int64_t i, double sign, const Buffer& other) {
  x.add(i, 1.0, row_.data());
  const double squared_norm = x.squared_norm(i);
  double held = 0.0, score = x.dot(i, w_.data());  // score: w_.x
  for (std::size_t k = 0; k < other.rows.size(); ++k) {
    const auto& z = other.rows[k];
    const auto [w_z, x_z] = two_dots(z, w_.data(), row_.data());
    const double margin = sign * (score - w_z + held * (squared_norm - x_z));
    if (margin >= 1.0) continue;
    double distance = squared_norm + z.squared_norm - 2.0 * x_z;
    if (distance < kNear * (squared_norm + z.squared_norm)) distance = squared_distance(x, i, z);
    if (distance == 0.0) continue;
    const double tau = sign * std::min(moves_[k], (1.0 - margin) / distance);
    score -= tau * x_z;
    held += tau;
    add(z, -tau, w_.data());
  }
  x.add(i, held, w_.data());
  if constexpr (is_sparse<Rows>) x.clear(i, row_.data());
  else std::fill(row_.begin(), row_.end(), 0.0);
}

template <class Rows>
void BufferedDescent::at_once(const Rows& x, std::int64_t i, double sign, const Buffer& other) {
  const double score = x.dot(i, w_.data());
  double held = 0.0;
  for (std::size_t k = 0; k < other.rows.size(); ++k) {
    const double margin = sign * (score - kept_dot(other.rows[k], w_.data()));
    moves_[k] = margin > 1.0 ? 0.0 : sign * moves_[k];
    held += moves_[k];
  }
  for (std::size_t k = 0; k < other.rows.size(); ++k)
    if (moves_[k] != 0.0) add(other.rows[k], -moves_[k], w_.data());
  x.add(i, held, w_.data());
}

// Rows with their zeros, or without them.
void BufferedDescent::spread(bool out) {
  for (auto& own : buffers_)
    for (auto& row : own.rows) {
      KeptRow other{{}, {}, row.squared_norm, row.weight};
      if (out) {
        other.data.resize(w_.size());
        add(row, 1.0, other.data.data());
      } else {
        for (std::size_t j = 0; j < row.data.size(); ++j)
          if (row.data[j] != 0.0) {
            other.data.push_back(row.data[j]);
            other.indices.push_back(static_cast<std::int64_t>(j));
          }
      }
      row = std::move(other);
    }
}

#define TOPRANK_ROWS(...) \
  template std::int64_t BufferedDescent::run(const __VA_ARGS__&, const Reading&);
TOPRANK_EACH_ROWS(TOPRANK_ROWS)
#undef TOPRANK_ROWS

}  // namespace toprank
