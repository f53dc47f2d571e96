"""Stumps and columns as weak learners, against every one written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize_scalar

from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.weak_learners import Columns, ColumnSum, Pick, Stumps, StumpSum, make_learners

FORMS: list[Any] = [
    np.ascontiguousarray,
    np.asfortranarray,
    np.float32,
    sparse.csr_array,
    lambda X: sparse.csr_matrix(X, dtype=np.float32),
]


def tied_rows(seed: int, n: int = 40, d: int = 7) -> tuple[np.ndarray, Split]:
    """Columns with many ties, few, none, one value, mostly zeros, and no zero at all."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1).astype(np.float32).astype(np.float64)
    X[:, 0] = rng.integers(-1, 2, n)
    X[:, 1] = rng.integers(0, 2, n)
    X[:, 2] = 3.0
    X[:, 3] *= rng.random(n) < 0.2
    X[:, 4] = rng.integers(1, 4, n)
    positive = rng.permutation(n) < n // 3
    weight = rng.integers(0, 3, n).astype(float)
    return X, Split.of(positive, weight)


def all_stumps(X: np.ndarray, rows: np.ndarray) -> list[tuple[int, int, bool, np.ndarray]]:
    """(feature, cut, missing above, h on the rows) of every stump, each written out."""
    found = []
    for k in range(X.shape[1]):
        x = X[rows, k]
        levels = np.unique(x[~np.isnan(x)])
        missing = np.isnan(x).any()
        for cut in range(-1 if missing and len(levels) else 0, len(levels) - 1):
            for above in (False, True) if missing and cut >= 0 else (False,):
                h = np.where(x > (levels[cut] if cut >= 0 else -np.inf), 1.0, -1.0)
                h[np.isnan(x)] = 1.0 if above else -1.0
                found.append((k, cut, above, h))
    return found


def weights_of(split: Split, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights that sum to one on each side, and the signed halves of them."""
    rng = np.random.default_rng(seed)
    m = len(split.pos)
    w = rng.random(m + len(split.neg)) ** 3
    w[:m] /= w[:m].sum()
    w[m:] /= w[m:].sum()
    return w, np.where(np.arange(len(w)) < m, 0.5, -0.5) * w


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(5))
def test_the_best_edge_of_every_column(form: Any, seed: int) -> None:
    X, split = tied_rows(seed)
    stumps = Stumps(as_design(form(X)), split)
    every = all_stumps(X, stumps.rows)
    _, s = weights_of(split, seed)
    assert stumps.n_learners == len(every)
    edges = stumps.edges(s)
    for k in range(X.shape[1]):
        truth = [s @ h for feature, _, _, h in every if feature == k]
        assert_allclose(edges[k], np.max(np.abs(truth), initial=0.0), atol=1e-14)
        if not truth:
            continue
        pick = stumps.pick_edge(s, k)
        h = stumps.column(pick)
        assert_allclose(pick.merit, s @ h, atol=1e-14)
        assert_allclose(abs(pick.merit), edges[k], atol=1e-12)
        threshold = stumps.threshold(pick)
        assert_array_equal(h, np.where(X[stumps.rows, k] > threshold, 1.0, -1.0))


@pytest.mark.parametrize("form", FORMS)
def test_every_stump_is_filled_in(form: Any) -> None:
    X, split = tied_rows(7)
    stumps = Stumps(as_design(form(X)), split)
    for feature, cut, above, h in all_stumps(X, stumps.rows):
        assert_array_equal(stumps.column(Pick(feature, cut, above, 0.0)), h)
    with pytest.raises(IndexError, match="no such stump"):
        stumps.column(Pick(2, 0, False, 0.0))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("order", ["C", "F"])
def test_missing_values_are_on_the_better_side(seed: int, order: Any) -> None:
    X, split = tied_rows(seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.3] = np.nan
    X[:, 6] = np.nan
    stumps = Stumps(as_design(np.array(X, order=order)), split)
    every = all_stumps(X, stumps.rows)
    assert stumps.n_learners == len(every)
    w, s = weights_of(split, seed)
    for k in range(6):
        truth = max(abs(s @ h) for feature, _, _, h in every if feature == k)
        pick = stumps.pick_edge(s, k)
        assert_allclose([stumps.edges(s)[k], abs(pick.merit)], truth, atol=1e-12)
        assert_allclose(pick.merit, s @ stumps.column(pick), atol=1e-14)
        best = stumps.pick_decrease(w, 1.0, k)
        assert_allclose(abs(best.merit), stumps.decreases(w, 1.0)[k], atol=1e-12)
    for feature, cut, above, h in every:
        assert_array_equal(stumps.column(Pick(feature, cut, above, 0.0)), h)
    assert stumps.edges(s)[6] == 0.0


def decrease(w: np.ndarray, m: int, h: np.ndarray, p: float) -> float:
    """How far J falls along h, by search."""

    def value(t: float) -> float:
        above, below = w[:m] @ np.exp(-t * h[:m]), w[m:] @ np.exp(p * t * h[m:])
        return float(np.log(above) + np.log(below) / p)

    return -minimize_scalar(
        value, bounds=(-6.0, 6.0), options={"xatol": 1e-10}, method="bounded"
    ).fun


@pytest.mark.parametrize("p", [1.0, 0.5, 4.0])
def test_the_farthest_fall_of_every_column(p: float) -> None:
    X, split = tied_rows(3)
    stumps = Stumps(as_design(X), split)
    w, _ = weights_of(split, 3)
    m, every = len(split.pos), all_stumps(X, stumps.rows)
    falls = stumps.decreases(w, p)
    for k in range(X.shape[1]):
        truth = [decrease(w, m, h, p) for feature, _, _, h in every if feature == k]
        assert_allclose(falls[k], np.max(truth, initial=0.0), atol=1e-8)
        if truth:
            pick = stumps.pick_decrease(w, p, k)
            assert_allclose(decrease(w, m, stumps.column(pick), p), falls[k], atol=1e-8)


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30000, 40))
    split = Split.of(rng.random(30000) < 0.3)
    _, s = weights_of(split, 0)
    one, two = (Stumps(as_design(X, n), split).edges(s) for n in (1, 2))
    assert_array_equal(one, two)
    k = int(np.argmax(one))
    order = np.argsort(X[np.concatenate([split.pos, split.neg]), k])
    assert_allclose(one[k], 2.0 * np.abs(np.cumsum(s[order])).max(), rtol=1e-9)


def test_the_first_of_equals_is_picked() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0])
    split = Split.of(np.array([True, False, True, False]))
    stumps = Stumps(as_design(np.column_stack([np.ones(4), x, -x, x])), split)
    s = np.array([0.25, 0.25, -0.25, -0.25])  # positives first: rows 0, 2, 1, 3
    pick = stumps.best_edge(s)
    assert (pick.feature, pick.cut) == (1, 0)
    assert [one.feature for one in stumps.best_edges(s, 3)] == [1, 2, 3]


@pytest.mark.parametrize("form", FORMS)
def test_columns_are_scaled_on_the_rows_that_count(form: Any) -> None:
    X, split = tied_rows(2)
    left_out = np.setdiff1d(np.arange(len(X)), np.concatenate([split.pos, split.neg]))
    X[left_out] = 100.0
    columns = Columns(as_design(form(X)), split, scaled=True)
    _, s = weights_of(split, 2)
    rows = X[columns.rows].astype(np.float32).astype(np.float64)
    span = np.ptp(rows, axis=0)
    assert columns.n_learners == (span > 0).sum() == 6
    edges = columns.edges(s)
    for k in np.flatnonzero(span):
        h = 2.0 * (rows[:, k] - rows[:, k].min()) / span[k] - 1.0
        assert_allclose(columns.column(Pick(int(k), 0, False, 0.0)), h, atol=1e-14)
        assert_allclose(edges[k], abs(s @ h), atol=1e-13)
        assert_allclose(columns.pick_edge(s, int(k)).merit, s @ h, atol=1e-13)
        assert_allclose(columns.slope[k] * rows[:, k] + columns.at_zero[k], h, atol=1e-13)
    assert edges[2] == 0.0 == columns.pick_edge(s, 2).merit


@pytest.mark.parametrize("p", [1.0, 3.0])
def test_the_bound_on_falls_is_one_and_exact_for_two_values(p: float) -> None:
    X, split = tied_rows(4)
    w, _ = weights_of(split, 4)
    columns = Columns(as_design(X), split, scaled=True)
    falls = columns.decreases(w, p)
    for k in (0, 1, 3, 4, 5, 6):
        truth = decrease(w, len(split.pos), columns.column(Pick(k, 0, False, 0.0)), p)
        assert falls[k] <= truth + 1e-9
        if k == 1:
            assert_allclose(falls[k], truth, atol=1e-8)
    assert falls[2] == 0.0


def test_given_learners_stay_as_they_are() -> None:
    X, split = tied_rows(5)
    given = make_learners("precomputed", as_design(X), split)
    assert isinstance(given, Columns)
    for k in range(7):
        assert_array_equal(given.column(Pick(k, 0, False, 0.0)), X[given.rows, k])
    assert given.largest == np.abs(X[given.rows][:, [0, 1, 3, 4, 5, 6]]).max()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_sums_of_stumps(form: Any, low: float) -> None:
    rng = np.random.default_rng(0)
    X, _ = tied_rows(6)
    features = rng.integers(0, 7, 50)
    thresholds = np.round(rng.normal(size=50), 1) + 0.05
    thresholds[0] = -np.inf
    weights, sides = rng.normal(size=50), rng.random(50) < 0.5
    terms = weights * np.where(X[:, features] > thresholds, 1.0, low)
    total, design = StumpSum(features, thresholds, sides, weights, low), as_design(form(X))
    assert_allclose(total.scores(design), terms.sum(axis=1), atol=1e-12)
    stages = np.array(list(total.stages(design)))
    assert_allclose(stages, np.cumsum(terms, axis=1).T, atol=1e-12)


def test_a_sum_of_stumps_where_values_are_missing() -> None:
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 5.0]])
    total = StumpSum(
        np.array([0, 0, 1]),
        np.array([2.0, -np.inf, 4.0]),
        np.array([True, False, True]),
        np.array([1.0, 10.0, 100.0]),
        0.0,
    )
    assert_array_equal(total.scores(as_design(X)), [110.0, 1.0, 111.0])
    assert_array_equal(list(total.stages(as_design(X)))[-1], [110.0, 1.0, 111.0])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sums_of_columns(form: Any) -> None:
    X, _ = tied_rows(6)
    total = ColumnSum(np.array([3, 0, 3]), np.array([1.0, 2.0, 0.5]), 7)
    assert_allclose(total.coef, [2.0, 0, 0, 1.5, 0, 0, 0])
    assert_allclose(total.scores(as_design(form(X))), X @ total.coef)
    stages = list(total.stages(as_design(form(X))))
    assert_allclose(stages[1], X[:, 3] + 2.0 * X[:, 0])
    assert_allclose(stages[2], X @ total.coef)


def test_few_features_give_several_stumps_each() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    split = Split.of(rng.random(60) < 0.4)
    stumps = Stumps(as_design(x), split)
    s = rng.normal(size=60)
    s -= s.mean()
    found = stumps.best_edges(s, 12)
    assert 2 < len(found) <= 12
    assert len({pick[:3] for pick in found}) == len(found)
    merits = [abs(pick.merit) for pick in found]
    assert merits == sorted(merits, reverse=True)
    for pick in found:
        assert pick.merit == pytest.approx(float(s @ stumps.column(pick)), abs=1e-12)
    best = max(
        abs(float(s @ np.where(x[stumps.rows, k] > t, 1.0, -1.0))) for k in (0, 1) for t in x[:, k]
    )
    assert merits[0] == pytest.approx(best, rel=1e-12)
