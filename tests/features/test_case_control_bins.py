"""CaseControlBins against quantiles counted one row at a time."""

from __future__ import annotations

import pickle
from fractions import Fraction
from math import ceil, inf, isnan, nan
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from toprank.features import CaseControlBins
from toprank.features.case_control_bins import case_control_edges, code

RNG = np.random.default_rng(5)
N = 400
Y = (RNG.random(N) < 0.05).astype(int)
X = np.column_stack(
    [
        RNG.normal(size=N) + Y,
        RNG.integers(0, 9, N),  # ties
        np.full(N, 2.5),
        RNG.exponential(size=N) * 10.0 ** RNG.integers(-5, 5, N),
        np.full(N, nan),
        np.where(RNG.random(N) < 0.2, nan, RNG.normal(size=N)),
        RNG.choice([-inf, -1.0, 0.0, 1.0, 3.0, inf], N),
    ]
)


def slow_quantiles(column: Any, labels: Any, n_edges: int) -> list[float]:
    """Quantiles of each class with exact fractions, from a list of single rows."""
    found = set()
    for label in set(labels.tolist()):
        own = [v for v, of in zip(column.tolist(), labels, strict=True) if of == label]
        values = sorted(v for v in own if not isnan(v))
        if len(set(values)) <= n_edges:
            found |= set(values)
            continue
        for k in range(n_edges):
            rank = ceil(Fraction(2 * k + 1, 2 * n_edges) * len(values))
            found.add(values[rank - 1])
    return sorted(found)


def check_edges(edges: Any, column: Any, labels: Any, n_edges: int) -> None:
    """The quantiles and the edges must lie in the same gaps between training values."""
    known = sorted({v for v in column.tolist() if not isnan(v)})
    wanted = [v for v in slow_quantiles(column, labels, n_edges) if v < known[-1]]
    assert len(edges) == len(wanted)
    for edge, value in zip(edges.tolist(), wanted, strict=True):
        following = known[known.index(value) + 1]
        assert value <= edge < following
        if -inf < value and following < inf:
            assert edge == pytest.approx(value / 2 + following / 2, rel=1e-12)


@parametrize_with_checks([CaseControlBins(), CaseControlBins(3, categorical=[])])
def test_scikit_learn_finds_no_fault(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("n_edges", [1, 2, 7, 24, 120, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_edges_are_quantiles_of_each_class(n_edges: int, dtype: Any) -> None:
    rows = X.astype(dtype)
    made = CaseControlBins(n_edges).fit(rows, Y)
    for column, edges in zip(rows.T, made.edges_, strict=True):
        assert edges.dtype == np.float64
        assert len(edges) <= 2 * n_edges
        check_edges(edges, column, Y, n_edges)
    assert [len(made.edges_[j]) for j in (2, 4)] == [0, 0]


def test_codes_count_the_edges_below() -> None:
    made = CaseControlBins(6).fit(X, Y)
    new = np.vstack([X, np.nan_to_num(X) + 1.0, np.full((1, 7), inf), np.full((1, 7), -inf)])
    codes = made.transform(new)
    assert codes.dtype == np.float32
    for row, coded in zip(new, codes, strict=True):
        for value, edges, got in zip(row, made.edges_, coded, strict=True):
            if isnan(value):
                assert isnan(got)
            else:
                assert got == sum(edge < value for edge in edges)


def test_rare_positives_have_all_their_values_as_edges() -> None:
    column = RNG.permutation(np.arange(10_000.0))
    labels = (column >= 9_900).astype(int)
    edges = CaseControlBins(120).fit(column[:, None], labels).edges_[0]
    assert_array_equal(edges[edges > 9_900], np.arange(9_900, 9_999) + 0.5)
    assert len(edges) == 120 + 99


def test_weights_are_repetitions() -> None:
    weight = RNG.integers(0, 4, N)
    repeated = np.repeat(np.arange(N), weight)
    for n_edges in (1, 5, 24):
        weighted = CaseControlBins(n_edges).fit(X, Y, sample_weight=weight)
        longer = CaseControlBins(n_edges).fit(X[repeated], Y[repeated])
        for one, other in zip(weighted.edges_, longer.edges_, strict=True):
            assert_array_equal(one, other)


def test_equal_weights_change_nothing() -> None:
    made, weighted = CaseControlBins(7).fit(X, Y), CaseControlBins(7).fit(X, Y, np.full(N, 0.1))
    for one, other in zip(made.edges_, weighted.edges_, strict=True):
        assert_array_equal(one, other)
    with pytest.raises(ValueError, match="zero"):
        CaseControlBins().fit(X, Y, sample_weight=np.zeros(N))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        CaseControlBins().fit(X, Y, sample_weight=-np.ones(N))


def test_labels_are_treated_alike() -> None:
    made = CaseControlBins(9).fit(X, Y)
    for labels in (1 - Y, np.where(Y == 1, "yes", "no"), 2.0 * Y - 1.0, Y.astype(bool)):
        for one, other in zip(made.edges_, CaseControlBins(9).fit(X, labels).edges_, strict=True):
            assert_array_equal(one, other)


def test_each_of_many_classes_has_its_quantiles() -> None:
    labels = RNG.integers(0, 3, N)
    made = CaseControlBins(5).fit(X, labels)
    for column, edges in zip(X.T, made.edges_, strict=True):
        if not np.isnan(column).all():
            check_edges(edges, column, labels, 5)


finite = st.floats(allow_nan=False, allow_infinity=True, width=64)
few = st.sampled_from([0.0, -0.0, 1.0, 5e-324, -5e-324, 1e308, -1e308, inf, -inf, nan])
#: Neighbouring floats, between which no edge fits.
close = st.integers(0, 4).map(lambda k: 1.0 + k * 2.0**-52)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(finite | few | close, st.booleans(), st.integers(0, 3)), min_size=1),
    st.integers(1, 9),
    st.booleans(),
)
def test_edges_increase_and_codes_keep_the_order(rows: Any, n_edges: int, above: bool) -> None:
    column, labels = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    weight = np.array([row[2] for row in rows], dtype=float)
    weight[0] = 1.0
    counted = column[weight > 0]
    (edges,) = case_control_edges(column[:, None], labels, n_edges, weight, above=above)
    assert (np.diff(edges) > 0).all()
    assert not np.isnan(edges).any()
    known = np.unique(counted[~np.isnan(counted)])
    side = "right" if above else "left"
    assert_array_equal(  # each edge lies in a gap between training values, and no two in the same
        np.unique(np.searchsorted(edges, known, side=side)), np.arange(len(edges) + 1)[: len(known)]
    )
    repeated = np.repeat(np.arange(len(column)), weight.astype(int))
    (again,) = case_control_edges(column[repeated, None], labels[repeated], n_edges, above=above)
    assert_array_equal(edges, again)
    order = np.sort(column)
    codes = code(order[:, None], [edges]).ravel()
    assert_array_equal(np.isnan(codes), np.isnan(order))
    assert (np.diff(codes[~np.isnan(codes)]) >= 0).all()


@pytest.mark.parametrize("categorical", [[1, 3], np.array([0, 1, 0, 1, 0, 0, 0], dtype=bool)])
def test_categories_pass_through(categorical: Any) -> None:
    rows = np.nan_to_num(X)
    rows[:, 3] = RNG.integers(0, 5, N)
    made = CaseControlBins(5, categorical=categorical).fit(rows, Y)
    assert [len(made.edges_[j]) for j in (1, 3)] == [0, 0]
    assert_array_equal(made.categorical_, [1, 3])
    codes = made.transform(rows)
    assert codes.dtype == np.float32
    assert_array_equal(codes[:, [1, 3]], rows[:, [1, 3]])
    rows[0, 3] = 2.0**24 + 1.0
    assert made.transform(rows).dtype == np.float64
    assert made.transform(rows)[0, 3] == 2.0**24 + 1.0
    assert_array_equal(
        case_control_edges(rows, Y, 5, skip=[1, 3])[5], CaseControlBins(5).fit(rows, Y).edges_[5]
    )


@pytest.mark.parametrize(
    ("categorical", "message"),
    [
        ([7], "indices from 0 to 6, got 7"),
        ([-1], "indices from 0 to 6, got -1"),
        ([True], "mask of 1 columns, but X has 7"),
        (["age"], "names column 'age'"),
        ([[1]], "one dimension"),
    ],
)
def test_wrong_categories_are_refused(categorical: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CaseControlBins(categorical=categorical).fit(X, Y)


def table() -> pd.DataFrame:
    words = RNG.choice(["a", "b", "c"], N)
    return pd.DataFrame(
        {
            "job": pd.Categorical(words),
            "age": RNG.integers(18, 90, N),
            "text": pd.Series(words, dtype="string"),
            "any": pd.Series(words, dtype=object),
            "pay": X[:, 5],
            "flag": X[:, 0] > 0,
            "code": RNG.integers(0, 1000, N),
        },
        index=np.arange(N)[::-1],
    )


def test_frames_stay_frames() -> None:
    frame = table()
    made = CaseControlBins(6, categorical=["code"]).fit(frame, Y)
    assert_array_equal(made.categorical_, [0, 2, 3, 6])
    coded = made.transform(frame)
    assert isinstance(coded, pd.DataFrame)
    assert list(coded.columns) == list(frame.columns)
    assert_array_equal(coded.index, frame.index)
    pd.testing.assert_frame_equal(coded.iloc[:, [0, 2, 3, 6]], frame.iloc[:, [0, 2, 3, 6]])
    numeric = ["age", "pay", "flag"]
    plain = CaseControlBins(6).fit(frame[numeric].to_numpy(dtype=float), Y)
    assert_array_equal(coded[numeric], plain.transform(frame[numeric].to_numpy(dtype=float)))
    assert set(coded[numeric].dtypes) == {np.dtype(np.float32)}
    assert frame["age"].dtype.kind == "i"  # the given frame is unchanged
    assert_array_equal(made.get_feature_names_out(), frame.columns)
    only = CaseControlBins(6).fit(frame[["job"]], Y)
    pd.testing.assert_frame_equal(only.transform(frame[["job"]]), frame[["job"]])


def test_strings_of_arrow_pass_through() -> None:
    arrow = pytest.importorskip("pyarrow")
    frame = table()[["age", "text"]]
    frame["text"] = frame["text"].astype(pd.ArrowDtype(arrow.string()))
    made = CaseControlBins(6).fit(frame, Y)
    assert_array_equal(made.categorical_, [1])
    assert made.transform(frame)["text"].dtype == frame["text"].dtype


def test_frames_of_polars() -> None:
    frame = table()
    other = pl.from_pandas(frame)
    made = CaseControlBins(6, categorical=["code"]).fit(other, Y)
    coded = made.transform(other)
    assert isinstance(coded, pl.DataFrame)
    assert coded.columns == other.columns
    assert_array_equal(made.categorical_, [0, 2, 3, 6])
    expected = CaseControlBins(6, categorical=["code"]).fit(frame, Y).transform(frame)
    for name in ("age", "pay", "flag"):
        assert coded[name].dtype == pl.Float32
        assert_array_equal(coded[name].to_numpy(), expected[name].to_numpy())
    assert coded["job"].dtype == other["job"].dtype
    assert coded["code"].dtype == pl.Int64


def test_set_output() -> None:
    made = CaseControlBins(6).set_output(transform="pandas").fit(X, Y)
    coded = made.transform(X)
    assert isinstance(coded, pd.DataFrame)
    assert list(coded.columns) == [f"x{j}" for j in range(7)]


def test_what_is_no_table_of_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match="Sparse data was passed"):
        CaseControlBins().fit(sparse.csr_array(np.nan_to_num(X)), Y)
    with pytest.raises(ValueError, match="'much', which is no number: row 1"):
        CaseControlBins().fit([[1.0], ["much"]], [0, 1])
    frame = pd.DataFrame({"since": pd.to_datetime(["2020-01-01"] * N)})
    with pytest.raises(ValueError, match="holds dates or times"):
        CaseControlBins().fit(frame, Y)
    with pytest.raises(ValueError, match=r"0 sample.*required by CaseControlBins"):
        CaseControlBins().fit(table().iloc[:0], [])
    with pytest.raises(ValueError, match=r"at least one array|0 feature"):
        CaseControlBins().fit(table()[[]], Y)
    made = CaseControlBins().fit(table(), Y)
    with pytest.raises(ValueError, match="feature names should match"):
        made.transform(table().rename(columns={"age": "years"}))


def test_copies_and_pickles_are_alike() -> None:
    made = CaseControlBins(5, categorical=[1]).fit(X, Y)
    assert clone(made).get_params() == made.get_params()
    again = pickle.loads(pickle.dumps(made))
    assert_array_equal(again.transform(X), made.transform(X))


@pytest.mark.parametrize(
    "trees",
    [
        HistGradientBoostingClassifier(max_iter=20, early_stopping=False, random_state=0),
        lightgbm.LGBMClassifier(
            n_estimators=20, min_data_in_bin=1, n_jobs=1, verbose=-1, random_state=0
        ),
    ],
)
def test_trees_behind_the_bins_find_rare_positives(trees: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((40_000, 3))
    labels = ((rows[:, 0] > 0.9985) & (rng.random(len(rows)) < 0.9)).astype(int)
    half = len(rows) // 2
    made = make_pipeline(CaseControlBins(), trees).fit(rows[:half], labels[:half])
    plain = clone(trees).fit(rows[:half], labels[:half])
    binned, quantile = (
        average_precision_score(labels[half:], model.predict_proba(rows[half:])[:, 1])
        for model in (made, plain)
    )
    assert binned > quantile + 0.1


def test_frames_with_categories_before_trees() -> None:
    frame = table().drop(columns=["text", "any"])
    trees = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    made = make_pipeline(CaseControlBins(), trees).fit(frame, Y)
    assert made.predict_proba(frame).shape == (N, 2)
    assert made[1].is_categorical_.tolist() == [True, False, False, False, False]
    light = lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1, min_data_in_bin=1)
    made = make_pipeline(CaseControlBins(), light).fit(frame, Y)
    assert made.predict_proba(frame).shape == (N, 2)
