"""Checks of the arguments: arrays in, clean arrays or a sentence about what is wrong out."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inputs.arguments import is_number
from ..inputs.labels import shown, tell_positive
from ..inputs.mapped_arrays import in_memory

FloatArray = NDArray[np.float64]


def as_column(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return `values` as a 1-D array with at least one row."""
    column = np.asarray(in_memory(values))
    if column.ndim != 1:
        raise ValueError(
            f"{name} must be 1-D, one value per row, got shape {column.shape}. Pass one column; "
            "of two columns of class probabilities that is [:, 1]."
        )
    if not len(column):
        raise ValueError(f"{name} is empty; a metric needs at least one row.")
    return column


def _first(flags: NDArray[np.bool_]) -> int:
    """Return the first row that is flagged."""
    return int(np.argmax(flags))


def _same_length(name: str, column: NDArray[Any], n_rows: int) -> None:
    if len(column) != n_rows:
        raise ValueError(
            f"{name} has {len(column)} rows but y_true has {n_rows}. Pass as many values as labels."
        )


def check_scores(scores: ArrayLike, n_rows: int, name: str = "scores") -> NDArray[Any]:
    """Return the scores as real numbers without NaN; `name` is what messages call them.

    Infinite scores pass: a metric reads the order of the scores only, and minus infinity is an
    honest log-probability. Integers stay integers, for large ones would collide as floats.
    """
    column = as_column(name, scores)
    _same_length(name, column, n_rows)
    if column.dtype.kind not in "iuf":
        try:
            column = column.astype(np.float64, casting="unsafe" if column.dtype == "O" else "safe")
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"{name} must be real numbers, got dtype {column.dtype}. Pass the values of "
                "decision_function or of one column of predict_proba."
            ) from error
    if np.isnan(column).any():
        row = _first(np.isnan(column))
        raise ValueError(
            f"{name} is NaN at row {row}. A NaN has no place in an order: find out what made it, "
            "or drop the row."
        )
    return column


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray | None:
    """Return finite weights >= 0 of which at least one is positive, or None for all ones."""
    if sample_weight is None:
        return None
    column = as_column("sample_weight", sample_weight)
    _same_length("sample_weight", column, n_rows)
    try:
        if column.dtype.kind in "mM":
            raise TypeError("dates and times are no weights")
        weights = column.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"sample_weight must be numbers, got dtype {column.dtype}.") from error
    wrong = ~((weights >= 0) & (weights < np.inf))
    if wrong.any():
        row = _first(wrong)
        raise ValueError(
            f"sample_weight is {weights[row]} at row {row}. Weights must be finite and >= 0; "
            "a weight of 0 leaves the row out."
        )
    # A total that overflows is caught here, so it needs no warning of NumPy's as well.
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 0 < total < np.inf:
        raise ValueError(
            f"sample_weight adds up to {total}. At least one row needs a positive weight, and the "
            "total must be finite."
        )
    return weights


def _labels(y_true: NDArray[Any], rows: NDArray[np.intp] | None) -> list[Any]:
    """Return the one or two labels of `y_true`, the lesser first."""

    def at(row: int) -> int:
        return row if rows is None else int(rows[row])

    if y_true.dtype.kind in "biuf":
        # Two linear scans: np.unique would be a second sort of all rows.
        labels = [y_true.min(), y_true.max()]
        missing = np.isnan(y_true) if y_true.dtype.kind == "f" else np.zeros(1, dtype=bool)
    else:
        try:
            labels = list(np.unique(y_true))
            missing = np.asarray(y_true != y_true)
        except TypeError as error:
            raise ValueError(
                f"y_true mixes labels that cannot be ordered ({error}). Pass labels of one type."
            ) from error
        labels = [labels[0], labels[-1]]
    if missing.any():
        raise ValueError(f"y_true is NaN at row {at(_first(missing))}. Drop the row or label it.")
    third = (y_true != labels[0]) & (y_true != labels[1])
    if third.any():
        row = _first(third)
        raise ValueError(
            f"y_true must hold two labels, but besides {labels[0]} and {labels[1]} row {at(row)} "
            f"holds {y_true[row]}. Make it binary first, e.g. y_true == positive_label."
        )
    return labels[:1] if labels[0] == labels[1] else labels


def check_positive(
    y_true: NDArray[Any], pos_label: Any, rows: NDArray[np.intp] | None
) -> NDArray[np.bool_]:
    """Return which rows are positive: `pos_label`, or else the greater of the two labels.

    `rows` holds the rows' numbers as the caller knows them, for the messages.
    """
    labels = _labels(y_true, rows)
    if pos_label is None and y_true.dtype.kind == "b":
        pos_label = True
    if pos_label is None:
        if len(labels) == 1:
            raise ValueError(
                f"y_true holds the one label {labels[0]} in every row (of non-zero weight), row 0 "
                "onwards, so which label is positive cannot be told. Pass pos_label, or rows of "
                "both classes."
            )
        positive = np.asarray(y_true == labels[1])
        tell_positive(labels, positive, "y_true")
        return positive
    matching = [label for label in labels if label == pos_label]
    if matching:
        return np.asarray(y_true == matching[0])
    if len(labels) == 2:
        lesser, greater = map(shown, labels)
        raise ValueError(
            f"pos_label={shown(pos_label)} is not a label of y_true, which holds {lesser} and "
            f"{greater}. Pass one of these."
        )
    return np.zeros(len(y_true), dtype=bool)


def check_rows(
    y_true: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any
) -> tuple[NDArray[np.bool_], NDArray[Any], FloatArray | None, NDArray[np.intp] | None]:
    """Return who is positive, the scores, the weights or None, without the rows of weight zero.

    Last come the numbers of the rows that are left, or None if all are.
    """
    labels = as_column("y_true", y_true)
    values = check_scores(scores, len(labels))
    weights = check_weights(sample_weight, len(labels))
    rows = None
    if weights is not None and not weights.all():
        rows = np.flatnonzero(weights)
        labels, values, weights = labels[rows], values[rows], weights[rows]
    return check_positive(labels, pos_label, rows), values, weights, rows


def check_k(k: Any) -> None:
    """Raise unless `k` is a whole number >= 1 or a fraction in (0, 1)."""
    is_whole = isinstance(k, Integral)
    if not is_number(k) or not (k >= 1 if is_whole else 0 < k < 1):
        raise ValueError(
            "k must be an int >= 1 (so many rows) or a float in (0, 1) (that fraction of all "
            f"rows), got {k!r}."
        )
