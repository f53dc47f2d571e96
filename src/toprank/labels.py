"""Which of two labels is the positive one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from numbers import Real
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .exceptions import PositiveLabelWarning, warn_caller

#: What may be passed as pos_label: as in scikit-learn's metrics.
POS_LABEL: list[Any] = [Real, str, "boolean", None]
#: Labels that say themselves which is positive; booleans are equal to the first pair.
_PLAIN = ([0, 1], [-1, 1])


def positive_last(classes: NDArray[Any], pos_label: Any) -> NDArray[Any]:
    """The two classes with the positive one second: `pos_label`, or else as they are."""
    if pos_label is None:
        return classes
    matching = [bool(label == pos_label) for label in classes.tolist()]
    if not any(matching):
        first, second = map(shown, classes)
        raise ValueError(
            f"pos_label={shown(pos_label)} is not a label of y, which holds {first} and {second}: "
            "set pos_label to one of these."
        )
    return classes[::-1] if matching[0] else classes


def tell_positive(
    classes: Sequence[Any] | NDArray[Any], positive: NDArray[np.bool_], of: str = "y"
) -> None:
    """Say which label was taken for the positive one, unless 0/1, -1/1 or booleans say it."""
    count = int(np.count_nonzero(positive))
    tell_positive_of(classes, len(positive) - count, count, of)


def tell_positive_of(
    classes: Sequence[Any] | NDArray[Any], n_others: int, count: int, of: str = "y"
) -> None:
    """The same, of classes with so many rows."""
    if list(np.asarray(classes).tolist()) in _PLAIN:
        return
    other, taken = map(shown, classes)
    advice = f"Set pos_label={taken} to confirm that."
    if count > n_others:
        advice = f"It is the majority: if {other} should come first, set pos_label={other}."
    warn_caller(
        f"{of} holds {other} ({n_others} rows) and {taken} ({count} rows); {taken} is "
        f"taken as the positive class, to be ranked first, because it sorts last. {advice}",
        PositiveLabelWarning,
        about=(other, taken),
    )


def known_positive(
    y: Any, classes: Sequence[Any] | NDArray[Any], positive: Any, n_rows: int
) -> NDArray[np.bool_]:
    """Which labels of new rows are the positive one; labels that a model does not know are refused.

    To take them for negative would be worse than an error: a promise would rest on them.
    """
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y must hold {n_rows} labels, one for each row, got {labels.shape}.")
    known = np.asarray(classes).tolist()
    row = next((row for row, label in enumerate(labels.tolist()) if label not in known), None)
    if row is not None:
        first, second = map(shown, known)
        raise ValueError(
            f"y[{row}] is {shown(labels.tolist()[row])}, and the model knows the labels {first} "
            f"and {second} only: drop rows without a label, and write labels as in the fit."
        )
    return np.asarray(labels == positive, dtype=bool)


def refuse_sorted_order(classes: NDArray[Any]) -> None:
    """Refuse scores to code of scikit-learn that takes the greater label for the positive one.

    It would turn the list upside down: most of scikit-learn goes by `classes_`, or by a
    `pos_label` of its own, but calibration and scorers such as "roc_auc" sort the labels.
    """
    first, second = classes.tolist()
    if first < second:
        return
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_globals.get("__name__", "").startswith("toprank."):
        frame = frame.f_back  # to who asks for the scores
    while frame and (module := frame.f_globals.get("__name__", "")).startswith("sklearn."):
        asking = "CalibratedClassifierCV" if module == "sklearn.calibration" else ""
        if module == "sklearn.metrics._scorer" and _sorts_labels(frame.f_locals.get("self")):
            asking = "this scorer of scikit-learn"
        if asking:
            raise ValueError(
                f"{asking} sorts the labels, and would take {shown(first)} for the positive class "
                f"in spite of pos_label={shown(second)}. Pass y == {shown(second)} in place of y, "
                "without pos_label; or, to score, a scorer of toprank.metrics.get_scorer."
            )
        frame = frame.f_back


def _sorts_labels(scorer: Any) -> bool:
    """Whether a scorer leaves it to a function of scikit-learn which label is positive."""
    function = getattr(scorer, "_score_func", None)
    own = getattr(function, "__module__", "").startswith("sklearn.")
    return own and scorer._get_pos_label() is None


def shown(label: Any) -> str:
    """A label as one would write it in Python."""
    value = label.item() if isinstance(label, np.generic) else label
    return f'"{value}"' if isinstance(value, str) else repr(value)


__all__ = [
    "POS_LABEL",
    "known_positive",
    "positive_last",
    "refuse_sorted_order",
    "shown",
    "tell_positive",
    "tell_positive_of",
]
