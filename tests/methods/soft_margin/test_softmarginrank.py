"""SoftMarginRank: the reduction, its guarantee, its bracket, and the choice of nu+."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from support.examples import examples
from support.toy_rows import overlapping
from toprank import LPPair, SoftMarginRank, TrivialSolutionWarning
from toprank.inputs.class_split import Split
from toprank.losses import ClassTailLoss
from toprank.methods.soft_margin.class_tails import Reduction
from truth.soft_margin_lps import (
    CASES,
    OPTIONS,
    pair_margin,
    problem_of,
    rankers,
    reduced_margin,
    reference_case,
)

X, Y = overlapping(30, 70, 6)


def precomputed(epsilon: float, **options: Any) -> SoftMarginRank:
    return SoftMarginRank(epsilon, weak_learners="precomputed", on_trivial="keep", **options)


def fit_quietly(ranker: SoftMarginRank, *data: Any, **options: Any) -> SoftMarginRank:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        return ranker.fit(*data, **options)


@pytest.mark.parametrize("name", CASES)
def test_reference_cases(name: str) -> None:
    case, data, labels = reference_case(name)
    m, n = len(case["P"]), len(case["Q"])
    ranker = precomputed(float(case["nu"]) / (m * n), nu_plus=float(case["nu_plus"]))
    fit_quietly(ranker.set_params(nonnegative=not case["signed"], tol=1e-9), data, labels)
    assert_allclose(ranker.reduced_gamma_, case["gamma_red"], atol=1e-8)
    assert_allclose(-ranker.certificate_.dual, case["gamma_red"], atol=1e-8)
    assert_allclose([ranker.nu_plus_, ranker.nu_minus_], [case["nu_plus"], case["nu_minus"]])
    assert ranker.gamma_lower_ <= case["gamma_pair"] + 1e-8
    assert case["gamma_pair"] <= ranker.gamma_upper_ + 1e-8


@examples(30)
@given(
    st.integers(0, 10**6),
    st.integers(4, 16),
    st.integers(1, 6),
    st.sampled_from(["continuous", "boolean"]),
    st.floats(0.05, 1.0),
    st.booleans(),
    st.booleans(),
)
def test_the_reduction_brackets_and_guarantees(
    seed: int, n: int, d: int, kind: str, epsilon: float, positive: bool, weighted: bool
) -> None:
    """Theorem 3 and Corollary 4, sharp: margins of rho >= gamma-hat >= gamma* on many pairs."""
    H, labels = rankers(seed, n, d, kind)
    weight = np.random.default_rng(seed).integers(1, 4, n).astype(float) if weighted else None
    split = Split.of(labels, weight)
    ranker = fit_quietly(
        precomputed(epsilon, nonnegative=positive), H, labels, sample_weight=weight
    )
    lightest = float(split.p.min() * split.q.min())
    share = np.sqrt(epsilon)
    reduced = reduced_margin(H, ClassTailLoss(split, share, share), not positive)
    assert ranker.reduced_gamma_ <= reduced + 1e-9
    assert reduced <= -ranker.certificate_.dual + 1e-9
    exact = pair_margin(H, split, max(epsilon, lightest), not positive)
    assert ranker.gamma_lower_ - 1e-9 <= exact <= ranker.gamma_upper_ + 1e-9
    assert ranker.rho_ >= ranker.reduced_gamma_ - 1e-9
    table = (H @ ranker.ranker_weights_)[split.pos][:, np.newaxis] / 2
    table = table - (H @ ranker.ranker_weights_)[split.neg] / 2
    pairs = np.outer(split.p, split.q)
    if not ranker.trivial_:
        above = pairs[table >= ranker.rho_ - 1e-9].sum()
        assert above >= ranker.auc_at_margin_ - 1e-9
    assert ranker.pairs_above_rho_ >= ranker.pairs_guaranteed_ - 1e-6
    if weight is None:
        p, q = labels.sum(), n - labels.sum()
        floors = [np.floor(x * (1 + 1e-12)) for x in (ranker.nu_plus_, ranker.nu_minus_)]
        assert ranker.pairs_guaranteed_ == (p - floors[0]) * (q - floors[1])


@pytest.mark.parametrize("positive", [False, True])
def test_the_primal_with_its_halves(positive: bool) -> None:
    """(8), with the factors 1 / (2 nu) that the proof of Theorem 3 loses."""
    H, labels = rankers(5, 20, 4, "continuous")
    epsilon, m, n = 0.3, int(labels.sum()), int((~labels).sum())
    ranker = precomputed(epsilon, nonnegative=positive, tol=1e-10).fit(H, labels)
    both = H if positive else np.hstack([H, -H])
    k, sign = both.shape[1], np.where(labels, 1.0, -1.0)
    # rho - sign b - sign f <= xi
    rows = np.column_stack([-sign[:, np.newaxis] * both, np.ones(20), -sign, -np.eye(20)])
    price = np.where(labels, 0.5 / ranker.nu_plus_, 0.5 / ranker.nu_minus_)
    found = linprog(
        np.concatenate([np.zeros(k), [-1.0, 0.0], price]),
        rows,
        np.zeros(20),
        np.concatenate([np.ones(k), np.zeros(22)])[np.newaxis],
        [1.0],
        [(0, None)] * k + [(None, None)] * 2 + [(0, None)] * 20,
        options=OPTIONS,
    )
    assert_allclose(ranker.reduced_gamma_, -found.fun, atol=1e-8)
    assert_allclose(ranker.nu_plus_ * ranker.nu_minus_, epsilon * m * n)


def test_chosen_numbers_of_positives_lower_the_optimum() -> None:
    H, labels = rankers(12, 60, 5, "continuous")
    split = Split.of(labels)
    fits = {
        name: precomputed(0.15, nu_plus=name, tol=1e-8).fit(H, labels)
        for name in ("corollary", "search", "paper")
    }
    values = {name: fit.reduced_gamma_ for name, fit in fits.items()}
    shares = np.exp(np.linspace(np.log(0.15), 0, 40))
    grid = [reduced_margin(H, ClassTailLoss(split, x, 0.15 / x), True) for x in shares]
    assert values["corollary"] > min(grid) + 1e-4
    assert_allclose(values["search"], min(grid), atol=1e-3)
    assert values["search"] <= min(grid) + 1e-4
    assert values["paper"] <= values["corollary"] + 1e-9
    exact = pair_margin(H, split, 0.15, True)
    assert exact < min(values.values())  # the least of (6) is not gamma*


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_the_tangent_problem_against_its_linear_programme(epsilon: float) -> None:
    H, labels = rankers(2, 30, 4, "continuous")
    split = Split.of(labels)
    m, n = len(split.pos), len(split.neg)
    nu, center = epsilon * m * n, np.sqrt(epsilon) * m
    Z = np.concatenate([H[split.pos], -H[split.neg]]) / 2
    k = Z.shape[1]
    # d, gamma, nu+: edges, caps of the positives and of the negatives
    slope = np.where(np.arange(30) < m, center**-2, -1 / nu)
    caps = np.column_stack([np.eye(30), np.zeros(30), slope])
    edges = np.vstack([Z.T, -Z.T])
    rows = np.vstack([np.column_stack([edges, -np.ones(2 * k), np.zeros(2 * k)]), caps])
    bounds = np.concatenate([np.zeros(2 * k), np.where(np.arange(30) < m, 2 / center, 0.0)])
    sums = np.array([np.arange(30) < m, np.arange(30) >= m], dtype=float)
    found = linprog(
        np.append(np.zeros(30), [1.0, 0.0]),
        rows,
        bounds,
        np.column_stack([sums, np.zeros((2, 2))]),
        np.ones(2),
        [(0, None)] * 30 + [(None, None), (nu / n, 2 * center - center**2 / m)],
        options=OPTIONS,
    )
    reduction = Reduction(problem_of(H, split, epsilon, True).design, split, epsilon, True)
    c = center / m
    x = reduction._tangent_point(c, *reduction.tangent_value(c, c))
    assert nu / n / m - 1e-12 <= x <= (2 * center - center**2 / m) / m + 1e-12
    loss = ClassTailLoss(split, 1 / (2 / c - x / c**2), epsilon / x)
    assert_allclose(reduced_margin(H, loss, True), found.fun, atol=1e-6)
    # The first two rounds are Corollary 4's point and this one; the optimum of (7) falls.
    shares, values = np.array(list(reduction.rounds())).T
    assert_allclose(shares[:2], [c, x][: len(shares)], rtol=1e-12)
    assert (np.diff(values) < 0).all()
    assert shares[-1] == reduction.by_tangent()


@pytest.mark.parametrize("end", ["all positives", "all negatives"])
def test_one_side_may_be_all_of_its_class(end: str) -> None:
    H, labels = rankers(4, 40, 5, "continuous")
    split = Split.of(labels)
    m = len(split.pos)
    nu_plus = float(m) if end == "all positives" else 0.3 * m
    ranker = precomputed(0.3, nu_plus=nu_plus, tol=1e-9).fit(H, labels)
    expected = reduced_margin(H, ClassTailLoss(split, nu_plus / m, 0.3 * m / nu_plus), True)
    assert_allclose(ranker.reduced_gamma_, expected, atol=1e-8)
    assert ranker.pairs_guaranteed_ == 0


def test_weights_sparse_rows_and_the_threshold() -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    weighted = SoftMarginRank(0.3).fit(X, Y, sample_weight=weight)
    repeated = SoftMarginRank(0.3).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert_allclose(weighted.reduced_gamma_, repeated.reduced_gamma_, rtol=1e-6)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-5)
    plain, csr = (SoftMarginRank(0.3).fit(form(X), Y) for form in (np.asarray, sparse.csr_array))
    assert_allclose(csr.coef_, plain.coef_, atol=1e-6)
    # Below -b/2 there are nu+ positives at the most after a move by rho, and so on: (8).
    scores = plain.decision_function(X)
    assert (scores[Y == 1] < plain.rho_ - 1e-12).sum() <= plain.nu_plus_
    assert (scores[Y == 0] > -plain.rho_ + 1e-12).sum() <= plain.nu_minus_


def test_trivial_short_and_wrong() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(80) % 2
    data = np.where(rng.random((80, 3)) < 0.3, -1.0, 1.0) * np.where(labels, 1, -1)[:, np.newaxis]
    with pytest.warns(TrivialSolutionWarning, match="epsilon was raised"):
        ranker = SoftMarginRank(0.01).fit(data, labels)
    assert ranker.epsilon_ > 0.01
    assert ranker.reduced_gamma_ > 1e-6
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        SoftMarginRank(0.3, max_iter=1).fit(X, Y)
    with pytest.raises(ValueError, match="between 9 and 30"):
        SoftMarginRank(0.3, nu_plus=31.0).fit(X, Y)
    with pytest.raises(ValueError, match="nu_plus"):
        SoftMarginRank(0.3, nu_plus="best").fit(X, Y)


def test_a_given_nu_plus_bounds_the_epsilon_that_is_raised() -> None:
    data = np.random.default_rng(0).normal(size=(300, 3))
    labels = np.arange(300) % 2
    with pytest.warns(TrivialSolutionWarning):
        ranker = SoftMarginRank(0.05, nu_plus=40).fit(data, labels)
    assert ranker.trivial_
    data[:, 0] += 0.9 * labels
    with pytest.warns(TrivialSolutionWarning, match="was raised"):
        ranker = SoftMarginRank(0.05, nu_plus=130).fit(data, labels)
    assert 0.05 < ranker.epsilon_ <= 130 / 150
    assert ranker.nu_plus_ == pytest.approx(130)


def test_equal_rows_do_not_change_how_epsilon_is_shared_out() -> None:
    data = np.array([[1.0], [1.0], [1.0], [-1.0], [-1.0], [1.0]])
    ranker = SoftMarginRank(0.25, weak_learners="precomputed").fit(data, [1, 1, 1, 0, 0, 0])
    assert ranker.nu_plus_ == pytest.approx(1.5)
    assert ranker.nu_minus_ == pytest.approx(1.5)
    assert ranker.reduced_gamma_ == pytest.approx(1 / 3)


@pytest.mark.parametrize("ranker", [LPPair(epsilon=0.3), SoftMarginRank(epsilon=0.3)])
def test_equal_rows_are_one_row_of_their_weight(ranker: Any) -> None:
    """Without weights, too: rows are merged where most are equal."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 3)), np.arange(8) % 2
    repeated = clone(ranker).fit(np.repeat(X, 4, axis=0), np.repeat(y, 4))
    weighted = clone(ranker).fit(X, y, sample_weight=np.full(8, 4.0))
    assert repeated.certificate_.primal == pytest.approx(weighted.certificate_.primal, rel=1e-4)
