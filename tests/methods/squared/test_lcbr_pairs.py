"""LCBR on pairs that are given, and with features of its user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from support.examples import examples
from support.toy_rows import overlapping
from toprank import LCBR
from toprank.methods.squared import pairs
from truth.algorithm_2 import algorithm_2, drawn
from truth.reference_files import reference_file

X, Y = overlapping(40, 70, 5)
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def products(X1: Any, X0: Any) -> Any:
    """Not separable: the distance of two rows is no sum of products of a few functions."""
    if sparse.issparse(X1):
        X1, X0 = X1.toarray(), X0.toarray()
    apart = np.sqrt(np.sum((X1 - X0) ** 2, axis=1, keepdims=True))
    return np.hstack([X1 - X0, (X1 - X0) / (1.0 + apart), np.minimum(X1, X0)])


@forms
@pytest.mark.parametrize("block", [7, 4096])
def test_own_features_are_those_of_the_pairs_drawn(
    form: Any, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "BLOCK", block)
    ranker = LCBR(0.01, n_pairs=200, features=products, random_state=2).fit(form(X), Y)
    first, second = drawn(ranker, Y)
    psi = products(X[first], X[second])
    assert_allclose(ranker.coef_[0], algorithm_2(psi, 0.01, np.inf), rtol=1e-8, atol=1e-10)
    assert ranker.coef_.shape == (1, 15)
    assert ranker.n_features_in_ == 5
    assert ranker.intercept_ == [0.0]
    compared = ranker.compare(form(X[:30]), form(X[30:60]))
    assert_allclose(compared, products(X[:30], X[30:60]) @ ranker.coef_[0], rtol=1e-10)
    expected = np.mean(psi @ ranker.coef_[0] > 0)
    assert ranker.score_pairs(form(psi)) == pytest.approx(expected)


def test_own_features_may_be_sparse_and_of_any_number_type() -> None:
    dense = LCBR(features=lambda a, b: np.sign(a - b).astype(int), random_state=0).fit(X, Y)
    thin = LCBR(features=lambda a, b: sparse.coo_array(np.sign(a - b)), random_state=0).fit(X, Y)
    assert_allclose(thin.coef_, dense.coef_, rtol=1e-9)
    assert dense.n_pairs_ == 506  # by the number of features of a pair


def test_own_sparse_features_may_be_in_any_order_and_in_parts() -> None:
    def turned(a: Any, b: Any) -> Any:
        apart = sparse.csr_array(a - b)[:, [4, 2, 0, 1, 3]]
        assert not apart.has_sorted_indices
        return apart

    def halves(a: Any, b: Any) -> Any:
        half, n = (a - b) / 2.0, len(a)
        places = np.tile(np.arange(5), 2 * n), np.arange(0, 10 * n + 1, 10)
        return sparse.csr_array((np.hstack([half, half]).ravel(), *places), shape=a.shape)

    plain = LCBR(features=np.subtract, random_state=0).fit(X, Y).coef_
    found = LCBR(features=turned, random_state=0).fit(X, Y).coef_
    assert_allclose(found, plain[:, [4, 2, 0, 1, 3]], rtol=1e-9)
    assert_allclose(LCBR(features=halves, random_state=0).fit(X, Y).coef_, plain, rtol=1e-9)


def test_features_of_single_precision_bring_no_warning() -> None:
    narrow = X.astype(np.float32)
    found = LCBR(features=np.subtract, random_state=0).fit(narrow, Y).coef_
    assert_allclose(found, LCBR(random_state=0).fit(narrow, Y).coef_, rtol=1e-4)
    assert np.isfinite(LCBR().fit_pairs(narrow).coef_).all()
    with pytest.raises(ValueError, match="Psi contains infinity: row 0, column 0"):
        LCBR().fit_pairs(np.full((2, 2), np.inf, dtype=np.float32))


def test_own_features_can_be_streamed_and_merged() -> None:
    ranker = LCBR(n_pairs=60, features=products, random_state=0)
    ranker.partial_fit(X, Y, classes=[0, 1]).partial_fit(X, Y)
    assert ranker.n_pairs_ == 120
    other = LCBR(n_pairs=60, features=products, random_state=0).fit(X, Y)
    assert other.merge(ranker).n_pairs_ == 180
    more = products(X[:4], X[4:8])
    assert other.partial_fit_pairs(more).n_pairs_ == 184


def test_without_a_score_of_rows_compare_is_named() -> None:
    ranker = LCBR(features=products, random_state=0).fit(X, Y)
    for method in (ranker.decision_function, ranker.predict, ranker.rank):
        with pytest.raises(AttributeError, match=r"use compare\(X1, X0\)"):
            method(X)
    with pytest.raises(AttributeError, match=r"use compare\(X1, X0\)"):
        ranker.score(X, Y)


def test_compare_is_the_difference_of_scores() -> None:
    ranker = LCBR(random_state=0).fit(X, Y)
    scores = ranker.decision_function(X)
    assert_allclose(ranker.compare(X[:20], X[20:40]), scores[:20] - scores[20:40], atol=1e-12)
    pairs = X[Y == 1][:, np.newaxis] - X[Y == 0]
    assert ranker.score_pairs(pairs.reshape(-1, 5)) == pytest.approx(ranker.score(X, Y))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (lambda a, b: a[:, 0], r"features returned an array of shape \(1,\) for 1 pairs"),
        (lambda a, b: np.ones((3, 2)), r"features returned an array of shape \(3, 2\)"),
        (lambda a, b: np.ones((len(a), 0)), "at least one column"),
        (
            lambda a, b: np.full((len(a), 2), np.nan),
            r"Input features\(X1, X0\) contains NaN: row 0, column 0",
        ),
        (
            lambda a, b: sparse.csr_array(np.full((len(a), 2), np.inf)),
            r"Input features\(X1, X0\) contains infinity",
        ),
        (lambda a, b: (a - b) * 1e200, "whose square overflows"),
        (lambda a, b: np.full((len(a), 1), "x"), "features returned <U1 entries"),
        (lambda a, b: np.ones((len(a), min(len(a), 9))), "features returned 9 columns after 1"),
    ],
)
def test_bad_features_are_named(features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LCBR(features=features, random_state=0).fit(X, Y)


@forms
@pytest.mark.parametrize("radius", [None, 0.3])
def test_given_pairs_are_as_drawn_ones(form: Any, radius: float | None) -> None:
    fitted = LCBR(n_pairs=150, radius=radius, random_state=1).fit(X, Y)
    first, second = drawn(fitted, Y)
    ranker = LCBR(radius=radius).fit_pairs(form(X[first] - X[second]))
    assert_allclose(ranker.coef_, fitted.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(ranker.certificate_.primal, fitted.certificate_.primal, rtol=1e-10)
    assert ranker.n_pairs_ == 150
    assert ranker.intercept_ == [0.0]
    assert_array_equal(ranker.classes_, [0, 1])
    assert_array_equal(ranker.rank(X), fitted.rank(X))


def test_weights_of_given_pairs_are_repeated_pairs() -> None:
    rng = np.random.default_rng(0)
    psi = rng.normal(size=(30, 4)) + 0.5
    times = rng.integers(0, 4, 30)
    weighted = LCBR().fit_pairs(psi, sample_weight=times)
    repeated = LCBR().fit_pairs(np.repeat(psi, times, axis=0))
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.n_pairs_ == np.count_nonzero(times)
    one = weighted.score_pairs(psi, sample_weight=times)
    assert one == pytest.approx(repeated.score_pairs(np.repeat(psi, times, axis=0)))


@examples(30)
@given(
    cuts=st.lists(st.integers(1, 59), max_size=6),
    weighted=st.booleans(),
    thin=st.booleans(),
    by_merging=st.booleans(),
)
def test_portions_of_pairs_have_no_effect(
    cuts: list[int], weighted: bool, thin: bool, by_merging: bool
) -> None:
    rng = np.random.default_rng(3)
    psi = rng.normal(size=(60, 4)) + np.array([1.0, 0.0, -0.3, 1e3])
    weight = rng.uniform(0.0, 2.0, 60) if weighted else None
    form = sparse.csr_array if thin else np.asarray
    whole = LCBR(1e-2).fit_pairs(psi, sample_weight=weight)
    parts = np.split(np.arange(60), sorted(set(cuts)))
    ranker = LCBR(1e-2)
    for part in parts:
        own = None if weight is None else weight[part]
        if by_merging and hasattr(ranker, "coef_"):
            ranker.merge(LCBR(1e-2).fit_pairs(form(psi[part]), sample_weight=own))
        else:
            ranker.partial_fit_pairs(form(psi[part]), sample_weight=own)
    assert ranker.n_pairs_ == 60
    assert_allclose(ranker.coef_, whole.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(ranker.certificate_.primal, whole.certificate_.primal, rtol=1e-6)


CASES = [
    "interior",
    "boundary",
    "constant_feature",
    "duplicate_feature",
    "one_positive",
    "duplicate_rows",
    "offset_1e6",
    "one_pair",
    "one_pair_boundary",
]


@pytest.mark.parametrize("case", CASES)
@forms
def test_all_pairs_given_are_the_reference_cases(case: str, form: Any) -> None:
    """Solutions from rational arithmetic over all pairs."""
    with np.load(reference_file("pairwise-square")) as file:
        P, Q, W, lam, w_ridge, w_ball, risk = (
            file[f"{case}/{name}"]
            for name in ("P", "Q", "W", "lam", "w_ridge", "w_ball", "risk_ball")
        )
    psi = form((P[:, np.newaxis] - Q).reshape(-1, P.shape[1]))
    ridge = LCBR(float(lam)).fit_pairs(psi)
    assert_allclose(ridge.coef_[0], w_ridge, rtol=1e-9, atol=1e-9 * np.abs(w_ridge).max())
    ball = LCBR(radius=float(W)).fit_pairs(psi)
    assert_allclose(ball.coef_[0], w_ball, rtol=1e-9, atol=1e-9 * np.abs(w_ball).max())
    assert ball.certificate_.primal == pytest.approx(float(risk), rel=1e-9, abs=1e-12)


def test_fit_begins_anew() -> None:
    ranker = LCBR(random_state=0, pos_label="yes").fit_pairs(np.ones((4, 2)))
    ranker.fit(X, np.where(Y == 1, "yes", "no"))
    assert ranker.n_features_in_ == 5
    assert ranker.predict(X[:1])[0] in ("yes", "no")
    assert ranker.fit_pairs(np.ones((4, 3))).n_features_in_ == 3
    assert ranker.n_pairs_ == 4


@pytest.mark.parametrize(
    ("psi", "weight", "message"),
    [
        ([[1.0, np.nan]], None, "Input Psi contains NaN: row 0, column 1"),
        (
            sparse.csr_array([[0.0, 1.0], [0.0, np.inf]]),
            None,
            "Input Psi contains infinity: row 1, column 1",
        ),
        ([1.0, 2.0], None, "Expected 2D array"),
        (np.ones((0, 2)), None, "0 sample"),
        (np.ones((2, 2)), [0.0, 0.0], "All of sample_weight is zero"),
        (np.ones((2, 2)), [1.0], "sample_weight has shape .* but Psi has 2 rows"),
        (np.ones((2, 2)), [1.0, -1.0], r"sample_weight\[1\] is -1"),
    ],
)
def test_bad_pairs_are_refused(psi: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LCBR().fit_pairs(psi, sample_weight=weight)


def corrupt() -> Any:
    broken = sparse.csr_array(np.eye(3))
    broken.indices[1] = 7
    return broken


def test_a_corrupt_matrix_is_refused_not_read() -> None:
    with pytest.raises(ValueError, match="Psi is a corrupt CSR matrix: index 7 in row 1"):
        LCBR().fit_pairs(corrupt())
    with pytest.raises(ValueError, match="is a corrupt CSR matrix: index 7 in row 1"):
        LCBR().fit_pairs(np.eye(3)).score_pairs(corrupt())
    ranker = LCBR(features=lambda a, b: corrupt()).partial_fit_pairs(np.eye(3))
    ranker.n_features_in_ = 5
    with pytest.raises(ValueError, match=r"features\(X1, X0\) is a corrupt CSR matrix"):
        ranker.compare(X[:3], X[3:6])
    unsorted = sparse.csr_array(([2.0, 1.0, 1.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    whole = LCBR(0.0).fit_pairs([[1.0, 3.0]])
    assert_allclose(LCBR(0.0).fit_pairs(unsorted).coef_, whole.coef_)


def test_pairs_of_another_width_are_refused() -> None:
    ranker = LCBR().fit_pairs(np.ones((3, 2)))
    with pytest.raises(ValueError, match="Psi has 3 columns, but the ranker has 2"):
        ranker.partial_fit_pairs(np.ones((3, 3)))
    with pytest.raises(ValueError, match="Psi has 3 columns, but the ranker has 2"):
        ranker.score_pairs(np.ones((3, 3)))
    with pytest.raises(NotFittedError):
        LCBR().score_pairs(np.ones((3, 3)))
    with pytest.raises(NotFittedError):
        LCBR().compare(X, X)


def test_a_square_beyond_memory_is_refused() -> None:
    wide = sparse.csr_array(([1.0, 2.0], ([0, 1], [3, 30_000])), shape=(2, 30_001))
    with pytest.raises(ValueError, match="A pair has 30001 features: LCBR keeps a square"):
        LCBR().fit(wide, [1, 0])
    with pytest.raises(ValueError, match="A pair has 30001 features"):
        LCBR().fit_pairs(wide)


def test_features_may_write_into_their_rows() -> None:
    def inside(a: Any, b: Any) -> Any:
        a -= b
        return a

    ranker = LCBR(features=inside, random_state=0).fit(X, Y)
    before = X.copy()
    ranker.compare(X[:2], X[2:4])
    assert_allclose(X, before, rtol=0, atol=0)


def test_features_of_two_kinds_are_not_added_up() -> None:
    ranker = LCBR(random_state=0).fit(X, Y).set_params(features=np.multiply)
    with pytest.raises(ValueError, match="features was changed"):
        ranker.partial_fit(X, Y)
    with pytest.raises(ValueError, match="Cannot merge"):
        LCBR(features=np.subtract).merge(LCBR(random_state=0).fit(X, Y))


def test_huge_weights_are_refused() -> None:
    ranker = LCBR(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="divide all weights by it"):
        ranker.score_pairs(X[:10], np.full(10, 1e308))
