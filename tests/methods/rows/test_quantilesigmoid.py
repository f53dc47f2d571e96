"""QuantileSigmoid: its criterion and gradient, its start, that it is never worse than that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from support.toy_rows import overlapping
from toprank import LogExpPush, LogisticRank, QuantileSigmoid, TrivialSolutionWarning
from toprank.inputs.class_split import Split
from toprank.methods.rows.quantilesigmoid import _Counts

X, Y = overlapping(40, 160, 5)


def criterion(w: Any, first: Any, y: Any, weight: Any, ranker: QuantileSigmoid) -> float:
    """The formulas of the docstring, tau found by bisection."""
    c, p = weight / weight.sum(), weight * (y == 1) / weight[y == 1].sum()
    start = X @ first
    h = ranker.width * np.sqrt(c @ (start - c @ start) ** 2)
    s = X @ w
    far = 60 * h
    tau = brentq(
        lambda t: c @ expit((s - t) / h) - ranker.fraction, s.min() - far, s.max() + far, xtol=1e-14
    )
    return float(p @ expit((tau - s) / h) + 0.5 * ranker.mu * (w - first) @ (w - first))


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("mu", [0.0, 1e-3, 1.0])
def test_the_criterion_is_that_of_the_formula_and_falls(fraction: float, mu: float) -> None:
    weight = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    ranker = QuantileSigmoid(fraction, mu=mu, start=LogisticRank(1e-2, tol=1e-8))
    ranker.fit(X, Y, sample_weight=weight)
    first = ranker.start_.coef_[0]
    assert_allclose(first, LogisticRank(1e-2, tol=1e-8).fit(X, Y, sample_weight=weight).coef_[0])
    before = criterion(first, first, Y, weight, ranker)
    after = criterion(ranker.coef_[0], first, Y, weight, ranker)
    assert ranker.start_criterion_ == pytest.approx(before, rel=1e-9)
    assert ranker.criterion_ == pytest.approx(after, rel=1e-9)
    assert after < before
    # A local minimum: steps in any direction do not help.
    rng = np.random.default_rng(1)
    for _ in range(5):
        moved = ranker.coef_[0] + 1e-2 * rng.normal(size=5)
        assert criterion(moved, first, Y, weight, ranker) >= after - 1e-5


@pytest.mark.parametrize("seed", range(12))
def test_it_is_never_worse_than_its_start(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 4)) * 10.0 ** rng.integers(-6, 7, 4)
    y = rng.integers(0, 2, 60)
    fraction, mu = float(rng.uniform(0.01, 0.99)), float(10.0 ** rng.uniform(-6, 3))
    ranker = QuantileSigmoid(fraction, mu=mu, start=LogExpPush(1.0, 1.0)).fit(rows, y)
    assert ranker.criterion_ <= ranker.start_criterion_
    assert np.isfinite(ranker.decision_function(rows)).all()


def test_the_slope_is_that_of_the_value() -> None:
    rng, split = np.random.default_rng(2), Split.of(Y == 1)
    counts = _Counts(split, 0.2)
    s, t = rng.normal(size=len(Y)), rng.normal(size=len(Y))
    _, slope = counts.missed(s, 0.3)
    up, down = (counts.missed(s + k * 1e-5 * t, 0.3)[0] for k in (1, -1))
    assert (up - down) / 2e-5 == pytest.approx(slope @ t, rel=1e-6)
    assert slope.sum() == pytest.approx(0.0, abs=1e-12)


def test_a_tight_tie_leaves_the_start_and_a_loose_one_does_not() -> None:
    tied = QuantileSigmoid(0.1, mu=1e8).fit(X, Y)
    assert_allclose(tied.coef_, tied.start_.coef_, atol=1e-6)
    loose = QuantileSigmoid(0.1, mu=1e-4).fit(X, Y)
    assert np.abs(loose.coef_ - loose.start_.coef_).max() > 0.1


def test_more_positives_are_among_the_first_rows() -> None:
    """Two groups of positives: one cannot be reached together with the other."""
    rng = np.random.default_rng(3)
    y = np.repeat([1, 1, 0], [60, 60, 880])
    rows = rng.normal(size=(1000, 2))
    rows[:60] += [2.5, -1.0]
    rows[60:120] += [-2.0, 3.0]
    ranker = QuantileSigmoid(0.06, mu=1e-4).fit(rows, y)
    first = ranker.start_.decision_function(rows)
    top = [np.argsort(-s)[:60] for s in (ranker.decision_function(rows), first)]
    assert y[top[0]].sum() > y[top[1]].sum()
    assert (ranker.predict(rows) == 1).sum() == 60


@pytest.mark.parametrize("form", [sparse.csr_array, np.asfortranarray, np.float32])
def test_other_forms_find_the_same(form: Any) -> None:
    plain = QuantileSigmoid(0.2, tol=1e-9).fit(X, Y)
    other = QuantileSigmoid(0.2, tol=1e-9).fit(form(X), Y)
    assert other.criterion_ == pytest.approx(plain.criterion_, abs=1e-3)


def test_a_start_of_scikit_learn_is_turned_to_the_positive_label() -> None:
    names = np.where(Y == 1, "a", "b")
    ranker = QuantileSigmoid(0.2, start=LogisticRegression(), pos_label="a").fit(X, names)
    plain = QuantileSigmoid(0.2, start=LogisticRegression()).fit(X, Y)
    assert_allclose(ranker.coef_, plain.coef_, atol=1e-6)
    assert_array_equal(ranker.classes_, ["b", "a"])


def test_a_start_without_weights_is_refused() -> None:
    with pytest.raises(TypeError, match="pass a linear estimator"):
        QuantileSigmoid(start=DecisionTreeClassifier()).fit(X, Y)


def test_a_start_that_ties_all_rows_is_left_as_it_is() -> None:
    rows = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    with pytest.warns(TrivialSolutionWarning):
        ranker = QuantileSigmoid(0.5).fit(rows, [1, 1, 0, 0])
    assert ranker.trivial_
    assert ranker.criterion_ == ranker.start_criterion_


def test_too_few_steps_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match="criterion"):
        QuantileSigmoid(0.1, max_iter=1, tol=1e-12).fit(X, Y)
