"""The urn and its envelopes against enumeration, fractions and reference cases."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from toprank._core import urn_crossing
from toprank.guarantees.bounds import envelope, lower_quantile, upper_quantile
from truth.guarantees import guarantee_case


def whole(values):
    return np.array(values, dtype=np.int64)


def counts(n, m):
    """V(0), ..., V(n-1) of every order of the urn."""
    for places in combinations(range(n + m), n):
        yield [place - c for c, place in enumerate(places)]


def law(n, m, c):
    """P(V(c) = v), in fractions."""
    total = comb(n + m, m)
    return [Fraction(comb(v + c, v) * comb(m - v + n - c - 1, m - v), total) for v in range(m + 1)]


@pytest.mark.parametrize("case", guarantee_case("crossing"))
def test_crossing_probabilities_are_those_of_the_cases(case):
    bounds = (whole(case[name]) for name in ("grid", "lower", "upper"))
    found = urn_crossing(case["n"], case["m"], *bounds)
    assert found == pytest.approx(float(Fraction(case["probability"])), abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 5), (5, 2), (6, 6), (4, 7)])
def test_crossing_probabilities_equal_enumeration(n, m):
    rng = np.random.default_rng(n + 10 * m)
    for _ in range(20):
        grid = np.sort(rng.choice(n, size=rng.integers(1, n + 1), replace=False)).astype(np.int64)
        lower = np.sort(rng.integers(0, m + 1, len(grid)))
        upper = np.minimum(lower + rng.integers(0, m + 1, len(grid)), m)
        inside = [
            all(lo <= v[c] <= up for c, lo, up in zip(grid, lower, upper, strict=True))
            for v in counts(n, m)
        ]
        expected = 1 - Fraction(sum(inside), len(inside))
        assert urn_crossing(n, m, grid, lower, upper) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("case", guarantee_case("quantiles"))
def test_quantiles_are_those_of_the_cases(case):
    urn = case["n"], case["m"], case["c"], case["level"]
    assert upper_quantile(*urn) == case["upper"]
    assert lower_quantile(*urn) == case["lower"]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 9), (9, 3), (19, 1), (20, 20)])
@pytest.mark.parametrize("level", [Fraction(1, 20), Fraction(1, 3), Fraction(1, 1000)])
def test_quantiles_are_those_of_the_law(n, m, level):
    """Levels that a probability may equal: 1/20 of one item among twenty."""
    for c in range(n):
        p = law(n, m, c)
        least = min(q for q in range(m + 1) if sum(p[q + 1 :]) <= level)
        largest = max(a for a in range(m + 1) if sum(p[:a]) <= level)
        assert upper_quantile(n, m, c, float(level)) == least
        assert lower_quantile(n, m, c, float(level)) == largest


def test_beyond_the_calibration_items_nothing_is_known():
    assert upper_quantile(5, 7, 5, 0.05) == lower_quantile(5, 7, 5, 0.05) == 7
    assert upper_quantile(5, 7, -1, 0.05) == lower_quantile(5, 7, -1, 0.05) == 0


@pytest.mark.parametrize("case", guarantee_case("envelopes"))
def test_envelopes_are_those_of_the_cases(case):
    last = case["n"] - 1 if case["c_max"] is None else case["c_max"]
    found = envelope(case["n"], case["m"], case["delta"], upper=case["side"] == "upper", last=last)
    assert found.grid.tolist() == case["grid"]
    assert found.values.tolist() == case["values"]
    assert found.local_level == pytest.approx(case["local_level"], abs=1e-12)
    assert found.error == pytest.approx(case["error"], abs=1e-9)


@pytest.mark.parametrize("upper", [True, False])
def test_an_envelope_holds_as_often_as_it_says(upper):
    """Between the places of its grid and beyond, too."""
    n, m = 40, 25
    bound = envelope(n, m, 0.2, upper=upper, last=20)
    rng, broken = np.random.default_rng(0), 0
    places = np.arange(n + 1)
    for _ in range(2000):
        new = np.sort(rng.permutation(n + m)[:m])
        calibration = np.setdiff1d(np.arange(n + m), new)
        v = np.append(np.searchsorted(new, calibration), m)
        broken += bool((v > bound(places)).any() if upper else (v < bound(places)).any())
    assert 0.1 < broken / 2000 <= 0.2 + 3 * (0.2 * 0.8 / 2000) ** 0.5
    assert broken / 2000 == pytest.approx(bound.error, abs=0.03)


def test_long_lists_and_many_rows_do_not_lose_precision():
    for n, m in ((100_000, 1000), (300, 100_000)):
        bound = envelope(n, m, 0.05, upper=True, last=n // 2)
        assert 0.04 < bound.error <= 0.05
        assert (np.diff(bound.values) >= 0).all()


def test_before_the_first_place_nothing_comes_and_after_the_last_all():
    upper, lower = (envelope(5, 7, 0.2, upper=side, last=2) for side in (True, False))
    assert (upper(-1), upper(3), upper(5)) == (0, 7, 7)
    assert (lower(-1), lower(5), lower(9)) == (0, 7, 7)
    assert lower(4) == lower(2) < 7


def test_malformed_places_are_refused():
    with pytest.raises(ValueError, match="places rise"):
        urn_crossing(3, 3, whole([1, 1]), whole([0, 0]), whole([3, 3]))
    with pytest.raises(ValueError, match="two bounds"):
        urn_crossing(3, 3, whole([1]), whole([0, 0]), whole([3]))
