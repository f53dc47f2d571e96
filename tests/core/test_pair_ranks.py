"""PairRanks: the squared hinge of all pairs against the m x n table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from toprank._core import PairRanks

Array = NDArray[np.float64]


class Table:
    """Every pair written out."""

    def __init__(self, s: Array, pos: Any, neg: Any, p: Array, q: Array) -> None:
        self.pos, self.neg, c = pos, neg, np.outer(p, q)
        u = np.maximum((1.0 - s[pos])[:, np.newaxis] + s[neg], 0.0)
        self.value, self.dual, self.bend = float((c * u * u).sum()), 2.0 * c * u, 2.0 * c * (u > 0)

    def slope(self, n: int) -> Array:
        v = np.zeros(n)
        v[self.pos], v[self.neg] = -self.dual.sum(axis=1), self.dual.sum(axis=0)
        return v

    def curvature(self, r: Array) -> Array:
        pull = self.bend * (r[self.pos][:, np.newaxis] - r[self.neg])
        out = np.zeros(len(r))
        out[self.pos], out[self.neg] = pull.sum(axis=1), -pull.sum(axis=0)
        return out


def classes(n: int, share: float, weighted: bool, seed: int) -> tuple[Any, ...]:
    """Rows of two classes, one row in ten in neither, and their weights."""
    rng = np.random.default_rng(seed)
    side = rng.permutation(np.arange(n) < max(1, int(share * n)))
    used = rng.random(n) > 0.1
    used[[np.argmax(side), np.argmin(side)]] = True
    pos, neg = np.flatnonzero(side & used), np.flatnonzero(~side & used)
    weights = tuple(rng.uniform(0.1, 2, len(k)) if weighted else None for k in (pos, neg))
    p, q = (
        np.full(len(k), 1 / len(k)) if w is None else w
        for k, w in zip((pos, neg), weights, strict=True)
    )
    return PairRanks(n, pos, weights[0], neg, weights[1]), pos, neg, p, q, rng


SCORES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "small": lambda rng, n: 1e-3 * rng.normal(size=n),
    "ties": lambda rng, n: np.round(2 * rng.normal(size=n)) / 2,
    "equal": lambda rng, n: np.full(n, 0.25),
    # All of a class in one part of the table but for a few.
    "far": lambda rng, n: rng.normal(size=n) + 1e6 * (rng.random(n) < 0.02),
}


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.2, 0.8])
@pytest.mark.parametrize("n", [2, 3, 17, 200, 1500])
def test_sums_slopes_and_curvature_are_those_of_the_table(
    n: int, share: float, weighted: bool, scores: str
) -> None:
    ranks, pos, neg, p, q, rng = classes(n, share, weighted, seed=n)
    s = SCORES[scores](rng, n)
    truth, r = Table(s, pos, neg, p, q), rng.normal(size=n)
    v, value, total = ranks.slope(s)
    assert_allclose(value, truth.value, rtol=1e-12)
    assert_allclose(total, truth.dual.sum(), rtol=1e-12)
    assert_allclose(v, truth.slope(n), rtol=1e-11, atol=1e-12 * abs(v).max())
    curved = truth.curvature(r)
    assert_allclose(ranks.curvature(r), curved, rtol=1e-9, atol=1e-11 * max(abs(curved).max(), 1))


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_a_search_ends_where_little_of_the_slope_is_left(share: float) -> None:
    ranks, pos, neg, p, q, rng = classes(300, share, True, seed=1)
    s, r = rng.normal(size=300), rng.normal(size=300)
    linear, square = 0.1, 0.2
    slope = linear + float(ranks.slope(s)[0] @ r)
    r, linear, slope = -np.sign(slope) * r, -np.sign(slope) * linear, -abs(slope)
    for first in (1.0, 0.01, 50.0):
        theta, moved, v, value, left = ranks.search(s, r, slope, linear, square, 0.01, first)
        assert_allclose(moved, s + theta * r)
        truth = Table(moved, pos, neg, p, q)
        assert_allclose(value, truth.value, rtol=1e-12)
        assert_allclose(v, truth.slope(300), atol=1e-10)
        assert_allclose(left, linear + theta * square + truth.slope(300) @ r, atol=1e-9)
        assert abs(left) <= 0.01 * abs(slope)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_thinned_pairs_stand_for_all(share: float, weighted: bool) -> None:
    n = 60
    ranks, pos, neg, p, q, rng = classes(n, share, weighted, seed=2)
    s = rng.normal(size=n)
    ranks.slope(s)
    truth = np.zeros((n, n))
    truth[np.ix_(pos, neg)] = Table(s, pos, neg, p, q).bend
    truth += truth.T

    def listed(most: float) -> Array:
        rows, weights, last, others, other_weights = ranks.thinned(most)
        assert (np.diff(last) >= 0).all()
        found = np.zeros((n, n))
        for row, weight, upto in zip(rows, weights, last, strict=True):
            found[row, others[:upto]] = weight * other_weights[:upto]
        return found + found.T

    assert_allclose(listed(np.inf), truth, atol=1e-15)
    some = listed(15.0)
    assert np.count_nonzero(some.sum(axis=0)) <= 34
    assert 0.6 < some.sum() / truth.sum() < 1.6
    assert not some[truth == 0].any()


def test_what_cannot_be_right_is_refused() -> None:
    one, two = np.array([0]), np.array([1])
    with pytest.raises(IndexError):
        PairRanks(1, one, None, two, None)
    with pytest.raises(ValueError, match="both classes"):
        PairRanks(2, one, None, np.empty(0, np.int64), None)
    ranks = PairRanks(2, one, np.ones(1), two, None)
    with pytest.raises(ValueError, match="the slope comes first"):
        ranks.curvature(np.zeros(2))
    with pytest.raises(ValueError, match="the slope comes first"):
        ranks.thinned(5.0)
    with pytest.raises(ValueError, match="one score a row"):
        ranks.slope(np.zeros(3))
    with pytest.raises(ValueError, match="leads down"):
        ranks.search(np.zeros(2), np.zeros(2), 1.0, 0.0, 0.0, 0.1)


def test_scores_that_are_no_numbers_do_no_harm() -> None:
    ranks = PairRanks(6, np.array([0, 1]), None, np.array([2, 3, 4, 5]), None)
    for bad in (np.nan, np.inf, -np.inf):
        s = np.zeros(6)
        s[[1, 4]] = bad
        v, _, _ = ranks.slope(s)
        assert len(v) == 6
