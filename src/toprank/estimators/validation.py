"""Check the matrix, the labels and the weights at the start of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from .._core import Matrix
from ..designs import MemoryDesign, as_design
from ..inputs.cells import LARGEST_ENTRY, first_no_number, refuse_no_numbers, unusable
from ..inputs.class_split import Split
from ..inputs.labels import SORTS_LAST, positive_last, rarer_last, shown, tell_positive
from ..inputs.mapped_arrays import check_lengths, in_memory

Array = NDArray[np.float64]

#: What is used as it is, if it holds these.
_PLAIN = (np.ndarray, sparse.csr_matrix, sparse.csr_array)
_FLOATS = (np.float64, np.float32)


@dataclass(frozen=True)
class LabelledRows:
    """All rows of a fit, or those of one call of `partial_fit`, which may lack a class."""

    design: MemoryDesign
    split: Split
    #: As they were given.
    weight: Array | None
    #: What was given, for those that pass it on: to scorers, or to splitters.
    X: Any = None
    y: Any = None

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive."""
        return self.split.positive

    def share_threshold(self, w: Array) -> float | None:
        """The score that the positives' share of the rows lies above; None if a class lacks."""
        if not (len(self.split.pos) and len(self.split.neg)):
            return None
        return self.split.share_threshold(self.design.scores(w))


def check_matrix(
    estimator: BaseEstimator,
    X: Any,
    *,
    reset: bool,
    n_threads: int | None = None,
    entries: bool = True,
) -> MemoryDesign:
    """The design of X: anything scikit-learn takes, kept in float32 or float64, not copied.

    With `entries=False` those of a dense X are left for `check_entries`: for a method whose only
    pass over the data shows whether any of them is unusable. Those of a sparse X are checked with
    its indices.
    """
    refuse_no_numbers(X)
    check_lengths(X)
    if sparse.issparse(X):
        check_compressed(X)
    if not _passes_as_it_is(estimator, X, reset):
        X = _converted(estimator, X, reset)
    if sparse.issparse(X):
        return canonical(X, getattr(estimator, "feature_names_in_", None), n_threads)
    design = as_design(X, n_threads)
    if entries:
        if reset and not design.entries_checked:
            design.entries_checked = design.squares_are_usable(LARGEST_ENTRY)
        check_entries(estimator, design)
    return design


def _passes_as_it_is(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether X is what `validate_data` would return; if so, its width is noted, or is that noted.

    Most fits are of plain arrays and CSR matrices, and asking whether these are a table of some
    library takes longer than a small fit.
    """
    if type(X) not in _PLAIN or X.ndim != 2 or X.dtype not in _FLOATS or 0 in X.shape:
        return False
    if reset:
        estimator.n_features_in_ = X.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return True
    named = getattr(estimator, "feature_names_in_", None) is not None  # of which it is told
    return not named and getattr(estimator, "n_features_in_", None) == X.shape[1]


def _converted(estimator: Any, X: Any, reset: bool) -> Any:
    """X as an array or a CSR matrix of floats, by scikit-learn."""
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=list(_FLOATS),
            ensure_all_finite=False,
        )
    except (TypeError, ValueError, OverflowError) as error:
        if found := first_no_number(X):
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{found} ({error})") from error
        raise


def check_entries(
    estimator: Any, design: MemoryDesign, of: str = "X", *, missing: bool = False, instead: str = ""
) -> None:
    """Refuse a matrix with an entry that is NaN, unless it may be, infinite or too large.

    Entries that have been checked are not read again. `instead` is what else one can do about a
    missing value.
    """
    if design.entries_checked:
        return
    if found := design.first_unusable(LARGEST_ENTRY, missing=missing):
        names, value = getattr(estimator, "feature_names_in_", None), float(design.X[found])
        words = unusable(value, *found, names, of)
        raise ValueError(words + ("" if not np.isnan(value) or instead in words else instead))
    design.entries_checked = not missing


def check_targets(y: ArrayLike, X: Any) -> NDArray[Any]:
    """The labels, one a row of X, none of them missing."""
    if y is None:
        raise ValueError("Ranking requires y to be passed, but the target y is None.")
    y = in_memory(y)
    labels: NDArray[Any]
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf":
        labels = y  # what column_or_1d would return, after a while
    else:
        labels = column_or_1d(y, warn=True)
    if len(labels) != X.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: "
            f"X has {X.shape[0]} rows, y has {len(labels)} labels."
        )
    if labels.dtype.kind == "O" and any(missing := [label is None for label in labels]):
        raise ValueError(f"Input y contains None: row {missing.index(True)} has no label.")
    if labels.dtype.kind == "f":
        if (lacking := np.isnan(labels)).any():
            row = int(np.argmax(lacking))
            raise ValueError(f"Input y contains NaN: row {row} has no label.")
        assert_all_finite(labels, input_name="y")
    return labels


def check_two_labels(y: ArrayLike, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The labels, one a row of X, and the two that there are, the lesser first."""
    labels = check_targets(y, X)
    classes = _classes(labels)
    if len(classes) > 2 or labels.dtype.kind == "f":
        check_classification_targets(labels)
    if len(classes) > 2:
        kind = type_of_target(labels, input_name="y", raise_unknown=True)
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: "
            f"y holds {len(classes)} classes; make one of them the positive class, y == label."
        )
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise ValueError(
            f"y holds one class only, {only!r}: ranking needs positive and negative rows. In "
            "cross-validation StratifiedKFold sees to that."
        )
    return labels, classes


def check_labels(
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    X: Any,
    pos_label: Any = None,
    *,
    rarer_first: bool = False,
) -> tuple[NDArray[Any], Split]:
    """Return the two classes, the positive one second, and the weighted rows of each.

    Without `pos_label` the greater class is positive, or with `rarer_first` the one that
    `labels.rarer_last` chooses by the rows of weight above zero.
    """
    labels, classes = check_two_labels(y, X)
    weight = None if sample_weight is None else check_weights(sample_weight, len(labels))
    why = SORTS_LAST
    if pos_label is None and rarer_first:
        counted = labels if weight is None else labels[weight > 0.0]
        n_second = int(np.count_nonzero(counted == classes[1]))
        classes, why = rarer_last(classes, [len(counted) - n_second, n_second])
    classes = positive_last(classes, pos_label)
    positive = labels == classes[1]
    if pos_label is None:
        tell_positive(classes, positive, why=why)
    return classes, Split.of(positive, weight)


def check_block_labels(
    estimator: Any, y: ArrayLike, classes: ArrayLike | None, X: Any
) -> NDArray[np.bool_]:
    """Which rows of a block are positive; sets `classes_` at the first block, which names them."""
    labels, known = check_targets(y, X), getattr(estimator, "classes_", None)
    if classes is not None:
        named = _classes(np.asarray(classes))
    elif known is not None:
        named = np.sort(known)
    else:
        raise ValueError("classes must be passed on the first call to partial_fit.")
    if len(named) != 2:
        raise ValueError(
            f"classes holds {len(named)} labels: a ranker has two, a positive and a negative one."
        )
    chosen = positive_last(named, estimator.pos_label) if known is None else known
    if not np.array_equal(np.sort(chosen), named):
        raise ValueError(
            f"classes={named.tolist()} is not the same as on last call to partial_fit, which was "
            f"{chosen.tolist()}."
        )
    if estimator.pos_label not in (None, chosen[1]):
        raise ValueError(
            f"pos_label={shown(estimator.pos_label)}, but {shown(chosen[1])} has been the positive "
            "class so far: set it back, or begin anew."
        )
    strange = ~np.isin(labels, chosen)
    if strange.any():
        row = int(np.argmax(strange))
        raise ValueError(
            f"y[{row}] is {labels[row : row + 1].tolist()[0]!r}, which is not in classes, "
            f"{chosen.tolist()}: drop such rows, or name the two labels at the first call."
        )
    positive = np.asarray(labels == chosen[1])
    if known is None:
        estimator.classes_ = chosen
        if estimator.pos_label is None:
            tell_positive(chosen, positive)
    return positive


def _classes(labels: NDArray[Any]) -> NDArray[Any]:
    """The different labels, in order; two numbers are told without sorting them all."""
    if labels.dtype.kind in "biuf" and len(labels):
        ends = np.unique([labels.min(), labels.max()]).astype(labels.dtype)
        if bool(((labels == ends[0]) | (labels == ends[-1])).all()):
            return ends
    try:
        return np.unique(labels)
    except TypeError as error:
        raise ValueError(f"y mixes labels that cannot be ordered: {error}.") from error


def check_weights(
    sample_weight: ArrayLike, n_rows: int, *, of: str = "X", summed: bool = False
) -> NDArray[np.float64]:
    """One finite weight a row, none of them negative.

    Weights that are `summed` as they are, not as shares of their sum, must not be so large or so
    small that products with them leave the range of numbers.
    """
    try:
        given = np.asarray(in_memory(sample_weight))
        if given.dtype.kind in "mM":
            raise TypeError(f"these are dates or times ({given.dtype})")
        weight = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"sample_weight must hold numbers: {error}.") from error
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, but {of} has {n_rows} rows: pass one weight "
            "for each row."
        )
    wrong = ~((weight >= 0) & (weight < np.inf))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight[{row}] is {weight[row]:g}: weights must be finite and not negative. "
            "A weight of zero leaves a row out."
        )
    most = float(weight.max(initial=0.0))
    if summed and most > 0.0 and not 1.0 / LARGEST_ENTRY <= most <= LARGEST_ENTRY:
        raise ValueError(
            f"The largest sample_weight is {most:g}, and sums of products with it would leave the "
            "range of numbers: divide all weights by it."
        )
    return weight


def check_compressed(X: Any, of: str = "X") -> None:
    """Refuse a matrix that points outside itself: converting it would crash.

    A CSR matrix of floats is not converted, so its indices wait for the pass over its values.
    """
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: {of} is a sparse array of shape "
            f"{X.shape}. Reshape it: reshape(1, -1) makes one row of it, reshape(-1, 1) one column."
        )
    if X.format == "coo":
        for axis, places, kind in zip((0, 1), (X.row, X.col), ("row", "column"), strict=True):
            if len(places) and not (places.min() >= 0 and places.max() < X.shape[axis]):
                wrong = places.min() if places.min() < 0 else places.max()
                raise ValueError(
                    f"{of} is a corrupt COO matrix: {kind} {wrong} is out of range for "
                    f"{X.shape[axis]} {kind}s."
                )
    if X.format not in ("csr", "csc", "bsr"):
        return
    lines, width = X.shape[::-1] if X.format == "csc" else X.shape
    if X.format == "bsr":
        lines, width = lines // X.blocksize[0], width // X.blocksize[1]
    if len(X.indptr) != lines + 1 or len(X.data) != len(X.indices):
        raise ValueError(
            f"{of} is a corrupt {X.format.upper()} matrix: shape {X.shape} does not go with "
            f"{len(X.indptr)} pointers, {len(X.indices)} indices and {len(X.data)} values."
        )
    if X.format == "csr" and X.dtype in (np.float32, np.float64):
        return
    values = np.zeros(len(X.indices), dtype=np.float32)
    view = Matrix.csr(values, X.indices, X.indptr.astype(np.int64), width)
    flaw, line, position, _ = view.inspect(len(X.indices), np.inf, 1)
    _refuse_pointers(X, flaw, line, position, of)


def _refuse_pointers(X: Any, flaw: str, line: int, position: int, of: str) -> None:
    """Raise if an inspection found pointers or indices that lead outside the matrix."""
    kind, other, width = "row", "columns", X.shape[1]
    if X.format == "csc":
        kind, other, width = "column", "rows", X.shape[0]
    elif X.format == "bsr":
        kind, other, width = "block row", "block columns", X.shape[1] // X.blocksize[1]
    if flaw == "pointers":
        raise ValueError(
            f"{of} is a corrupt {X.format.upper()} matrix: the pointers of {kind} {line} run "
            "backwards or past the stored values."
        )
    if flaw == "index":
        raise ValueError(
            f"{of} is a corrupt {X.format.upper()} matrix: index {X.indices[position]} in {kind} "
            f"{line} is out of range for {width} {other}."
        )


def canonical(X: Any, names: Any, n_threads: int | None, of: str = "X") -> MemoryDesign:
    """The design of X with increasing indices in every row; of a copy if they do not increase."""
    design = as_design(X, n_threads)
    flaw, row, position, increasing = design.matrix.inspect(
        len(X.data), LARGEST_ENTRY, design.n_threads
    )
    _refuse_pointers(X, flaw, row, position, of)
    if flaw == "value":
        column = int(X.indices[position])
        raise ValueError(unusable(float(X.data[position]), row, column, names, of))
    if increasing:
        design.entries_checked = True
        return design
    X = X.copy()
    X.sum_duplicates()
    return canonical(X, names, n_threads, of)  # sums may overflow
