"""TopFractionPush: its optimum, both limits, the triviality theorem, weights, odd data."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import linprog

from support.toy_rows import inside_out, overlapping
from toprank import RankSVM, TopFractionPush, TopPush, TrivialSolutionWarning
from toprank.designs import DenseDesign, SparseDesign
from toprank.inputs.class_split import Split
from toprank.losses import PairLoss, TopFractionLoss, TopLoss
from toprank.methods.push.soft_top import SoftTop, capped, soft_top_newton
from toprank.problems import Problem
from toprank.surrogates import SURROGATES

X, Y = overlapping(12, 30, 3)
SQUARED = SURROGATES["squared_hinge"]


def brute(s: Any, y: Any, weight: Any, fraction: float) -> float:
    """Every positive against the highest negatives one by one, until their share is used up."""
    p, q = weight[y == 1] / weight[y == 1].sum(), weight[y == 0] / weight[y == 0].sum()
    above, below = s[y == 1], s[y == 0]
    left, total = fraction, 0.0
    for j in np.argsort(-below):
        part = min(left, q[j])
        total += part * float(p @ np.maximum(1 + below[j] - above, 0.0) ** 2)
        left -= part
    return total / fraction


@pytest.mark.parametrize("fraction", [0.01, 0.1, 1 / 3, 0.5, 1.0])
def test_the_loss_is_that_of_the_loops(fraction: float) -> None:
    rng = np.random.default_rng(0)
    for weight in (np.ones(len(Y)), rng.integers(0, 4, len(Y)).astype(float)):
        loss = TopFractionLoss(Split.of(Y == 1, weight), fraction)
        for s in (rng.normal(size=len(Y)), rng.integers(-2, 3, len(Y)).astype(float)):
            assert loss.value(s) == pytest.approx(brute(s, Y, weight, fraction), rel=1e-12)
            other = rng.normal(size=len(Y))
            assert loss.value(other) >= loss.value(s) + loss.slope(s) @ (other - s) - 1e-12


def test_the_limits_of_the_loss_are_the_top_and_all_pairs() -> None:
    split, s = Split.of(Y == 1), np.random.default_rng(1).normal(size=len(Y))
    n = len(split.neg)
    top = TopLoss(split, SQUARED).value(s)
    assert TopFractionLoss(split, 1 / n).value(s) == pytest.approx(top, rel=1e-12)
    pairs = PairLoss(split, SQUARED).value(s)
    assert TopFractionLoss(split, 1.0).value(s) == pytest.approx(pairs, rel=1e-12)


@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
def test_the_limits_of_the_optimum_are_toppush_and_ranksvm(alpha: float) -> None:
    rows, y = overlapping(12, 30, 3, shift=2.0)
    split, design, n = Split.of(y == 1), DenseDesign(rows), int((y == 0).sum())
    peers = {
        1 / n: TopPush(alpha, tol=1e-9, random_state=0),
        1.0: RankSVM(alpha, loss="squared_hinge", tol=1e-9, random_state=0),
    }
    for fraction, peer in peers.items():
        peer.fit(rows, y)
        # The loss in between, at its ends, by its own solver; and the estimator.
        problem = Problem(design, TopFractionLoss(split, fraction), alpha)
        solution = soft_top_newton(problem, tol=1e-7)
        assert problem.certify(solution).holds(1e-7)
        assert_allclose(solution.w, peer.coef_[0], atol=2e-3)
        ranker = TopFractionPush(alpha, fraction=fraction, tol=1e-9).fit(rows, y)
        assert_allclose(ranker.coef_, peer.coef_, atol=1e-5)


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fraction", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("alpha", [1.0, 1e-2])
def test_the_optimum_is_that_of_cvxpy(alpha: float, fraction: float, form: Any) -> None:
    rows = np.vstack([X, X[:6]])  # the same rows in both classes, and twice in one
    y = np.concatenate([Y, 1 - Y[:3], Y[3:6]])
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    ranker = TopFractionPush(alpha, fraction=fraction, tol=1e-7)
    ranker.fit(form(rows), y, sample_weight=weight)
    p, q = weight * (y == 1) / weight[y == 1].sum(), weight * (y == 0) / weight[y == 0].sum()
    pos, neg = np.flatnonzero(p), np.flatnonzero(q)
    w, level = cp.Variable(3), cp.Variable()
    s = rows @ w
    heights = cp.hstack([p[pos] @ cp.square(cp.pos(1 + s[j] - s[pos])) for j in neg])
    loss = level + q[neg] @ cp.pos(heights - level) / fraction
    least = cp.Problem(cp.Minimize(0.5 * alpha * cp.sum_squares(w) + loss)).solve(cp.CLARABEL)
    certificate = ranker.certificate_
    assert certificate.holds(1e-7)
    assert certificate.dual - 1e-6 <= least <= certificate.primal + 1e-6
    assert_allclose(ranker.coef_[0], w.value, atol=5e-3)
    s = rows @ ranker.coef_[0]
    value = 0.5 * alpha * float(ranker.coef_[0] @ ranker.coef_[0]) + brute(s, y, weight, fraction)
    assert certificate.primal == pytest.approx(value, rel=1e-9)


def reduced_hull_holds(rows: Any, y: Any, weight: Any, fraction: float) -> bool:
    """Whether some weights of the negatives, within their caps, have the mean of the positives."""
    p, q = weight[y == 1] / weight[y == 1].sum(), weight[y == 0] / weight[y == 0].sum()
    system = np.vstack([rows[y == 0].T, np.ones(len(q))])
    target = np.append(p @ rows[y == 1], 1.0)
    bounds = [(0.0, cap) for cap in q / fraction]
    found = linprog(np.zeros(len(q)), A_eq=system, b_eq=target, bounds=bounds)
    return bool(found.status == 0)


def test_it_is_trivial_where_the_reduced_hull_has_the_mean_positive_and_only_there() -> None:
    outcomes = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows, y = overlapping(10, 40, 2, shift=float(rng.uniform(0.1, 1.2)), seed=seed)
        weight = rng.integers(1, 4, len(y)).astype(float)
        for fraction in (0.05, 0.3, 0.6):
            expected = reduced_hull_holds(rows, y, weight, fraction)
            ranker = TopFractionPush(10.0 ** rng.uniform(-3, 1), fraction=fraction)
            if expected:
                with pytest.warns(TrivialSolutionWarning, match="reduced hull"):
                    ranker.fit(rows, y, sample_weight=weight)
            else:
                ranker.fit(rows, y, sample_weight=weight)
            assert ranker.trivial_ == expected
            assert ranker.certificate_.holds(1e-4)
            outcomes.append(expected)
    assert 5 < sum(outcomes) < len(outcomes) - 5


def test_the_inside_is_trivial_whatever_the_fraction_but_one() -> None:
    rows, y = inside_out()
    for fraction in (0.02, 0.5):
        with pytest.warns(TrivialSolutionWarning):
            assert TopFractionPush(fraction=fraction).fit(rows, y).trivial_
    assert not TopFractionPush(fraction=1.0).fit(rows, y).trivial_


def test_a_weight_of_two_is_two_rows() -> None:
    weight = np.random.default_rng(3).integers(0, 3, len(Y))
    once = TopFractionPush(1e-1, fraction=0.4, tol=1e-8).fit(X, Y, sample_weight=weight)
    twice = np.repeat(np.arange(len(Y)), weight)
    other = TopFractionPush(1e-1, fraction=0.4, tol=1e-8).fit(X[twice], Y[twice])
    assert once.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-7)
    assert_allclose(once.coef_, other.coef_, atol=1e-3)


def test_many_features_are_solved_without_a_hessian() -> None:
    rng = np.random.default_rng(4)
    y = (np.arange(300) % 4 == 0).astype(int)
    rows = sparse.csr_array(rng.random((300, 800)) * (rng.random((300, 800)) < 0.05))
    ranker = TopFractionPush(1e-2, fraction=0.1).fit(rows, y)
    assert ranker.certificate_.holds(1e-4)
    dense = TopFractionPush(1e-2, fraction=0.1).fit(rows[:, :250].toarray(), y)
    other = TopFractionPush(1e-2, fraction=0.1).fit(rows[:, :250], y)
    assert dense.certificate_.dual <= other.certificate_.primal
    assert other.certificate_.dual <= dense.certificate_.primal


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("size", [1e-6, 1e4, np.array([1e8, 1.0, 1e-4])], ids=str)
def test_scales_leave_numbers_and_honest_bounds(size: Any) -> None:
    ranker = TopFractionPush(1e-2, fraction=0.5).fit(X * size, Y)
    assert np.isfinite(ranker.decision_function(X * size)).all()
    w = ranker.coef_[0]
    value = 0.005 * float(w @ w) + brute((X * size) @ w, Y, np.ones(len(Y)), 0.5)
    assert ranker.certificate_.dual <= value * (1 + 1e-12)
    assert value <= ranker.certificate_.primal * (1 + 1e-9)


def test_one_positive_and_one_negative_are_enough() -> None:
    for y in (np.arange(len(Y)) == 3, np.arange(len(Y)) != 3):
        assert TopFractionPush(1e-1, fraction=0.3).fit(X, y).certificate_.holds(1e-4)


def test_a_warm_start_ends_at_the_same() -> None:
    cold = TopFractionPush(1e-2, fraction=0.4, tol=1e-6).fit(X, Y)
    warm = TopFractionPush(1e-1, fraction=0.4, tol=1e-6, warm_start=True).fit(X, Y)
    warm.set_params(alpha=1e-2).fit(X, Y)
    assert_allclose(warm.coef_, cold.coef_, atol=1e-2)
    assert warm.certificate_.holds(1e-6)


def test_the_rounded_top_has_the_slope_and_bend_of_its_value() -> None:
    rng, split = np.random.default_rng(5), Split.of(Y == 1)
    loss, step = TopFractionLoss(split, 0.3), 1e-5
    for width in (1.0, 0.1):
        s, t = rng.normal(size=len(Y)), rng.normal(size=len(Y))
        centre = rng.random(len(split.neg))
        at, up, down = (SoftTop(loss, s + k * step * t, width, centre) for k in (0, 1, -1))
        assert loss.value(s) - width / 2 - 1e-12 <= at.smooth <= at.value <= loss.value(s) + 1e-12
        assert (up.smooth - down.smooth) / (2 * step) == pytest.approx(at.slope @ t, rel=1e-6)
        assert_allclose((up.slope - down.slope) / (2 * step), at.bend(t)[:, 0], atol=1e-6)


def test_capped_weights_of_values_that_dwarf_the_width_are_those_of_the_tail() -> None:
    values, caps = np.array([3e90, 1e90, 3e90, 0.0]), np.full(4, 0.4)
    d, _ = capped(values, caps, 0.3)
    assert_allclose(d, [0.4, 0.2, 0.4, 0.0], atol=1e-12)
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(capped(np.array([np.nan, 1.0, 2.0]), caps[:3], 0.3)[0]).any()


def test_capped_weights_sum_to_one_within_their_caps() -> None:
    rng = np.random.default_rng(6)
    for width in (1e-6, 0.1, 10.0):
        values, caps = rng.integers(0, 5, 20).astype(float), rng.random(20) + 0.06
        d, level = capped(values, caps, width)
        assert d.sum() == pytest.approx(1.0)
        assert (d <= caps * (1 + 1e-9)).all()
        assert (d[values < level - 1e-9] == 0).all()


def test_the_hessian_is_the_bend_of_every_column() -> None:
    rng, split = np.random.default_rng(7), Split.of(Y == 1)
    loss = TopFractionLoss(split, 0.3)
    for rows in (DenseDesign(X), SparseDesign(sparse.csr_array(X))):
        for width in (1.0, 0.1):
            top = SoftTop(loss, X @ rng.normal(size=3), width)
            assert_allclose(top.hessian(rows, len(Y)), X.T @ top.bend(X), rtol=1e-9, atol=1e-12)
