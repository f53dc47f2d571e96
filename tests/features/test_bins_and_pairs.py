"""BinsAndPairs against bins, cells and information counted one by one."""

from __future__ import annotations

import pickle
from itertools import combinations
from math import log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import mutual_info_score

from toprank.features import BinsAndPairs, CaseControlBins, Squash
from toprank.features.bins_and_pairs import information, quantile_edges

RNG = np.random.default_rng(3)
X = np.column_stack(
    [
        RNG.normal(size=150),
        RNG.integers(0, 4, 150),  # fewer values than bins
        np.full(150, 2.5),  # none
        RNG.exponential(size=150),
        (RNG.random(150) < 0.1).astype(float),
    ]
)
Y = ((np.abs(X[:, 0]) < 0.6) ^ (X[:, 3] > 1.5)).astype(int)


def steps_below(value: float, edges: Any) -> int:
    return sum(edge <= value for edge in edges)


def brute(fitted: BinsAndPairs, row: Any) -> np.ndarray:
    """One row of the output, as the docstring has it."""
    out = list(row) if fitted.columns else []
    for j, (value, edges) in enumerate(zip(row, fitted.edges_, strict=True)):
        two_valued = len(set(X[:, j])) == 2
        if len(edges) and not (fitted.columns and two_valued):
            out += [float(steps_below(value, edges) == k) for k in range(len(edges) + 1)]
    chosen = list(zip(fitted.strongest_, fitted.grid_edges_, strict=True))
    for (a, first), (b, second) in combinations(chosen, 2):
        place = steps_below(row[a], first), steps_below(row[b], second)
        cells = np.zeros((len(first) + 1, len(second) + 1))
        cells[place] = 1.0
        out += cells.ravel().tolist()
    out += [row[a] * row[b] for a, b in combinations(fitted.strongest_, 2)]
    return np.array(out)


@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("n_strongest", [0, 1, 3, 8])
@pytest.mark.parametrize("edges", ["case-control", "quantiles"])
def test_every_row_is_made_as_by_hand(columns: bool, n_strongest: int, edges: str) -> None:
    made = BinsAndPairs(6, n_strongest=n_strongest, n_grid=3, columns=columns, edges=edges)
    made.fit(X, Y)
    new = np.vstack([X, X.min(axis=0) - 1, X.max(axis=0) + 1])
    output = made.transform(new)
    assert sparse.issparse(output)
    assert output.format == "csr"
    assert output.has_sorted_indices
    assert_allclose(output.toarray(), [brute(made, row) for row in new], rtol=1e-15)
    assert len(made.get_feature_names_out()) == output.shape[1] == made.n_features_out_


def test_bins_hold_about_as_many_rows_each() -> None:
    edges = quantile_edges(X[:, 0], 24)
    counts = np.bincount(np.searchsorted(edges, X[:, 0], side="right"))
    assert len(counts) == 24
    assert counts.min() >= 5
    assert counts.max() <= 8


def test_few_values_have_a_bin_each_and_no_bin_is_empty() -> None:
    made = BinsAndPairs(edges="quantiles").fit(X, Y)
    assert [len(edges) for edges in made.edges_] == [23, 3, 0, 23, 1]
    assert list(made.binned_) == [0, 1, 3]  # the bins of two values would say the same again
    ones = made.transform(X).toarray()[:, X.shape[1] :][:, : 24 + 4 + 24]
    assert (ones.sum(axis=0) > 0).all()
    assert (made.transform(X).data != 0.0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_bins", [2, 5, 24])
def test_case_control_bins_are_those_of_the_codes(n_bins: int, dtype: Any) -> None:
    rows = X.astype(dtype)
    made = BinsAndPairs(n_bins, n_strongest=0, columns=False).fit(rows, Y)
    codes = CaseControlBins(n_bins // 2).fit(rows, Y).transform(rows)
    ones = made.transform(rows).toarray()
    assert (ones.sum(axis=0) > 0).all()
    parts = np.split(ones, np.cumsum([len(made.edges_[j]) + 1 for j in made.binned_])[:-1], axis=1)
    for j, part in zip(made.binned_, parts, strict=True):
        assert part.shape[1] <= 2 * (n_bins // 2) + 1
        assert_array_equal(np.argmax(part, axis=1), codes[:, j])


def test_neighbouring_floats_have_bins_of_their_own() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    rows = np.array([[low], [high]] * 4)
    made = BinsAndPairs(columns=False).fit(rows, [0, 1, 1, 1, 0, 0, 1, 0])
    assert_array_equal(made.transform(rows).toarray()[:2], np.eye(2))


def test_bins_of_several_classes() -> None:
    labels = np.digitize(X[:, 0], [-1.5, 1.5])
    made = BinsAndPairs(24, n_strongest=0).fit(X, labels)
    plain = CaseControlBins(8).fit(X, labels)
    assert [len(edges) for edges in made.edges_] == [len(edges) for edges in plain.edges_]
    assert BinsAndPairs(2).fit(X, labels).n_features_out_ > X.shape[1]


def test_rare_positives_have_bins_of_their_own() -> None:
    rows = np.arange(10_000.0)[:, None]
    labels = (rows[:, 0] >= 9_900).astype(int)
    top = {
        edges: BinsAndPairs(edges=edges).fit(rows, labels).edges_[0]
        for edges in ("case-control", "quantiles")
    }
    assert (top["quantiles"] > 9_890).sum() == 0
    assert (top["case-control"] > 9_890).sum() == 12
    assert len(top["case-control"]) == 24


def test_the_strongest_columns_are_those_that_tell_most() -> None:
    made = BinsAndPairs(n_strongest=2).fit(X, Y)
    assert set(made.strongest_) == {0, 3}
    assert 2 not in BinsAndPairs(n_strongest=5).fit(X, Y).strongest_
    for told, column, edges in zip(made.information_, X.T, made.edges_, strict=True):
        bins = [steps_below(value, edges) for value in column]
        assert told == pytest.approx(mutual_info_score(bins, Y), abs=1e-12)


def test_information_of_a_known_table() -> None:
    bins, labels = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])
    assert information(bins, labels) == pytest.approx(log(2))
    assert information(np.array([0, 1, 0, 1]), labels) == pytest.approx(0.0)


def test_names_say_what_the_columns_are() -> None:
    table = pd.DataFrame(X[:, [0, 3]], columns=["age", "pay"])
    made = BinsAndPairs(3, n_grid=2).fit(table, Y)
    names = made.get_feature_names_out()
    low, high = made.edges_[0]
    assert list(names[:4]) == [
        "age",
        "pay",
        f"age below {low:.6g}",
        f"age in [{low:.6g}, {high:.6g})",
    ]
    first, second = table.columns[made.strongest_]
    assert names[-1] == f"{first} * {second}"
    assert f"{first} below" in names[8]
    assert f"{second} below" in names[8]
    assert len(set(names)) == len(names)


def test_narrow_floats_stay_narrow() -> None:
    narrow = X.astype(np.float32)
    assert BinsAndPairs().fit(narrow, Y).transform(narrow).dtype == np.float32


def test_missing_values_are_refused() -> None:
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        BinsAndPairs().fit(holed, Y)
    with pytest.raises(ValueError, match="contains NaN"):
        BinsAndPairs().fit(X, Y).transform(holed)


def test_constant_columns_alone_leave_themselves() -> None:
    made = BinsAndPairs().fit(np.ones((6, 2)), [0, 1] * 3)
    assert_array_equal(made.transform(np.ones((2, 2))).toarray(), np.ones((2, 2)))
    assert made.strongest_.size == 0


def test_copies_and_pickles_are_alike() -> None:
    made = BinsAndPairs(5).fit(X, Y)
    assert clone(made).get_params() == made.get_params()
    again = pickle.loads(pickle.dumps(made))
    assert_array_equal(again.transform(X).toarray(), made.transform(X).toarray())


@pytest.mark.parametrize("make", [BinsAndPairs, Squash])
def test_the_cell_that_will_not_do_is_named(make: Any) -> None:
    frame = pd.DataFrame(X[:, :2], columns=["age", "pay"])
    made = make().fit(frame, Y)
    with pytest.raises(ValueError, match=r"infinity: row 1, column 1 \('pay'\)"):
        made.transform(frame.assign(pay=np.where(np.arange(len(X)) == 1, np.inf, 0.0)))
    with pytest.raises(ValueError, match=r"'much', which is no number: row 0, column 1 \('pay'\)"):
        make().fit(frame.assign(pay="much"), Y)


def test_products_that_overflow_are_refused() -> None:
    made = BinsAndPairs().fit(X, Y)
    with pytest.raises(ValueError, match="whose square overflows: row 0, column 0"):
        made.transform(np.full((1, X.shape[1]), 1e200))
