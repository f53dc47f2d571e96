"""The lower tail of the margins of pairs, against all of them sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from support.examples import examples
from toprank._core import PairScan

Array = NDArray[np.float64]


class Margins:
    """Every pair written out."""

    def __init__(self, seed: int, m: int, n: int, weighted: bool, ties: bool) -> None:
        rng = np.random.default_rng(seed)
        order = rng.permutation(m + n)
        self.pos, self.neg = np.sort(order[:m]), np.sort(order[m:])
        self.s = rng.normal(size=m + n) * rng.choice([1e-3, 1.0, 50.0])
        self.s = np.round(2 * self.s) / 2 if ties else self.s
        p, q = rng.uniform(0.2, 2, m), rng.uniform(0.2, 2, n)
        self.p, self.q = (p / p.sum(), q / q.sum()) if weighted else (None, None)
        self.scan = PairScan(m + n, self.pos, self.p, self.neg, self.q)
        self.scan.sort(self.s)
        self.table = self.s[self.pos][:, np.newaxis] - self.s[self.neg]
        self.weight = np.outer(p / p.sum(), q / q.sum()) if weighted else np.full((m, n), 1 / m / n)
        self.rng = rng

    def sums(self, chosen: NDArray[Any]) -> Array:
        """What the chosen pairs of every row weigh."""
        out = np.zeros(len(self.s))
        out[self.pos], out[self.neg] = (
            (self.weight * chosen).sum(axis=1),
            (self.weight * chosen).sum(axis=0),
        )
        return out

    def quantile(self, share: float) -> float:
        flat = np.argsort(self.table, axis=None, kind="stable")
        upto = np.cumsum(self.weight.ravel()[flat])
        place = min(int(np.searchsorted(upto, share * (1 - 1e-13))), len(flat) - 1)
        return float(self.table.ravel()[flat[place]])


sizes = st.integers(1, 60)


@examples(80)
@given(st.integers(0, 10**6), sizes, sizes, st.booleans(), st.booleans(), st.floats(0.0, 1.0))
def test_quantile_and_marginals(
    seed: int, m: int, n: int, weighted: bool, ties: bool, share: float
) -> None:
    pairs = Margins(seed, m, n, weighted, ties)
    level = pairs.scan.quantile(share)
    assert level in pairs.table
    below, upto = pairs.weight[pairs.table < level].sum(), pairs.weight[pairs.table <= level].sum()
    assert below - 1e-12 <= share <= upto + 1e-12
    got_below, got_at = pairs.scan.marginals(level)
    assert_allclose(got_below, pairs.sums(pairs.table < level), atol=1e-14)
    assert_allclose(got_at, pairs.sums(pairs.table == level), atol=1e-14)


@pytest.mark.parametrize("ties", [False, True])
def test_every_pair_is_some_quantile(ties: bool) -> None:
    pairs = Margins(3, 40, 55, False, ties)
    margins = np.sort(pairs.table, axis=None)
    for k in range(0, len(margins), 7):
        assert pairs.scan.quantile((k + 0.5) / len(margins)) == margins[k]
        # From a whole number of pairs on the next one is strictly more.
        share = (k + 1) / len(margins)
        assert pairs.scan.quantile(share * (1 - 1e-12)) == margins[k]
        after = min(k + 1, len(margins) - 1)
        assert pairs.scan.quantile(share * (1 + 1e-12), True) == margins[after]


def test_quantiles_of_many_pairs_are_found_without_listing_them() -> None:
    pairs = Margins(5, 700, 900, False, False)
    margins = np.sort(pairs.table, axis=None)
    for k in (0, 1, 1000, 314159, len(margins) - 1):
        assert pairs.scan.quantile((k + 0.5) / len(margins)) == margins[k]
    equal = PairScan(4000, np.arange(2000), None, np.arange(2000, 4000), None)
    equal.sort(np.full(4000, 0.1))
    assert equal.quantile(0.3) == 0.0
    assert_allclose(equal.marginals(0.0)[1], 1 / 2000)


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_between_two_levels(weighted: bool) -> None:
    pairs = Margins(7, 30, 40, weighted, True)
    low, high = pairs.quantile(0.2), pairs.quantile(0.6)
    count, first, second, weight, margins = pairs.scan.list(low, high, 10**6)
    chosen = (pairs.table >= low) & (pairs.table <= high)
    assert count == chosen.sum() == len(first)
    assert_array_equal(margins, pairs.s[first] - pairs.s[second])
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == count
    assert_allclose(weight.sum(), pairs.weight[chosen].sum(), rtol=1e-12)
    assert_allclose(np.bincount(first, weight, 70)[pairs.pos], pairs.sums(chosen)[pairs.pos])
    short = pairs.scan.list(low, high, 5)
    assert short[0] == count
    assert len(short[1]) == 0
    assert pairs.scan.list(-np.inf, np.inf, 1200)[0] == 1200


@examples(60)
@given(
    st.integers(0, 10**6),
    sizes,
    sizes,
    st.booleans(),
    st.booleans(),
    st.floats(0.01, 0.99),
    st.sampled_from([1e-6, 1e-2, 1.0, 30.0]),
)
def test_the_reach_at_which_duals_sum_to_a_share(
    seed: int, m: int, n: int, weighted: bool, ties: bool, share: float, width: float
) -> None:
    pairs = Margins(seed, m, n, weighted, ties)
    reach, value, total, bent = pairs.scan.balance(width, share)
    u = reach - pairs.table
    dual = np.clip(u / width, 0.0, 1.0)
    rounding = 1e-14 * np.abs(pairs.s).max() / width + 1e-12
    assert abs(total - share) <= rounding
    assert_allclose((pairs.weight * dual).sum(), share, atol=rounding)
    on = (u > 0) & (u < width)
    if rounding < 1e-10:
        h = np.where(on, u * u / (2 * width), np.maximum(u - width / 2, 0) * (u > 0))
        assert_allclose(value, (pairs.weight * h).sum(), rtol=1e-9, atol=1e-12)
    v, _ = pairs.scan.slope(width)
    expected = pairs.sums(dual)
    expected[pairs.pos] *= -1
    assert_allclose(v, expected, atol=10 * rounding)
    for of_positives in (True, False):
        rows, first, last, others = pairs.scan.windows(of_positives)
        assert (np.diff(first) >= 0).all()
        assert (np.diff(last) >= 0).all()
        table = pairs.table if of_positives else pairs.table.T
        place = {row: k for k, row in enumerate(pairs.pos if of_positives else pairs.neg)}
        beside = {row: k for k, row in enumerate(pairs.neg if of_positives else pairs.pos)}
        for row, begin, end in zip(rows, first, last, strict=True):
            inside = table[place[row], [beside[other] for other in others[begin:end]]]
            assert ((reach - inside > -1e-9) & (reach - inside < width + 1e-9)).all()
    if not ties and rounding < 1e-10:
        windows = pairs.scan.windows()
        assert abs(int((windows[2] - windows[1]).sum()) - int(on.sum())) <= 2
    assert bent >= 0
