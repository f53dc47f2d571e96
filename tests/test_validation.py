"""What is checked at the door, one check at a time."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from toprank.designs import as_design
from toprank.estimators.validation import (
    LabelledRows,
    canonical,
    check_block_labels,
    check_compressed,
    check_entries,
    check_labels,
    check_matrix,
    check_targets,
    check_two_labels,
    check_weights,
)
from toprank.inputs.class_split import Split

X = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]])


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Anything that is fitted."""


def test_plain_arrays_are_taken_as_they_are_and_their_width_is_noted() -> None:
    one = Estimator()
    assert check_matrix(one, X, reset=True).X is X
    assert one.n_features_in_ == 2
    assert check_matrix(one, X[:1], reset=False).shape == (1, 2)
    with pytest.raises(ValueError, match="has 1 features, but Estimator is expecting 2"):
        check_matrix(one, X[:, :1], reset=False)
    check_matrix(one, pd.DataFrame(X, columns=["a", "b"]), reset=True)
    assert one.feature_names_in_.tolist() == ["a", "b"]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        check_matrix(one, X, reset=False)
    check_matrix(one, X, reset=True)
    assert not hasattr(one, "feature_names_in_")


@pytest.mark.parametrize("empty", [X[:0], X[:, :0], X[0], X[None], X.astype(object), X > 1])
def test_other_arrays_are_converted_or_refused(empty: Any) -> None:
    if empty.ndim == 2 and empty.size:
        found = check_matrix(Estimator(), empty, reset=True).X
        assert found.dtype == np.float64
        assert_array_equal(found, empty.astype(float))
    else:
        with pytest.raises(ValueError, match=r"minimum of 1 is required|2D array|dim 3|<= 2"):
            check_matrix(Estimator(), empty, reset=True)


def test_what_is_no_number_is_named() -> None:
    words = np.array([[1.0, 2.0], [3.0, "a word"]], dtype=object)
    for given in (words, pd.DataFrame(words)):
        with pytest.raises(ValueError, match=r"row 1.*could not convert string to float"):
            check_matrix(Estimator(), given, reset=True)
    words[1, 1] = {}
    with pytest.raises(TypeError, match=r"row 1.*float\(\) argument"):
        check_matrix(Estimator(), words, reset=True)
    lacking = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, np.nan]})
    with pytest.raises(ValueError, match=r"row 1, column 1 \('b'\)"):
        check_matrix(Estimator(), lacking, reset=True)
    with pytest.raises(ValueError, match="Complex data not supported"):
        check_matrix(Estimator(), 1j * X, reset=True)


def test_sparse_whole_numbers_with_wide_indices_are_converted() -> None:
    matrix = sparse.csr_array(X.astype(np.int64))
    matrix.indices, matrix.indptr = matrix.indices.astype("int64"), matrix.indptr.astype("int64")
    assert_array_equal(check_matrix(Estimator(), matrix, reset=True).X.toarray(), X)


def test_entries_are_checked_once_and_where_that_is_asked_for() -> None:
    bad = X.copy()
    bad[1, 1] = np.nan
    left = check_matrix(Estimator(), bad, reset=True, entries=False)
    assert not left.entries_checked
    check_entries(Estimator(), left, missing=True)
    assert not left.entries_checked
    with pytest.raises(ValueError, match=r"row 1, column 1.*Or do this\.$"):
        check_entries(Estimator(), left, instead=" Or do this.")
    with pytest.raises(ValueError, match="row 1, column 1"):
        check_matrix(Estimator(), bad, reset=True)
    bad[1, 1] = 2e100
    with pytest.raises(ValueError, match=r"row 1, column 1.*(?<!Or do this\.)$"):
        check_entries(Estimator(), as_design(bad), instead=" Or do this.")
    bad[1, 1] = 1e100
    design = as_design(bad)
    check_entries(Estimator(), design)
    assert design.entries_checked
    design.X[1, 1] = np.nan
    check_entries(Estimator(), design)  # not read again


def test_labels_are_one_a_row_and_none_is_missing() -> None:
    y = np.array([0, 1, 1])
    assert check_targets(y, X) is y
    assert check_targets([0, 1, 1], X).tolist() == [0, 1, 1]
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        assert check_targets(y[:, None], X).shape == (3,)
    for wrong, message in (
        (None, "requires y to be passed"),
        (y[:2], "X has 3 rows, y has 2 labels"),
        (np.array([0.0, 1.0, np.nan]), "contains NaN: row 2"),
        (np.array([0.0, np.inf, 1.0]), "contains infinity"),
        (np.array(["a", None, "b"], dtype=object), "contains None: row 1"),
        (np.array([None, "a", "b"], dtype=object), "contains None: row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            check_targets(wrong, X)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([5.0, -2.0, 5.0], [-2.0, 5.0]),
        (["b", "a", "b"], ["a", "b"]),
        ([True, False, True], [False, True]),
    ],
)
def test_the_two_labels_the_lesser_first(y: Any, classes: Any) -> None:
    labels, found = check_two_labels(y, X)
    assert labels.tolist() == y
    assert found.tolist() == classes
    assert found.dtype == labels.dtype


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2], "type of the target is multiclass: y holds 3 classes"),
        (["a", "b", "c"], "y holds 3 classes"),
        ([0.5, 1.5, 0.5], "Unknown label type|continuous"),
        ([1, 1, 1], "y holds one class only, 1:"),
        (np.array([1, "a", 1], dtype=object), "labels that cannot be ordered"),
    ],
)
def test_other_than_two_labels_are_refused(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_two_labels(y, X)


def test_the_positive_label_is_the_second_and_is_told() -> None:
    classes, split = check_labels([1, 0, 1], [1.0, 2.0, 3.0], X)
    assert classes.tolist() == [0, 1]
    assert split.p.tolist() == [0.25, 0.75]
    classes, split = check_labels([1, 0, 1], None, X, pos_label=0)
    assert classes.tolist() == [1, 0]
    assert split.pos.tolist() == [1]
    with pytest.warns(UserWarning, match='"b" is taken as the positive class'):
        check_labels(["a", "b", "b"], None, X)
    check_labels(["a", "b", "b"], None, X, pos_label="b")  # no warning: those are errors here
    for weight in (None, np.ones(3)):
        split = check_labels([1, 0, 1], weight, X)[1]
        assert not {"pos", "neg", "p", "q", "tilt"} & set(vars(split))  # listed when they are used


def test_labels_of_blocks() -> None:
    one = SimpleNamespace(pos_label=None)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        check_block_labels(one, [0, 0, 1], None, X)
    for wrong in ([0], [0, 1, 2]):
        with pytest.raises(ValueError, match=f"classes holds {len(wrong)} labels"):
            check_block_labels(one, [0, 0, 0], wrong, X)
    with pytest.raises(ValueError, match=r"y\[2\] is 7, which is not in classes, \[0, 1\]"):
        check_block_labels(one, [0, 0, 7], [1, 0], X)
    assert check_block_labels(one, [0, 0, 1], [1, 0], X).tolist() == [False, False, True]
    assert one.classes_.tolist() == [0, 1]
    assert check_block_labels(one, [1, 1, 1], None, X).all()
    with pytest.raises(ValueError, match="is not the same as on last call"):
        check_block_labels(one, [0, 0, 2], [0, 2], X)
    one.pos_label = 0
    with pytest.raises(ValueError, match="pos_label=0, but 1 has been the positive class"):
        check_block_labels(one, [0, 0, 1], None, X)
    other = SimpleNamespace(pos_label=0)
    assert check_block_labels(other, [0, 0, 1], [0, 1], X).tolist() == [True, True, False]
    assert other.classes_.tolist() == [1, 0]
    assert check_block_labels(other, [0, 0, 1], None, X).tolist() == [True, True, False]
    told = SimpleNamespace(pos_label=None)
    with pytest.warns(UserWarning, match='"b" is taken as the positive class'):
        check_block_labels(told, ["a", "b", "b"], ["a", "b"], X)
    check_block_labels(told, ["a", "b", "b"], None, X)  # once is enough


def test_weights_are_finite_and_not_negative() -> None:
    assert check_weights([0, 2, 1], 3).tolist() == [0.0, 2.0, 1.0]
    for wrong, message in (
        ([1.0, -1.0, 2.0], r"sample_weight\[1\] is -1"),
        ([1.0, 1.0, np.inf], r"sample_weight\[2\] is inf"),
        ([np.nan, 1.0, 1.0], r"sample_weight\[0\] is nan"),
        ([1.0, 1.0], r"has shape \(2,\), but the table has 3 rows"),
        (["a", "b", "c"], "must hold numbers"),
        (np.zeros(3, dtype="M8[s]"), "dates or times"),
    ):
        with pytest.raises(ValueError, match=message):
            check_weights(wrong, 3, of="the table")


@pytest.mark.parametrize("most", [0.0, 1e-100, 1.0, 1e100])
def test_weights_that_are_summed_stay_in_the_range_of_numbers(most: float) -> None:
    weight = np.array([0.0, most, most / 2])
    assert check_weights(weight, 3, summed=True) is weight
    for factor in (0.9, 1.1):
        assert check_weights(factor * weight, 3).max() == factor * most
    if most in (1e-100, 1e100):
        with pytest.raises(ValueError, match="leave the range of numbers"):
            check_weights((1.1 if most > 1 else 0.9) * weight, 3, summed=True)


def test_of_a_class_that_lacks_there_is_no_threshold() -> None:
    design, w = as_design(X), np.array([1.0, 1.0])
    for positive, expected in (([1, 1, 1], None), ([0, 0, 0], None), ([0, 1, 0], 4.5)):
        mask = np.array(positive, dtype=bool)
        rows = LabelledRows(design, Split.of(mask, one_class=True), None)
        assert rows.share_threshold(w) == expected
        assert rows.positive.tolist() == mask.tolist()


@pytest.mark.parametrize(("axis", "kind", "count"), [(0, "row", 3), (1, "column", 2)])
@pytest.mark.parametrize("at", [-1, 0, "last", "beyond"])
def test_places_of_a_list_of_entries(axis: int, kind: str, count: int, at: Any) -> None:
    matrix = sparse.coo_array(X)
    place = {"last": count - 1, "beyond": count}.get(at, at)
    (matrix.row, matrix.col)[axis][-1] = place  # others are in the first
    if 0 <= place < count:
        check_compressed(matrix)
        return
    with pytest.raises(ValueError, match=f"{kind} {place} is out of range for {count} {kind}s"):
        check_compressed(matrix)


BLOCKS = np.kron(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), np.ones((2, 3)))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize(
    ("form", "kind", "width"),
    [("csr", "row", "9 columns"), ("csc", "column", "4 rows"), ("bsr", "block row", "3 block")],
)
def test_what_leads_outside_a_compressed_matrix(
    form: str, kind: str, width: str, dtype: Any
) -> None:
    def made() -> Any:
        options = {"blocksize": (2, 3)} if form == "bsr" else {}
        return getattr(sparse, f"{form}_array")(BLOCKS.astype(dtype), **options)

    def refused(matrix: Any, message: str) -> None:
        check: Any = check_compressed
        if form == "csr" and dtype is np.float64:  # with the pass over the values
            check = partial(canonical, names=None, n_threads=None)
        with pytest.raises(ValueError, match=message):
            check(matrix)

    check_compressed(made())
    wrong, outside = made(), int(width[0])
    wrong.indices[-1] = outside
    refused(wrong, f"index {outside} in {kind} .* is out of range for {width}")
    wrong = made()
    wrong.indptr[1] = 1000
    refused(wrong, f"the pointers of {kind} [01] run")
    for name in ("indptr", "data"):
        wrong = made()
        setattr(wrong, name, getattr(wrong, name)[:-1])
        with pytest.raises(ValueError, match=r"shape \(4, 9\) does not go with"):
            check_compressed(wrong)


def test_a_sparse_array_of_one_dimension_is_refused() -> None:
    row = sparse.coo_array(np.ones(3))
    if row.ndim == 2:
        pytest.skip("before SciPy 1.13 no sparse array has one dimension")
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        check_compressed(row)


def test_indices_are_made_to_increase_in_a_copy() -> None:
    matrix = sparse.csr_array(X)
    assert canonical(matrix, None, None).X is matrix
    turned = sparse.csr_array(
        (np.array([3.0, 2.0, 1.0]), np.array([1, 0, 0]), np.array([0, 3, 3])), shape=(2, 2)
    )
    found = canonical(turned, None, None)
    assert found.entries_checked
    assert found.X.toarray().tolist() == [[3.0, 3.0], [0.0, 0.0]]
    assert turned.indices.tolist() == [1, 0, 0]
    turned.data[:] = [1.0, 1e100, 1e100]
    with pytest.raises(ValueError, match=r"row 0, column 0 \('a'\)"):
        canonical(turned, np.array(["a", "b"], dtype=object), None)


@pytest.mark.parametrize("unusable", [np.nan, np.inf, -np.inf, 1.1e100])
def test_squares_of_rows_show_that_entries_are_usable(unusable: float) -> None:
    wide = np.random.default_rng(0).normal(size=(30, 40))
    design = check_matrix(Estimator(), wide, reset=True)
    assert design.entries_checked
    assert_array_equal(design.squared_norms(), as_design(wide).squared_norms())
    assert design.entries_read == 0  # they are kept
    wide[7, 3] = 1e100  # allowed, though its square is not
    assert check_matrix(Estimator(), wide, reset=True).entries_checked
    wide[7, 3] = unusable
    with pytest.raises(ValueError, match="row 7, column 3"):
        check_matrix(Estimator(), wide, reset=True)
