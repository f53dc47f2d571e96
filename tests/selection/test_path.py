"""Paths of alphas: the same fits as one by one, each with its certificate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import toprank
from support.toy_rows import overlapping, sparse_rows
from toprank import (
    BBR,
    InfinitePush,
    LogisticRank,
    PNormPush,
    RankSVM,
    RectPush,
    RectPushApp,
    ReverseRectPush,
    TopPush,
    methods,
)
from toprank.designs import as_design
from toprank.estimators.convex import ConvexRanker
from toprank.inputs.class_split import Split
from toprank.selection import path
from toprank.selection.path import mean_square

X, Y = overlapping()
ALPHAS = [0.01, 1.0, 0.1]
#: Every ranker that minimises alpha/2 |w|^2 + a loss.
KINDS = [
    kind
    for name in methods.__all__
    if isinstance(kind := getattr(methods, name), type) and issubclass(kind, ConvexRanker)
]
RANKERS = [
    TopPush(tol=1e-9),
    RectPush(tol=1e-9),
    RectPushApp(tol=1e-9),
    PNormPush(tol=1e-9),
    InfinitePush(tol=1e-7),
    RankSVM(tol=1e-7),
]
rankers = pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)


@rankers
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
def test_the_fits_are_those_of_each_alpha_alone(ranker: Any, form: Any) -> None:
    weight = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    found = path(ranker, form(X), Y, ALPHAS, sample_weight=weight)
    assert found.alphas.tolist() == [1.0, 0.1, 0.01]
    for alpha, fitted in zip(found.alphas, found.rankers, strict=True):
        alone = clone(ranker).set_params(alpha=alpha).fit(form(X), Y, weight)
        assert fitted.certificate_.holds(ranker.tol)
        width = alone.certificate_.gap + fitted.certificate_.gap
        assert abs(fitted.certificate_.primal - alone.certificate_.primal) <= width
        assert fitted.trivial_ == alone.trivial_
        assert_allclose(fitted.decision_function(X), alone.decision_function(X), atol=2e-3)
    assert found.coefs.shape == (3, X.shape[1])
    assert_array_equal(found.decision_function(X)[:, 2], found.rankers[2]._decide(X))
    assert not hasattr(ranker, "coef_")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
def test_every_convex_ranker_has_a_certified_path(kind: Any) -> None:
    ranker = kind(tol=1e-5)
    found = path(ranker, X + 50.0, Y, ALPHAS)  # no column is near zero
    for alpha, fitted in zip(found.alphas, found.rankers, strict=True):
        alone = clone(ranker).set_params(alpha=alpha).fit(X + 50.0, Y)
        assert fitted.alpha == alpha
        assert fitted.certificate_.holds(ranker.tol)
        width = alone.certificate_.gap + fitted.certificate_.gap
        assert abs(fitted.certificate_.primal - alone.certificate_.primal) <= width
        assert fitted.trivial_ == alone.trivial_
        # What the certificate speaks of: the objective at these weights, from nothing kept.
        rows = fitted._check(X + 50.0, Y, None)
        value = fitted._problem(rows.design, rows.split).value(fitted.coef_[0])
        certificate = fitted.certificate_
        rounding = 1e-9 * abs(certificate.primal)  # which LogSumExpPush has below zero
        assert certificate.dual <= value <= certificate.primal + rounding


@pytest.mark.parametrize("kind", [LogisticRank, RectPushApp, PNormPush])
def test_few_passes_go_on_where_the_last_fit_ended(kind: Any) -> None:
    rng = np.random.default_rng(2)
    wide = rng.normal(size=(6000, 8))
    label = (wide[:, 0] + rng.logistic(size=6000) > 2.0).astype(int)
    alphas = np.geomspace(10.0, 1e-5, 9)
    found = path(kind(tol=1e-7), wide, label, alphas)
    for alpha, fitted in zip(alphas, found.rankers, strict=True):
        alone = kind(tol=1e-7, alpha=alpha).fit(wide, label)
        assert fitted.solver_ == "few-passes"
        assert fitted.certificate_.holds(1e-7)
        width = alone.certificate_.gap + fitted.certificate_.gap
        assert abs(fitted.certificate_.primal - alone.certificate_.primal) <= width
        assert_allclose(fitted.coef_, alone.coef_, atol=1e-2 * np.abs(alone.coef_).max())


@pytest.mark.parametrize("columns", [8, 1200])
@pytest.mark.parametrize(
    "ranker",
    [LogisticRank(), PNormPush(), RankSVM(loss="squared_hinge", tol=1e-4)],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_path_takes_fewer_passes_than_fits_of_their_own(ranker: Any, columns: int) -> None:
    """Each fit begins at the best point in the span of the solutions before it."""
    rng = np.random.default_rng(3)
    X = sparse_rows((6000, columns), 8 / columns, rng)
    X.data = rng.normal(size=X.nnz)
    label = (X[:, [0]].toarray().ravel() + rng.logistic(size=6000) > 2.0).astype(int)
    X = X.toarray() if columns == 8 else X
    alphas = np.geomspace(1.0, 1e-4, 7)
    along = path(ranker, X, label, alphas).rankers
    alone = [clone(ranker).set_params(alpha=alpha).fit(X, label) for alpha in alphas]
    passes = [sum(fitted.history_["passes"][-1] for fitted in fits) for fits in (along, alone)]
    assert passes[0] < 0.7 * passes[1]


def test_columns_far_from_zero_change_nothing() -> None:
    near, far = (path(RankSVM(tol=1e-8), X + shift, Y, ALPHAS) for shift in (0.0, 1e5))
    assert_allclose(near.coefs, far.coefs, atol=1e-5)
    assert_allclose(near.decision_function(X), far.decision_function(X + 1e5), atol=1e-4)


def test_a_grid_goes_by_the_scale_of_the_rows() -> None:
    first, second = (path(RectPushApp(), unit * X, Y, 3) for unit in (1.0, 100.0))
    assert_allclose(second.alphas, 1e4 * first.alphas, rtol=1e-10)
    assert_allclose(first.alphas[0] / first.alphas, [1.0, 1e3, 1e6])
    assert_allclose(second.coefs * 100.0, first.coefs, rtol=1e-2, atol=1e-2)


def test_the_mean_square_is_about_the_mean_with_classes_of_equal_weight() -> None:
    weight = np.random.default_rng(1).random(len(Y))
    split = Split.of(Y == 1, weight)
    share = np.zeros(len(Y))
    share[split.pos], share[split.neg] = 0.5 * split.p, 0.5 * split.q
    spread = share @ np.square(X - share @ X).sum(axis=1)
    for shift in (0.0, 10.0):
        assert mean_square(as_design(X + shift), split) == pytest.approx(spread, rel=1e-10)


def test_rows_without_spread_have_a_grid_too() -> None:
    with pytest.warns(toprank.TrivialSolutionWarning):
        assert (path(RectPushApp(), np.zeros((6, 2)), [0, 1] * 3, 2).alphas > 0).all()


@pytest.mark.parametrize(
    ("alphas", "message"),
    [
        ([], r"alphas must be a list of numbers, got shape \(0,\)"),
        ([[1.0]], r"alphas must be a list of numbers, got shape \(1, 1\)"),
        ([1.0, 0.0], r"alphas\[1\] is 0"),
        ([np.nan, 1.0], r"alphas\[0\] is nan"),
        ([np.inf], r"alphas\[0\] is inf"),
        (0, "alphas=0: pass how many, 1 or more"),
        (True, "alphas=True: pass how many"),
        ("many", "alphas must be a list of numbers: could not convert"),
    ],
)
def test_alphas_that_cannot_be(alphas: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        path(TopPush(), X, Y, alphas)


def test_other_estimators_are_told_what_they_have_instead() -> None:
    with pytest.raises(TypeError, match=r"not BBR\. BBR has bbr_path"):
        path(BBR(), X, Y)
    with pytest.raises(TypeError, match=r"takes a ranker, not its class: pass TopPush\(\)"):
        path(TopPush, X, Y)
    with pytest.raises(ValueError, match="'tol' parameter of TopPush"):
        path(TopPush(tol=-1.0), X, Y)


def test_equal_alphas_are_fitted_once() -> None:
    assert path(RectPushApp(), X, Y, [1.0, 1.0, 0.5]).alphas.tolist() == [1.0, 0.5]


@pytest.mark.parametrize("scale", [1e-45, 1e49])
def test_rows_that_float32_cannot_hold_are_not_computed_with_in_it(scale: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.3)
    y = np.arange(60) == 7
    ranker = ReverseRectPush(solver="few-passes", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some bounds are below rounding
        found = path(ranker, scale * X, y, [0.3, 0.03])
    assert np.isfinite(found.coefs).all()
