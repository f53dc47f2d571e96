"""What designs tell of the size of their rows: the bounds that certificates are made of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from toprank.designs import PairDesign, ScaledDesign, as_design
from toprank.rounding import STEPS, gamma

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 6)) * 10.0 ** RNG.uniform(-4, 4, 6) * (RNG.uniform(size=(1500, 6)) > 0.3)
FORMS = [np.asarray, np.asfortranarray, sparse.csr_array, lambda x: x.astype(np.float32)]


def designs(form: Any) -> list[tuple[Any, Any]]:
    """Designs of every kind, and the same as arrays."""
    base, columns = as_design(form(X)), np.array([0, 2, 5])
    plain = np.asarray(base.X.toarray() if sparse.issparse(base.X) else base.X, dtype=np.float64)
    first, second = RNG.integers(0, 1500, (2, 400))
    scale = np.array([2.0, 1e-3, 1e3])
    return [
        (base, plain),
        (PairDesign(base, first, second), plain[first] - plain[second]),
        (ScaledDesign(base, columns, scale), plain[:, columns] * scale),
    ]


@pytest.mark.parametrize("form", FORMS, ids=["C", "F", "csr", "float32"])
def test_sums_of_absolute_values(form: Any) -> None:
    for design, plain in designs(form):
        n, d = plain.shape
        w, v = RNG.normal(size=d), RNG.normal(size=n)
        assert_allclose(design.absolute_scores(w), np.abs(plain) @ np.abs(w), rtol=1e-12)
        assert_allclose(design.absolute_pull_back(v), np.abs(v) @ np.abs(plain), rtol=1e-12)
        weight = RNG.uniform(size=d)
        rows = np.flatnonzero(RNG.uniform(size=n) < 0.2)
        assert_allclose(design.weighted_norms(weight), plain**2 @ weight, rtol=1e-12)
        assert_allclose(design.weighted_norms(weight, rows), plain[rows] ** 2 @ weight, rtol=1e-12)
        assert_allclose(design.squared_norms(rows), (plain[rows] ** 2).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("form", FORMS, ids=["C", "F", "csr", "float32"])
def test_norms_are_no_less_than_the_rows(form: Any) -> None:
    for design, plain in designs(form):
        for row in range(0, len(plain), 50):
            square = sum((Fraction(float(one)) ** 2 for one in plain[row]), Fraction(0))
            assert Fraction(float(design.norms[row])) ** 2 >= square


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["C", "csr"])
@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-162, 1e-155, 1e-100])
def test_norms_of_rows_whose_squares_underflow(size: float, form: Any) -> None:
    tiny = np.round(X[:50]) * size
    tiny[:, 0] = 0.0
    norms = as_design(form(tiny)).norms
    for row, norm in zip(tiny, norms, strict=True):
        square = sum((Fraction(float(one)) ** 2 for one in row), Fraction(0))
        assert square <= Fraction(float(norm)) ** 2 <= 7 * square + Fraction(1e-161) ** 2
    beside = as_design(form(np.vstack([tiny, np.ones(6)]))).norms[:-1]
    assert (beside >= norms * (1.0 - 1e-12)).all()
    assert (beside <= norms * (1.0 + 1e-12) + 1e-161).all()


def test_products_are_within_their_bounds() -> None:
    for design, plain in designs(np.asarray):
        n, d = plain.shape
        w, v = RNG.normal(size=d), RNG.normal(size=n)
        s, g = design.scores(w), design.pull_back(v)
        for row in range(0, n, 100):
            terms = zip(plain[row], w, strict=True)
            true = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in terms), Fraction(0))
            off = gamma(d + STEPS) * np.linalg.norm(w) * design.norms[row]
            assert abs(true - Fraction(float(s[row]))) <= off
        for column in range(d):
            terms = zip(plain[:, column], v, strict=True)
            true = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in terms), Fraction(0))
            off = gamma(n + STEPS) * float(np.abs(v) @ design.norms)
            assert abs(true - Fraction(float(g[column]))) <= off
