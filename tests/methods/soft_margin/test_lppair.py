"""LPPair: the soft margin of all pairs, what it guarantees, and the rankers it is made of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from support.toy_rows import inside_out, overlapping, sparse_rows
from toprank import LPPair, SoftMarginRank, TrivialSolutionWarning
from toprank.inputs.class_split import Split
from truth.soft_margin_lps import (
    CASES,
    OPTIONS,
    least_edge,
    pair_margin,
    rankers,
    reference_case,
)

X, Y = overlapping(30, 70, 6)


def scaled(data: Any) -> Any:
    """Every column from -1 to 1."""
    low, high = data.min(axis=0), data.max(axis=0)
    return 2 * (data - low) / (high - low) - 1


def margins(scores: Any, labels: Any) -> Any:
    return (scores[labels == 1][:, np.newaxis] - scores[labels == 0]) / 2


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")  # of scores that tie
@pytest.mark.parametrize("name", CASES)
def test_reference_cases(name: str) -> None:
    case, data, labels = reference_case(name)
    ranker = LPPair(
        nu=float(case["nu"]),
        weak_learners="precomputed",
        nonnegative=not case["signed"],
        polish=True,
        on_trivial="keep",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        ranker.fit(data, labels)
    assert_allclose(ranker.gamma_lower_, case["gamma_pair"], atol=1e-8)
    assert_allclose(ranker.gamma_upper_, case["gamma_pair"], atol=1e-8)
    assert_allclose(ranker.ranker_weights_, case["w_pair"], atol=1e-6)
    assert_allclose(ranker.rho_, case["rho_pair"], atol=1e-8)
    assert ranker.trivial_ == (name == "c5_trivial")
    assert ranker.pairs_guaranteed_ == len(case["P"]) * len(case["Q"]) - np.floor(case["nu"])
    above = (margins(ranker.decision_function(data), labels) >= ranker.rho_ - 1e-9).sum()
    assert above == case["n_pairs_ge_rho"]


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.7])
def test_what_is_guaranteed_of_the_pairs(epsilon: float) -> None:
    ranker = LPPair(epsilon).fit(X, Y)
    table = margins(X @ ranker.coef_[0], Y)
    pairs = table.size
    flat = np.sort(table, axis=None)
    nu = epsilon * pairs
    k = int(np.floor(nu + 1e-9))
    assert_allclose(ranker.gamma_lower_, (flat[:k].sum() + (nu - k) * flat[k]) / nu, atol=1e-12)
    assert_allclose(ranker.rho_, flat[k], atol=1e-12)
    assert ranker.pairs_guaranteed_ == pairs - k
    level = ranker.rho_ - 1e-9  # what differs by less is equal
    assert (table >= level - 1e-12).sum() >= ranker.pairs_above_rho_
    assert (table >= level + 1e-12).sum() <= ranker.pairs_above_rho_
    assert ranker.pairs_above_rho_ >= ranker.pairs_guaranteed_
    assert isinstance(ranker.pairs_above_rho_, int)
    assert_allclose(ranker.auc_at_margin_, ranker.pairs_above_rho_ / pairs)
    assert ranker.epsilon_ == epsilon
    assert_allclose(ranker.certificate_.primal, -ranker.gamma_lower_)
    assert ranker.certificate_.holds(ranker.tol)
    optimum = pair_margin(scaled(X), Split.of(Y == 1), epsilon, True)
    assert ranker.gamma_lower_ - 1e-9 <= optimum <= ranker.gamma_upper_ + 1e-9


def test_a_pair_or_less_is_the_hard_margin_with_a_bias() -> None:
    """Theorem 2: the hard margin over pairs is that of a classifier with a bias."""
    H, positive = rankers(3, 24, 4, "continuous")
    H[:, 0] = np.where(positive, 0.2, -0.2) + 0.5 * H[:, 0].clip(-0.2, 0.2)
    sign = np.where(positive, 1.0, -1.0)
    # max r: sign (H (a - b) + c) >= r, sum(a + b) = 1
    d = H.shape[1]
    rows = np.column_stack([-sign[:, np.newaxis] * np.hstack([H, -H]), -sign, np.ones(24)])
    found = linprog(
        np.append(np.zeros(2 * d + 1), -1.0),
        rows,
        np.zeros(24),
        np.concatenate([np.ones(2 * d), [0, 0]])[np.newaxis],
        [1.0],
        [(0, None)] * (2 * d) + [(None, None)] * 2,
        options=OPTIONS,
    )
    for options in ({"nu": 1.0}, {"nu": 0.3}, {"epsilon": 1e-12}):
        ranker = LPPair(**options, weak_learners="precomputed").fit(H, positive)
        assert_allclose(ranker.gamma_lower_, -found.fun, atol=1e-8)
        f = H @ ranker.ranker_weights_
        bias = -(f[positive].min() + f[~positive].max()) / 2
        assert_allclose((sign * (f + bias)).min(), -found.fun, atol=1e-8)
    assert ranker.pairs_guaranteed_ == ranker.pairs_above_rho_ == positive.sum() * (~positive).sum()
    assert_allclose(ranker.rho_, -found.fun, atol=1e-8)


def test_all_pairs_choose_the_ranker_with_the_largest_difference_of_means() -> None:
    ranker = LPPair(1.0).fit(X, Y)
    H = scaled(X)
    difference = (H[Y == 1].mean(axis=0) - H[Y == 0].mean(axis=0)) / 2
    assert_allclose(ranker.gamma_lower_, np.abs(difference).max(), rtol=1e-9)
    assert_allclose(ranker.gamma_upper_, np.abs(difference).max(), rtol=1e-9)
    assert_array_equal(np.flatnonzero(ranker.ranker_weights_), [np.argmax(np.abs(difference))])


def test_rankers_are_the_features_over_their_ranges() -> None:
    data = X * 10.0 ** np.arange(-3, 3) + np.array([0, 5, -3, 0.1, 100, 0])
    ranker = LPPair(0.3).fit(data, Y)
    H = scaled(data)
    given = LPPair(0.3, weak_learners="precomputed").fit(H, Y)
    assert_allclose(ranker.gamma_lower_, given.gamma_lower_, rtol=1e-9)
    assert_allclose(ranker.ranker_weights_, given.ranker_weights_, atol=1e-6)
    assert_allclose(np.abs(ranker.ranker_weights_).sum(), 1.0)
    scores = ranker.decision_function(data)
    assert_allclose(scores, data @ ranker.coef_[0] + ranker.intercept_[0])
    shifted = scores - H @ ranker.ranker_weights_
    assert np.ptp(shifted) < 1e-9
    assert_array_equal(ranker.predict(data), scores > 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("positive", [False, True])
def test_constant_columns_are_left_out(form: Any, positive: bool) -> None:
    plain = LPPair(0.3, nonnegative=positive).fit(X, Y)
    data = np.column_stack([np.zeros(len(Y)), X, np.full(len(Y), 7.0)])
    ranker = LPPair(0.3, nonnegative=positive).fit(form(data), Y)
    assert_allclose(ranker.gamma_lower_, plain.gamma_lower_, rtol=1e-6)
    assert_array_equal(ranker.coef_[0, [0, -1]], 0.0)
    assert_array_equal(ranker.ranker_weights_[[0, -1]], 0.0)
    if positive:
        assert ranker.ranker_weights_.min() >= 0


def test_sparse_is_dense() -> None:
    rng = np.random.default_rng(0)
    data = np.where(rng.random((150, 7)) < 0.4, rng.exponential(size=(150, 7)), 0.0)
    labels = (data[:, 0] - data[:, 1] + 0.3 * rng.normal(size=150) > 0.1).astype(int)
    dense = LPPair(0.3).fit(data, labels)
    for form in (sparse.csr_array(data), sparse.csc_array(data), data.astype(np.float32)):
        ranker = LPPair(0.3).fit(form, labels)
        assert_allclose(ranker.gamma_lower_, dense.gamma_lower_, rtol=3e-5)
        assert_allclose(ranker.coef_, dense.coef_, atol=1e-3)


@pytest.mark.parametrize("method", [LPPair, SoftMarginRank])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("far", [1e4, 1e7])
def test_columns_far_from_zero_are_those_near_it(method: Any, form: Any, far: float) -> None:
    plain = method(0.3).fit(form(X), Y)
    moved = method(0.3).fit(form(X + far), Y)
    assert_allclose(moved.gamma_lower_, plain.gamma_lower_, rtol=1e-5)
    assert moved.gamma_upper_ - moved.gamma_lower_ <= 1.5 * (
        plain.gamma_upper_ - plain.gamma_lower_
    )
    assert_allclose(moved.predict(form(X + far)), plain.predict(form(X)))


@pytest.mark.parametrize("size", [1e-80, 1e80])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_unit_of_a_feature_does_not_matter(form: Any, size: float) -> None:
    plain = LPPair(0.3).fit(X, Y)
    ranker = LPPair(0.3).fit(form(X * np.array([size, 1, 1, 1, 1, 1])), Y)
    assert_allclose(ranker.gamma_lower_, plain.gamma_lower_, rtol=1e-5)


@pytest.mark.parametrize("rows", [100, 400])
def test_weights_are_repeated_rows(rows: int) -> None:
    data, labels = overlapping(rows // 4, rows - rows // 4, 5)
    weight = np.random.default_rng(1).integers(0, 4, rows)
    # At a vertex pairs have the margin rho to rounding; short of it one may be either side of it.
    exact = LPPair(0.3, polish=True)
    weighted = clone(exact).fit(data, labels, sample_weight=weight)
    repeated = clone(exact).fit(np.repeat(data, weight, axis=0), np.repeat(labels, weight))
    assert_allclose(weighted.gamma_lower_, repeated.gamma_lower_, rtol=3e-5)
    assert_allclose(weighted.coef_, repeated.coef_, atol=2e-3)
    assert_allclose(weighted.rho_, repeated.rho_, rtol=1e-2)
    assert_allclose(weighted.pairs_guaranteed_, repeated.pairs_guaranteed_, atol=1.0)
    assert_allclose(weighted.pairs_above_rho_, repeated.pairs_above_rho_, rtol=1e-3)
    plain = LPPair(0.3).fit(data, labels)
    assert abs(plain.gamma_lower_ - weighted.gamma_lower_) > 1e-4
    by_number = LPPair(nu=0.3 * repeated.pairs_above_rho_ / repeated.auc_at_margin_)
    by_number.fit(data, labels, sample_weight=weight)
    assert_allclose(by_number.epsilon_, 0.3)


def test_a_trivial_optimum_is_told_and_epsilon_raised() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(80) % 2
    data = np.where(rng.random((80, 3)) < 0.3, -1.0, 1.0) * np.where(labels, 1, -1)[:, np.newaxis]
    with pytest.warns(TrivialSolutionWarning, match=r"epsilon was raised to 0\.\d"):
        ranker = LPPair(0.05).fit(data, labels)
    assert ranker.epsilon == 0.05
    assert ranker.epsilon_ > 0.05
    assert not ranker.trivial_
    assert ranker.gamma_lower_ > 1e-6
    split = Split.of(labels == 1)
    assert pair_margin(data, split, ranker.epsilon_, True) > 1e-6
    assert pair_margin(data, split, ranker.epsilon_ - 0.1, True) < 1e-6  # the grid's one before
    with pytest.warns(TrivialSolutionWarning, match="trivial: w = 0"):
        kept = LPPair(0.05, on_trivial="keep").fit(data, labels)
    assert kept.trivial_
    assert kept.epsilon_ == 0.05
    assert not kept.coef_.any()
    assert kept.gamma_lower_ == 0.0
    assert kept.gamma_upper_ <= 1e-6
    assert kept.score(data, labels) == 0.5  # ties count half


def test_the_same_rows_in_both_classes_are_trivial_at_every_epsilon() -> None:
    data, _ = inside_out()
    with pytest.warns(TrivialSolutionWarning, match="trivial: w = 0"):
        ranker = LPPair(0.3).fit(np.vstack([data, data]), np.repeat([0, 1], len(data)))
    assert ranker.trivial_
    assert ranker.epsilon_ == 0.3


def test_a_constant_ranker_makes_the_simplex_trivial() -> None:
    data, labels = inside_out()
    H = np.column_stack([scaled(data), np.ones(len(labels))])
    with pytest.warns(TrivialSolutionWarning):
        ranker = LPPair(0.05, weak_learners="precomputed", nonnegative=True, on_trivial="keep").fit(
            H, labels
        )
    assert ranker.trivial_
    assert_array_equal(ranker.ranker_weights_, [0, 0, 0, 1])
    without = LPPair(0.05, weak_learners="precomputed", nonnegative=True).fit(H[:, :3], labels)
    assert without.gamma_upper_ < 0  # weights that must sum to one cannot hide
    assert not without.trivial_


def test_polish_ends_at_a_vertex() -> None:
    data, labels = overlapping(150, 250, 8)
    rough = LPPair(0.2, tol=1e-3).fit(data, labels)
    exact = LPPair(0.2, tol=1e-3, polish=True).fit(data, labels)
    assert exact.gamma_upper_ - exact.gamma_lower_ <= 1e-9
    assert rough.gamma_upper_ - rough.gamma_lower_ <= 1.01e-3 * rough.gamma_lower_
    assert rough.gamma_lower_ <= exact.gamma_upper_ + 1e-12
    assert exact.gamma_lower_ <= rough.gamma_upper_ + 1e-12
    assert exact.solver_ == "listed-pairs"


def test_the_number_of_threads_does_not_matter() -> None:
    data, labels = overlapping(2000, 3000, 10, shift=0.3)
    one = LPPair(0.7, n_threads=1).fit(data, labels)
    two = LPPair(0.7, n_threads=2).fit(data, labels)
    assert_array_equal(one.coef_, two.coef_)
    assert one.certificate_.holds(1e-5)
    assert len(one.history_) == one.n_iter_ + 1


def test_stopping_short_warns_and_is_certified_all_the_same() -> None:
    data, labels = overlapping(150, 250, 8)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        ranker = LPPair(0.2, max_iter=2).fit(data, labels)
    exact = LPPair(0.2).fit(data, labels)
    assert ranker.gamma_lower_ < exact.gamma_lower_ <= ranker.gamma_upper_


def test_bad_parameters() -> None:
    with pytest.raises(ValueError, match="there are 2100 pairs"):
        LPPair(nu=2101).fit(X, Y)
    with pytest.raises(ValueError, match="Column 0 of X goes from"):
        LPPair(weak_learners="precomputed").fit(X, Y)
    for wrong in ({"epsilon": 0.0}, {"epsilon": 1.1}, {"nu": 0}, {"weak_learners": "trees"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LPPair(**wrong).fit(X, Y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_that_are_equal_are_made_one(form: Any) -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(3000) < 0.2).astype(int)
    data = np.where(rng.random((3000, 3)) < 0.35, -1.0, 1.0)
    data *= np.where(labels, 1, -1)[:, np.newaxis]
    ranker = LPPair(0.5, polish=True).fit(form(data), labels)  # a million pairs tie
    assert ranker.gamma_upper_ - ranker.gamma_lower_ < 1e-9
    table = margins(data @ ranker.coef_[0], labels)
    nu = 0.5 * table.size
    flat = np.sort(table, axis=None)
    low = (flat[: int(nu)].sum() + (nu - int(nu)) * flat[int(nu)]) / nu
    assert_allclose(ranker.gamma_lower_, low, atol=1e-9)
    assert ranker.pairs_guaranteed_ == table.size - int(nu)
    # What ties at the optimum is apart by rounding.
    assert (table >= ranker.rho_ - 1e-9).sum() >= ranker.pairs_above_rho_
    assert (table >= ranker.rho_ + 1e-9).sum() <= ranker.pairs_above_rho_


def test_too_many_columns_are_refused_before_the_work_begins() -> None:
    x = sparse_rows((30, 5000), 0.2, np.random.default_rng(0))
    with pytest.raises(
        ValueError, match=r"columns that are not constant: .*weak_learners='stumps'"
    ):
        LPPair().fit(x, np.arange(30) % 2)


def test_whole_weights_count_rows() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    x[:, 0] += 2.0 * y
    weight = rng.integers(1, 4, 40)
    plain, ones = LPPair(0.3).fit(x, y), LPPair(0.3).fit(x, y, sample_weight=np.ones(40))
    assert ones.pairs_guaranteed_ == plain.pairs_guaranteed_
    weighted = LPPair(0.3).fit(x, y, sample_weight=weight)
    repeated = LPPair(0.3).fit(np.repeat(x, weight, axis=0), np.repeat(y, weight))
    assert weighted.pairs_guaranteed_ == repeated.pairs_guaranteed_
    with pytest.raises(ValueError, match="divide all weights by it"):
        LPPair(0.3).fit(x, y, sample_weight=np.full(40, 1e300))


def weights_over_decades(seed: int, decades: float, n: int = 14) -> tuple[Any, Any, Any]:
    H, positive = rankers(seed, n, 3, "continuous")
    weight = 10.0 ** np.random.default_rng(seed).uniform(-decades, 0.0, n)
    return H, positive.astype(int), weight


@pytest.mark.parametrize("decades", [20, 100, 300])
@pytest.mark.parametrize("epsilon", [1.0, 0.5, 0.1, 1e-12])
def test_weights_over_many_decades(decades: float, epsilon: float) -> None:
    for seed in range(8):
        H, y, weight = weights_over_decades(seed, decades)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrivialSolutionWarning)
            ranker = LPPair(epsilon, weak_learners="precomputed", on_trivial="keep").fit(
                H, y, weight
            )
        split = Split.of(y == 1, weight)
        caps = np.minimum(np.outer(split.p, split.q) / epsilon, 1.0)
        # What HiGHS would choke on: caps that vanish beside one.
        p, q = caps.max(axis=1) > 1e-14, caps.max(axis=0) > 1e-14
        Z = ((H[split.pos[p]][:, np.newaxis] - H[split.neg[q]]) / 2).reshape(-1, 3)
        group, nothing = np.zeros(len(Z), int), np.zeros(3)
        exact = least_edge(Z, caps[np.ix_(p, q)].ravel(), group, np.ones(1), nothing, True)
        assert ranker.gamma_lower_ <= exact + 1e-9
        assert ranker.gamma_upper_ >= exact - 1e-9
        assert ranker.trivial_ or ranker.gamma_upper_ - ranker.gamma_lower_ <= 1e-5 * exact + 1e-9


@pytest.mark.parametrize("light", [1e-50, 1e-170, 1e-300])
@pytest.mark.parametrize("lighter", [1e-50, 1e-170, 1e-300])
@pytest.mark.parametrize("epsilon", [1.0, 0.5, 0.1])
def test_rows_that_weigh_next_to_nothing(light: float, lighter: float, epsilon: float) -> None:
    # But for rows that weigh next to nothing there is one pair, of the margin one.
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    ranker = LPPair(epsilon).fit(X, y, sample_weight=np.array([1.0, light, lighter, 1.0]))
    assert_allclose([ranker.gamma_lower_, ranker.gamma_upper_], 1.0, atol=1e-9)
    assert ranker.coef_[0, 0] > 0
