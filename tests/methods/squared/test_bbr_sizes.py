"""The squared loss on columns and rows of very different size, against exact values."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from toprank import BBR, BBRCV, LCBR
from toprank.methods.squared.bbr import bbr_path
from toprank.metrics import auc


def exact_value(X: Any, y: Any, w: Any, alpha: float) -> Fraction:
    """The objective at w in rational arithmetic, pair by pair."""
    s = [
        sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, w, strict=True))
        for row in X
    ]
    above = [one for one, label in zip(s, y, strict=True) if label]
    below = [one for one, label in zip(s, y, strict=True) if not label]
    loss = sum((1 - (one - other)) ** 2 for one in above for other in below)
    ridge = Fraction(alpha) * sum(Fraction(float(one)) ** 2 for one in w)
    return (Fraction(loss) / (len(above) * len(below)) + ridge) / 2


def one_wide_column(width: float, offset: float = 0.0, n: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (np.arange(n) < n // 4).astype(int)
    X = rng.normal(size=(n, 5))
    X[y == 1, 1:] += 1.0
    X[:, 0] = offset + width * X[:, 0]
    return X, y


@pytest.mark.parametrize(("width", "offset"), [(1e7, 0.0), (1e8, 0.0), (1e9, 0.0), (1e9, 1.6e9)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("radius", [None, 0.2, 5.0])
def test_a_wide_column_does_not_hide_the_others(
    width: float, offset: float, form: Any, radius: float | None
) -> None:
    X, y = one_wide_column(width, offset)
    narrow = BBR(1e-3, radius).fit(X[:, 1:], y)
    ranker = BBR(1e-3, radius).fit(form(X), y)
    # The weights of the others with none for this column are among those to choose from.
    assert ranker.certificate_.dual <= narrow.certificate_.primal
    assert ranker.certificate_.primal <= narrow.certificate_.primal
    assert ranker.certificate_.holds(1e-9)
    assert auc(y, ranker.decision_function(form(X))) > 0.9
    path = bbr_path(form(X), y, alphas=[1e-3, 1.0])
    assert all(one.holds(1e-9) for one in path.certificates)


def test_a_wide_column_sets_neither_the_sample_nor_the_grid() -> None:
    X, y = one_wide_column(1e9)
    drawn = LCBR(1e-3, n_pairs=20_000, random_state=0).fit(X, y)
    assert drawn.certificate_.holds(1e-6)
    assert auc(y, drawn.decision_function(X)) > 0.9
    assert auc(y, BBRCV().fit(X, y).decision_function(X)) > 0.9


@pytest.mark.parametrize("big", [1e3, 1e5, 1e6, 1e7, 1e8])
@pytest.mark.parametrize(("alpha", "radius"), [(1e-3, None), (1.0, None), (0.0, 1.0), (0.0, None)])
@pytest.mark.parametrize("seed", range(4))
def test_a_huge_row_is_in_the_bounds(
    big: float, alpha: float, radius: float | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 4))
    y = (np.arange(20) < 6).astype(int)
    X[y == 1] += 1.0
    X[3] *= big
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ranker = BBR(alpha, radius, solver="moments").fit(X, y)
    certificate = ranker.certificate_
    value = exact_value(X, y, ranker.coef_[0], alpha)
    assert certificate.dual <= value <= certificate.primal
    assert bool(seen) == (not certificate.holds(1e-4))


def test_rows_settle_what_the_moments_have_lost() -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    y = (np.arange(20) < 6).astype(int)
    X[y == 1] += 1.0
    X[3] *= 1e6
    whole = BBR(1e-3).fit(X, y)
    assert whole.certificate_.holds(1e-4)
    # Blocks have no rows to go back to.
    blocks = BBR(1e-3).partial_fit(X[:10], y[:10], classes=[0, 1]).partial_fit(X[10:], y[10:])
    with pytest.warns(match="relative gap"):
        assert blocks.certificate_.relative_gap > 1e-4
    assert exact_value(X, y, whole.coef_[0], 1e-3) <= exact_value(X, y, blocks.coef_[0], 1e-3)


def test_moments_know_their_rounding() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6)) * 10.0 ** rng.uniform(-6, 6, 6) + 10.0 ** rng.uniform(0, 8, 6)
    y = (rng.uniform(size=300) < 0.3).astype(int)
    moments = BBR().partial_fit(X, y, classes=[0, 1]).moments_
    for side, label in ((moments.positive, 1), (moments.negative, 0)):
        rows = [[Fraction(float(one)) for one in row] for row in X[y == label]]
        mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        off = np.array(
            [float(abs(m - Fraction(float(f)))) for m, f in zip(mean, side.mean, strict=True)]
        )
        assert (off <= side.rounding.mean).all()
        for j in range(6):
            true = sum((row[j] - mean[j]) ** 2 for row in rows) / len(rows)
            found = Fraction(float(side.scatter[j, j])) / Fraction(side.weight)
            size, lean = side.rounding.size[j], side.rounding.mean[j]
            assert float(abs(true - found)) <= side.rounding.share * size**2 + lean * (
                2 * size + lean
            )
    assert_allclose(moments.positive.rounding.size, X[y == 1].std(axis=0), rtol=0.5)
