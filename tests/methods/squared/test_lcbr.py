"""LCBR on rows: Algorithm 2 as a loop, certificates, samplings, weights, streams."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from support.toy_rows import overlapping, sparse_rows
from toprank import LCBR, TopPush, TrivialSolutionWarning
from toprank.inputs.class_split import Split
from toprank.methods.squared.pairs import draw_pairs
from toprank.theory import practical_pairs
from truth.algorithm_2 import algorithm_2, drawn

Array = NDArray[np.float64]
X, Y = overlapping(40, 70, 5)
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
samplings = pytest.mark.parametrize("sampling", ["matched", "uniform"])


def value(psi: Array, w: Array, alpha: float) -> float:
    return float(np.mean((1.0 - psi @ w) ** 2) / 2.0 + alpha / 2.0 * w @ w)


@forms
@samplings
@pytest.mark.parametrize("radius", [None, 0.3])
def test_fit_is_algorithm_2(form: Any, sampling: str, radius: float | None) -> None:
    ranker = LCBR(0.01, radius=radius, n_pairs=300, sampling=sampling, random_state=4)
    ranker.fit(form(X), Y)
    first, second = drawn(ranker, Y)
    psi = X[first] - X[second]
    w = algorithm_2(psi, 0.01, radius or np.inf)
    assert_allclose(ranker.coef_[0], w, rtol=1e-9, atol=1e-12)
    middle = (X[first].mean(axis=0) + X[second].mean(axis=0)) / 2.0
    assert_allclose(ranker.intercept_, [-middle @ w], rtol=1e-9)
    assert_allclose(ranker.certificate_.primal, value(psi, w, 0.01), rtol=1e-10)
    assert ranker.certificate_.holds(1e-9)
    assert (ranker.multiplier_ > 0.0) == (radius is not None)
    assert ranker.n_pairs_ == 300
    assert not ranker.trivial_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@forms
def test_dtypes_orders_and_threads_agree(form: Any, dtype: Any) -> None:
    rows = X.astype(dtype)
    one = LCBR(random_state=0, n_threads=1).fit(form(rows), Y)
    for given, threads in ((form(rows), 2), (np.asfortranarray(rows), 1)):
        other = LCBR(random_state=0, n_threads=threads).fit(given, Y)
        if threads == 2:
            assert_array_equal(other.coef_, one.coef_)
        assert_allclose(other.coef_, one.coef_, rtol=1e-10)
        assert_allclose(other.intercept_, one.intercept_, rtol=1e-7, atol=1e-12)


def test_sparse_is_never_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("made dense")

    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    monkeypatch.setattr(sparse.csr_array, "todense", refuse)
    rng = np.random.default_rng(0)
    data = sparse_rows((300, 60), 0.05, rng)
    y = np.arange(300) % 3 == 0
    ranker = LCBR(n_pairs=200, random_state=0).fit(data, y)
    assert ranker.certificate_.holds(1e-9)
    assert len(ranker.compare(data[:3], data[3:6])) == 3


def test_auto_is_the_rule() -> None:
    ranker = LCBR(random_state=0).fit(X, Y)
    assert ranker.n_pairs_ == practical_pairs(0.01, 5)


@samplings
@forms
def test_weights_decide_what_is_drawn(sampling: str, form: Any) -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y)).astype(float)
    ranker = LCBR(0.01, n_pairs=400, sampling=sampling, random_state=3)
    ranker.fit(form(X), Y, sample_weight=weight)
    first, second = drawn(ranker, Y, weight)
    assert weight[first].min() > 0
    assert weight[second].min() > 0
    assert_allclose(ranker.coef_[0], algorithm_2(X[first] - X[second], 0.01, np.inf), rtol=1e-8)


def test_matched_pairs_of_whole_rounds_have_the_mean_of_all_pairs() -> None:
    """With every row equally often the mean of psi is that of all pairs: m1 - m0."""
    m, n = int((Y == 1).sum()), int((Y == 0).sum())
    ranker = LCBR(n_pairs=int(np.lcm(m, n)), random_state=0).fit(X, Y)
    mean = X[Y == 1].mean(axis=0) - X[Y == 0].mean(axis=0)
    assert_allclose(ranker._sums.moments.mean, mean, rtol=1e-10)


def test_matched_pairs_come_nearer_to_all_pairs() -> None:
    psi = (X[Y == 1][:, np.newaxis] - X[Y == 0]).reshape(-1, X.shape[1])
    best = value(psi, algorithm_2(psi, 1e-3, np.inf), 1e-3)
    excess = {
        sampling: np.mean(
            [
                value(psi, LCBR(n_pairs=120, sampling=sampling, random_state=s).fit(X, Y).coef_[0],
                      1e-3) - best
                for s in range(60)
            ]
        )
        for sampling in ("matched", "uniform")
    }  # fmt: skip
    assert 0.0 < excess["matched"] < 0.7 * excess["uniform"]


def test_blocks_draw_different_pairs_and_add_up() -> None:
    ranker = LCBR(n_pairs=50, random_state=0)
    ranker.partial_fit(X, Y, classes=[0, 1])
    once = ranker.coef_.copy()
    ranker.partial_fit(X, Y)
    assert ranker.n_pairs_ == 100
    assert np.abs(ranker.coef_ - once).max() > 1e-6
    split = Split.of(Y == 1)
    rngs = [np.random.default_rng([0, n]) for n in (0, 50)]
    parts = [next(draw_pairs(split, 50, "matched", rng)) for rng in rngs]
    first, second = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    assert_allclose(ranker.coef_[0], algorithm_2(X[first] - X[second], 1e-3, np.inf), rtol=1e-8)
    middle = (X[first] + X[second]).mean(axis=0) / 2.0
    assert_allclose(ranker.intercept_[0], -middle @ ranker.coef_[0], rtol=1e-8)


def test_a_block_draws_one_pair_a_row_and_none_without_both_classes() -> None:
    ranker = LCBR(random_state=0).partial_fit(X, Y, classes=[0, 1])
    assert ranker.n_pairs_ == len(Y)
    before = ranker.coef_.copy()
    ranker.partial_fit(X[Y == 1], Y[Y == 1])
    assert_array_equal(ranker.coef_, before)
    weight = np.where(Y == 0, 1.0, 0.0)
    ranker.partial_fit(X, Y, sample_weight=weight)
    assert_array_equal(ranker.coef_, before)
    ranker.partial_fit(X[:, ::-1], Y)
    assert ranker.n_pairs_ == 2 * len(Y)


def test_merging_is_seeing_the_pairs_of_both() -> None:
    one = LCBR(n_pairs=80, random_state=0).fit(X, Y)
    two = LCBR(n_pairs=60, random_state=1).fit(X, Y)
    pairs = [drawn(one, Y), drawn(two, Y)]
    first, second = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    merged = clone(one).fit(X, Y).merge(two)
    assert merged.n_pairs_ == 140
    assert_allclose(merged.coef_[0], algorithm_2(X[first] - X[second], 1e-3, np.inf), rtol=1e-8)
    middle = (X[first] + X[second]).mean(axis=0) / 2.0
    assert_allclose(merged.intercept_[0], -middle @ merged.coef_[0], rtol=1e-8)
    with pytest.raises(ValueError, match="same `features`"):
        one.merge(LCBR(n_pairs=10, random_state=0).fit(X[:, :2], Y))
    words = LCBR(n_pairs=10, random_state=0, pos_label="yes").fit(X, np.where(Y == 1, "yes", "no"))
    with pytest.raises(ValueError, match="has the classes"):
        one.merge(words)


def test_equal_means_are_trivial() -> None:
    data = np.array([[1.0, 2.0], [-1.0, -2.0], [2.0, -1.0], [-2.0, 1.0]])
    with pytest.warns(TrivialSolutionWarning, match="mean of zero"):
        ranker = LCBR(n_pairs=2, random_state=0).fit(data, [1, 1, 0, 0])
    assert ranker.trivial_
    assert not ranker.coef_.any()
    assert ranker.certificate_.primal == pytest.approx(0.5, rel=1e-12)
    assert ranker.certificate_.holds(1e-12)


def test_a_large_offset_costs_few_digits() -> None:
    plain = LCBR(n_pairs=500, random_state=0).fit(X, Y)
    moved = LCBR(n_pairs=500, random_state=0).fit(X + 1e6, Y)
    assert_allclose(moved.coef_, plain.coef_, rtol=1e-7, atol=1e-8)


def test_without_alpha_the_least_squares_of_least_length() -> None:
    twice = np.hstack([X, X])
    with pytest.warns(ConvergenceWarning, match="linearly dependent"):
        ranker = LCBR(0.0, n_pairs=100, random_state=0).fit(twice, Y)
    first, second = drawn(ranker, Y)
    psi = twice[first] - twice[second]
    assert_allclose(ranker.coef_[0], np.linalg.pinv(psi) @ np.ones(100), rtol=1e-8)
    ball = LCBR(radius=1e3, n_pairs=100, random_state=0).fit(twice, Y)  # alpha is 0 with a radius
    assert_allclose(ball.coef_, ranker.coef_, rtol=1e-8)


def test_a_stream_that_has_no_pair_yet_says_so() -> None:
    ranker = LCBR(random_state=0).partial_fit(X[Y == 1], Y[Y == 1], classes=[0, 1])
    with pytest.raises(NotFittedError, match="has seen no pair yet"):
        ranker.decision_function(X)
    with pytest.raises(NotFittedError):
        ranker.compare(X, X)
    other = LCBR(n_pairs=30, random_state=0).fit(X, Y)
    assert_array_equal(ranker.merge(other).coef_, other.coef_)
    assert other.merge(LCBR()).n_pairs_ == 30
    with pytest.raises(TypeError, match="merges with its like"):
        other.merge(TopPush())  # type: ignore[arg-type]


def test_one_row_of_each_class() -> None:
    ranker = LCBR(1e-12, random_state=0).fit([[3.0, 0.0], [1.0, 1.0]], [1, 0])
    assert_allclose(ranker.coef_[0], [2 / 5, -1 / 5], rtol=1e-9)  # psi / |psi|^2
    assert_allclose(ranker.compare([[3.0, 0.0]], [[1.0, 1.0]]), [1.0])


def test_odd_parameters_are_refused() -> None:
    for wrong in ({"n_pairs": 0}, {"n_pairs": "all"}, {"sampling": "both"}, {"features": 3}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LCBR(**wrong).fit(X, Y)
    for wrong in ({"radius": 0.0}, {"radius": -1.0}, {"alpha": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LCBR(**wrong).fit(X, Y)
    with pytest.raises(ValueError, match="X1 has 2 rows, X0 3"):
        LCBR(random_state=0).fit(X, Y).compare(X[:2], X[:3])


def test_pairs_of_several_blocks_are_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ranker = LCBR(n_pairs=1000, sampling="uniform", random_state=0)
    whole = clone(ranker).fit(X, Y)
    in_blocks = partial(draw_pairs, at_once=64)
    monkeypatch.setattr("toprank.methods.squared.lcbr.draw_pairs", in_blocks)
    parts = clone(ranker).fit(X, Y)
    assert parts.n_pairs_ == whole.n_pairs_ == 1000
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
    assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-9)


@pytest.mark.parametrize("n_pairs", [10**12 + 1, 10**18, 10**30])
def test_more_pairs_than_anyone_would_wait_for_are_refused(n_pairs: int) -> None:
    with pytest.raises(ValueError, match=f"n_pairs={n_pairs}"):
        LCBR(n_pairs=n_pairs).fit(X, Y)
    with pytest.raises(ValueError, match=f"n_pairs={n_pairs}"):
        LCBR(n_pairs=n_pairs).partial_fit(X, Y, classes=[0, 1])
