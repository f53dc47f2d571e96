"""The fused pass over rows against NumPy, of every storage and loss, and the rows it thins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from support.storages import STORAGES
from toprank._core import row_losses_along, row_sides, row_terms, rows_of_places, thin_rows
from toprank.designs import Ask, as_design
from toprank.inputs.class_split import Split
from toprank.losses import RowLoss, ThresholdLoss
from toprank.rounding import gamma
from toprank.surrogates import (
    Exponential,
    Logistic,
    PowerExponential,
    SmoothedHinge,
    SquaredHinge,
    Steepened,
    Surrogate,
)

LOGISTIC, SQUARED, EXPONENTIAL = Logistic(), SquaredHinge(), Exponential()
SIDES: list[tuple[Surrogate, Surrogate]] = [
    (LOGISTIC, LOGISTIC),
    (SQUARED, SQUARED),
    (EXPONENTIAL, EXPONENTIAL),
    (LOGISTIC, Steepened(LOGISTIC, 3.0)),
    (SQUARED, Steepened(SQUARED, 5.0)),
    (EXPONENTIAL, Steepened(EXPONENTIAL, 2.0)),
    (EXPONENTIAL, PowerExponential(4.0)),
    (LOGISTIC, PowerExponential(2.0)),
    (SQUARED, LOGISTIC),
    (EXPONENTIAL, SQUARED),
]
sides = pytest.mark.parametrize(
    ("l", "h"),
    SIDES,
    ids=[f"{l.name}, {h.name}" for l, h in SIDES],  # noqa: E741
)


def problem(n: int, d: int, l: Surrogate, h: Surrogate) -> tuple[Any, Any, ThresholdLoss]:  # noqa: E741
    rng = np.random.default_rng(n + d)
    X = np.round(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7), 2).astype(np.float32)
    weight = rng.random(n) * (rng.random(n) < 0.8)
    X[: n // 7] = 0.0
    positive = rng.random(n) < 0.3
    positive[:2], weight[:2] = [True, False], 1.0
    split = Split.of(positive, weight)
    return X.astype(np.float64), rng.normal(size=d) / np.sqrt(d), ThresholdLoss(split, l, h)


def by_numpy(loss: ThresholdLoss, z: Any) -> tuple[float, Any, Any, Any, float]:
    """Value, slopes, curvatures, shifts and what these may cost, row by row."""
    v, c, u = np.zeros(len(z)), np.zeros(len(z)), np.zeros(len(z))
    value = bound = 0.0
    for rows, weight, side, sign in (
        (loss.split.pos, loss.split.p, loss.surrogate, -1.0),
        (loss.split.neg, loss.split.q, loss.below, 1.0),
    ):
        bad = sign * z[rows]
        pieces = side.pieces()
        assert pieces is not None
        value += weight @ side.value(bad)
        v[rows], c[rows] = sign * weight * side.slope(bad), weight * side.curvature(bad)
        k, least = np.where(bad > 0, pieces.high, pieces.low), min(pieces.high, pieces.low)
        if pieces.kind == "squared_hinge":
            u[rows] = weight * side.slope(bad)
            bound += weight @ np.square(side.slope(bad)) / 4.0 / least
        else:
            u[rows] = c[rows]
            bound += c[rows] @ k / least
    return value, v, c, u, bound


@sides
@pytest.mark.parametrize("storage", STORAGES)
def test_one_reading_gives_what_numpy_gives(
    storage: str,
    l: Surrogate,  # noqa: E741
    h: Surrogate,
    tmp_path: Path,
) -> None:
    X, w, loss = problem(301, 11, l, h)
    design = as_design(STORAGES[storage](X, tmp_path), n_threads=1)
    z = X @ w - 0.3
    value, v, c, u, bound = by_numpy(loss, z)
    for single, rtol, atol in ((False, 1e-12, 1e-14), (True, 2e-5, 2e-6)):
        ask = Ask(loss, w, -0.3, shift=True, scores=True, squares=True, single=single)
        sums = design.reduce(ask)
        assert sums.value == pytest.approx(value, rel=rtol)
        assert_allclose(sums.pull, X.T @ v, rtol=rtol, atol=atol * 10)
        assert_allclose(sums.shifted_pull, X.T @ u, rtol=rtol, atol=atol * 10)
        assert sums.slope == pytest.approx(v.sum(), rel=rtol, abs=atol)
        assert sums.curvature == pytest.approx(c.sum(), rel=rtol)
        assert sums.shift == pytest.approx(u.sum(), rel=rtol)
        assert sums.bound == pytest.approx(bound, rel=rtol)
        assert_allclose(sums.scores, z, atol=atol * 10)
        assert_allclose(sums.squares, np.square(X).sum(axis=1), rtol=rtol)


@pytest.mark.parametrize("d", [1, 3, 4, 7, 8, 9, 17, 64, 3000])
@pytest.mark.parametrize("n", [2, 5, 129, 700])
def test_every_width_and_number_of_rows(n: int, d: int) -> None:
    X, w, loss = problem(n, d, LOGISTIC, SQUARED)
    value, v, _, u, _ = by_numpy(loss, X @ w + 0.1)
    for stored in (X, np.asfortranarray(X), X[:, ::-1][:, ::-1].astype(np.float32)):
        sums = as_design(stored, 1).reduce(Ask(loss, w, 0.1, shift=True))
        assert sums.value == pytest.approx(value, rel=1e-12)
        assert_allclose(sums.pull, X.T @ v, atol=1e-12)
        assert_allclose(sums.shifted_pull, X.T @ u, atol=1e-12)


@pytest.mark.parametrize("side", [LOGISTIC, EXPONENTIAL, SQUARED])
def test_losses_are_good_to_a_few_units_however_far_the_score(side: Surrogate) -> None:
    z = np.concatenate([-np.geomspace(1e-300, 700, 400), np.geomspace(1e-300, 700, 400), [0.0]])
    loss = RowLoss(np.ones(len(z)), side, -np.ones(len(z)))
    terms = loss.compiled
    assert terms is not None
    kernel = (terms.tilt, terms.positives, terms.negatives)
    for k, score in enumerate(z):  # the sum of one row is its value
        sums, slope, curvature = row_terms(z[k : k + 1], terms.tilt[k : k + 1], *kernel[1:], 1)
        one = np.array([score])
        assert sums[0] == pytest.approx(float(side.value(one)[0]), rel=4e-15, abs=1e-307)
        assert slope[0] == pytest.approx(float(side.slope(one)[0]), rel=4e-15, abs=1e-307)
        assert curvature[0] == pytest.approx(float(side.curvature(one)[0]), rel=6e-15, abs=1e-307)


def test_what_overflows_is_infinite_and_what_is_no_number_is_told() -> None:
    split = Split.of(np.array([True, False]))
    X = np.array([[1.0], [1.0]])
    exponential = ThresholdLoss(split, EXPONENTIAL, PowerExponential(1e6))
    assert as_design(X).reduce(Ask(exponential, np.array([0.5]))).value == np.inf
    logistic = ThresholdLoss(split, LOGISTIC, LOGISTIC)
    assert np.isnan(as_design(X * 1e100).reduce(Ask(logistic, np.array([1e300]))).value)
    assert as_design(X).reduce(Ask(logistic, np.array([1e300]))).value == pytest.approx(1e300)


def test_absent_rows_count_for_nothing_whatever_they_are() -> None:
    X = np.array([[1.0], [2.0], [1e100]])
    loss = ThresholdLoss(
        Split.of(np.array([True, False, True]), np.array([1, 1, 0.0])), EXPONENTIAL, EXPONENTIAL
    )
    few = ThresholdLoss(Split.of(np.array([True, False])), EXPONENTIAL, EXPONENTIAL)
    for ask in ({"shift": True}, {"per_length": 1e-15, "shift": True}):
        whole = as_design(X).reduce(Ask(loss, np.array([1.5]), **ask))
        part = as_design(X[:2]).reduce(Ask(few, np.array([1.5]), **ask))
        assert (whole.value, whole.slope, whole.bounds) == (part.value, part.slope, part.bounds)
        assert_array_equal(whole.pull, part.pull)


@pytest.mark.parametrize("storage", ["rows", "columns, float32", "CSR"])
def test_the_bits_do_not_depend_on_the_threads(storage: str, tmp_path: Path) -> None:
    X, w, loss = problem(160_000, 13, LOGISTIC, LOGISTIC)
    stored = STORAGES[storage](X, tmp_path)
    ask = Ask(loss, w, 0.2, shift=True, scores=True)
    one, *others = (as_design(stored, n_threads=k).reduce(ask) for k in (1, 2, 5))
    for other in others:
        assert (one.value, one.slope, one.bound) == (other.value, other.slope, other.bound)
        assert_array_equal(one.pull, other.pull)
        assert_array_equal(one.shifted_pull, other.shifted_pull)
        assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_line_is_that_of_the_scores(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    _, _, loss = problem(500, 2, LOGISTIC, PowerExponential(2.0))
    terms = loss.compiled
    assert terms is not None
    z, dz = (rng.normal(size=500).astype(dtype) for _ in range(2))
    found = row_losses_along(z, dz, 0.4, terms.tilt, terms.positives, terms.negatives, 1)
    value, v, c, _, _ = by_numpy(loss, z.astype(float) + 0.4 * dz.astype(float))
    rtol = 1e-5 if dtype == np.float32 else 1e-12
    assert_allclose(
        found, [value, v @ dz.astype(float), c @ np.square(dz.astype(float))], rtol=rtol
    )


@pytest.mark.parametrize("long", [False, True])
def test_thinned_rows_stand_for_all(long: bool) -> None:
    """Chances are what they should be: in the mean over seeds the Hessian is that of all rows."""
    rng = np.random.default_rng(1)
    n, d = 3000, 4
    X, z = rng.normal(size=(n, d)), 3.0 * rng.normal(size=n)
    if long:
        X[rng.random(n) < 0.01] *= 50.0
    loss = RowLoss(rng.random(n), LOGISTIC, rng.choice([-1.0, 1.0], n))
    terms = loss.compiled
    assert terms is not None
    kernel = (terms.tilt, terms.positives, terms.negatives)
    squares = np.square(X).sum(axis=1)
    c = loss.curvature_at(z)
    whole = (X.T * c) @ X
    grams = []
    for seed in range(200):
        rows, curvature = thin_rows(z, squares, squares.mean(), *kernel, 200.0, seed, 1)
        assert len(rows) <= 201
        assert (np.diff(rows) > 0).all()
        grams.append((X[rows].T * curvature) @ X[rows])
    spread = np.std(grams, axis=0) / np.sqrt(200)
    assert (np.abs(np.mean(grams, axis=0) - whole) <= 5.0 * spread + 1e-12).all()
    assert np.linalg.norm(grams[0] - whole) < 0.3 * np.linalg.norm(whole)
    again = thin_rows(z, squares, squares.mean(), *kernel, 200.0, 7, 1)
    assert_array_equal(again[0], thin_rows(z, squares, squares.mean(), *kernel, 200.0, 7, 2)[0])


def test_a_loss_of_python_falls_back_and_says_what_it_cannot() -> None:
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(50, 3)), rng.normal(size=3)
    loss = RowLoss(np.ones(50), SmoothedHinge(0.5))
    assert loss.compiled is None
    assert as_design(X).reduce(Ask(loss, w)).value == pytest.approx(loss.value(X @ w))
    with pytest.raises(TypeError, match="compiled kernels know"):
        as_design(X).reduce(Ask(loss, w, scores=True))


def test_arrays_of_other_lengths_are_refused() -> None:
    _, _, loss = problem(10, 2, LOGISTIC, LOGISTIC)
    terms = loss.compiled
    assert terms is not None
    with pytest.raises(ValueError, match="one weight a row"):
        row_terms(np.zeros(9), terms.tilt, terms.positives, terms.negatives, 1)
    with pytest.raises(ValueError, match="one weight a row"):
        as_design(np.zeros((9, 2))).reduce(Ask(loss, np.zeros(2)))
    with pytest.raises(ValueError, match="one entry a column"):
        as_design(np.zeros((10, 3))).reduce(Ask(loss, np.zeros(2)))
    with pytest.raises(ValueError, match="no such loss"):
        row_terms(np.zeros(10), terms.tilt, ("cubic", 1, 1, 0, 0), terms.negatives, 1)


@pytest.mark.parametrize("n", [1, 7, 256, 1000])
def test_rows_by_their_places_among_those_of_their_side(n: int) -> None:
    rng = np.random.default_rng(n)
    tilt = np.round(rng.normal(size=n), 1) * (rng.random(n) < 0.9)
    pos, neg = np.flatnonzero(tilt > 0), np.flatnonzero(tilt < 0)
    n_pos, n_neg, of_pos, of_neg = row_sides(tilt)
    assert (n_pos, n_neg) == (len(pos), len(neg))
    assert (of_pos, of_neg) == pytest.approx((tilt[pos].sum(), tilt[neg].sum()))
    for share in (0.1, 1.0):
        i = np.sort(rng.integers(0, max(n_pos, 1), int(share * n_pos)))  # some more than once
        j = np.sort(rng.integers(0, max(n_neg, 1), int(share * n_neg)))
        expected = np.sort(np.concatenate([pos[i], neg[j]]))
        assert_array_equal(rows_of_places(tilt, i, j), expected)


def test_the_sum_of_squares_tells_of_entries_that_are_no_numbers() -> None:
    X, w, loss = problem(300, 5, LOGISTIC, LOGISTIC)
    for single in (True, False):
        ask = Ask(loss, w, squares=True, single=single)
        assert as_design(X).reduce(ask).square_sum == pytest.approx(np.square(X).sum(), rel=1e-5)
        for bad in (np.nan, np.inf, -np.inf):
            spoilt = X.copy()
            spoilt[1, 3] = bad  # a row without weight too
            assert not as_design(spoilt).reduce(ask).square_sum <= 1e200


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize(("n", "d"), [(40, 3), (200_000, 4)])
def test_sums_are_as_good_as_their_depth_says(form: Any, n: int, d: int) -> None:
    rng = np.random.default_rng(n)
    X, v = rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n) * rng.random(n)
    # Where every score is zero the slope of the logistic loss is half of the weight, to the bit.
    loss = RowLoss(np.abs(v), LOGISTIC, np.sign(v))
    sums = as_design(form(X), n_threads=2).reduce(Ask(loss, np.zeros(d), shift=True))
    terms = -0.5 * v[:, np.newaxis] * X
    assert sums.depth < n / 5 + 200
    for column, found in zip(terms.T, sums.pull, strict=True):
        assert abs(math.fsum(column) - found) <= gamma(sums.depth + 1) * np.abs(column).sum()
