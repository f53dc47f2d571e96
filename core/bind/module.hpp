// What each file of the bindings adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace toprank {

// Matrix: a view of the caller's arrays, and the products with it.
void bind_matrix(nanobind::module_& module);

// CombinedDescent: stochastic steps on pairs and points.
void bind_crr(nanobind::module_& module);

// group_moments, pair_moments: means and scatters of rows and of differences.
void bind_moments(nanobind::module_& module);
// ProximalDescent, MomentDescent, BufferedDescent: the online methods.
void bind_online(nanobind::module_& module);

// ActiveSet, DualDescent, project_balanced: the pushes to the top.
void bind_push(nanobind::module_& module);

// PairRanks: the squared hinge of all pairs, with one class sorted.
void bind_pair_ranks(nanobind::module_& module);

// PairScan: the loss of all pairs.
void bind_pair_scan(nanobind::module_& module);

// PairDescent: the hinge on chosen pairs and points.
void bind_pairs(nanobind::module_& module);

// row_sums, row_terms, row_losses_along, thin_rows: smooth losses of rows, and their sums in one
// pass.
void bind_rows(nanobind::module_& module);

// PairSampler: which pairs active sampling learns from.
void bind_sampling(nanobind::module_& module);

// StumpTable: the decision stumps over the columns of a matrix; ExponentialPairs: the loss that
// boosting lowers.
void bind_stumps(nanobind::module_& module);

// svmlight_rows: sparse rows read from a text.
void bind_text(nanobind::module_& module);

// Trees: a fitted ensemble of trees, checked and scored.
void bind_trees(nanobind::module_& module);

// urn_quantiles, urn_crossing: how many new items come before the calibration items.
void bind_urn(nanobind::module_& module);

// WideDescent: Newton's method over wide rows, by a few of them.
void bind_wide(nanobind::module_& module);

}  // namespace toprank
