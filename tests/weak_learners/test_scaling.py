"""Columns scaled to their ranges, against the formula, near zero and far from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from support.storages import STORAGES
from toprank.designs import ScaledDesign, as_design
from toprank.inputs.class_split import Split
from toprank.weak_learners import ColumnScaling

storages = pytest.mark.parametrize("storage", STORAGES)


def some_rows() -> tuple[Any, Split]:
    """Columns with zeros and without, and a constant one; a row that does not count stands out."""
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, size=(30, 5)) / 4.0
    X[:, 1] = rng.integers(1, 9, 30) / 4.0
    X[:, 2] = 3.0
    X[7] = 64.0
    weight = np.ones(30)
    weight[7] = 0.0
    return X, Split.of(np.arange(30) % 3 == 0, weight)


def scaled(X: Any, rows: Any) -> Any:
    """h of the columns that vary over the rows."""
    low, high = X[rows].min(axis=0), X[rows].max(axis=0)
    varies = high > low
    return (2.0 * (X - low)[:, varies] / (high - low)[varies] - 1.0)[rows]


@storages
def test_the_formula(storage: str, tmp_path: Path) -> None:
    X, split = some_rows()
    rows = split.rows
    scaling = ColumnScaling.of(as_design(STORAGES[storage](X, tmp_path), 1), split)
    assert_array_equal(scaling.varies, [True, True, False, True, True])
    assert scaling.largest == np.abs(X[rows][:, scaling.varies]).max()
    columns, truth = np.flatnonzero(scaling.varies), scaled(X, rows)
    for h, k in zip(truth.T, columns, strict=True):
        assert_allclose(scaling.apply(X[rows, k], int(k)), h, rtol=1e-14, atol=1e-14)
        assert_allclose(scaling.slope[k] * X[rows, k] + scaling.at_zero[k], h, atol=1e-14)
    assert scaling.slope[2] == scaling.at_zero[2] == 0.0


@pytest.mark.parametrize(
    ("storage", "change"),
    [
        (storage, change)
        for storage in STORAGES
        for change in ("none", "far", "tiny", "huge")
        if "float32" not in storage or change in ("none", "far")  # others are beyond its range
    ],
)
def test_half_of_the_scaled_columns(storage: str, change: str, tmp_path: Path) -> None:
    X, split = some_rows()
    X[:, 1] += 4096.0 * (change == "far")
    X *= {"tiny": 2.0**-300, "huge": 2.0**300}.get(change, 1.0)
    design, rows = as_design(STORAGES[storage](X, tmp_path), 1), split.rows
    half = ColumnScaling.of(design, split).half_of(design)
    assert isinstance(half, ScaledDesign) is (change == "none")
    # But for a constant: what is common to all rows is not seen by differences of scores.
    found, truth = half.take(rows), 0.5 * scaled(X, rows)
    assert_allclose(found - found[0], truth - truth[0], rtol=0, atol=1e-15)
    gram = half.gram(np.ones(len(rows)), rows)
    assert np.isfinite(gram).all()
    assert (np.diag(gram) > 0.0).all()
    if change == "far":  # a column that every row stores begins at zero
        assert found[:, 1].min() == 0.0
    assert_array_equal(design.take(np.arange(30)), X)


SPLIT = Split.of(np.array([True, False, False]))


def of_width(width: float) -> ColumnScaling:
    X = np.array([[0.0, 0.0], [width, 1.0], [0.0, 0.5]])
    return ColumnScaling.of(as_design(X), SPLIT)


@pytest.mark.parametrize("width", [5e-324, 1e-310, 2.0 / np.finfo(np.float64).max])
def test_a_column_too_narrow_for_its_slope_is_refused(width: float) -> None:
    scaling = of_width(width)
    assert_array_equal(scaling.varies, [True, True])
    with pytest.raises(ValueError, match=r"Column 0 of X goes from 0 to .* power of two"):
        _ = scaling.slope


def test_the_narrowest_column_that_is_taken() -> None:
    width = float(np.nextafter(2.0 / np.finfo(np.float64).max, 1.0))
    assert_array_equal(of_width(width).slope, [2.0 / width, 2.0])
