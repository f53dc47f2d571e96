"""Which of two labels is the positive one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import PositiveLabelWarning, warn_caller
from .mapped_arrays import in_memory

#: What may be passed as pos_label: as in scikit-learn's metrics.
POS_LABEL: list[Any] = [Real, str, "boolean", None]
#: Labels that say themselves which is positive; booleans are equal to the first pair.
_PLAIN = ([0, 1], [-1, 1])
#: Why a label is positive that nothing else decides.
SORTS_LAST = "because it sorts last"
#: The same labels as words, and in order.
_PLAIN_WORDS = ({"0", "1"}, {"-1", "1"}, {"false", "true"})
_PLAIN_ORDER = ("-1", "0", "1", "false", "true")


def decided_positive(counts: Mapping[Any, int]) -> Any | None:
    """Return the label to rank first of two labels with counts; None if nothing decides.

    Of 0/1, -1/1 and booleans, also written as words, the greater one is positive. Of any other
    two labels, the one that is less than half as frequent as the other is.
    """
    if is_plain(counts):
        return max(counts, key=lambda label: _PLAIN_ORDER.index(_word(label)))
    rarer, other = sorted(counts, key=lambda label: counts[label])
    return rarer if 2 * counts[rarer] < counts[other] else None


def is_plain(labels: Iterable[Any]) -> bool:
    """Return whether two labels are 0/1, -1/1 or booleans, as such or written as words."""
    return {_word(label) for label in labels} in _PLAIN_WORDS


def _word(label: Any) -> str:
    """Return a label as a word without capitals; a whole number without its decimals."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).casefold()


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


def rarer_last(classes: NDArray[Any], counts: Sequence[int]) -> tuple[NDArray[Any], str]:
    """Return two sorted classes with the positive one second, by `decided_positive`, and why.

    Where nothing decides the second stays second, as in scikit-learn.
    """
    count_of = dict(zip(classes.tolist(), counts, strict=True))
    positive = decided_positive(count_of)
    if positive is None:
        return classes, f"{SORTS_LAST}, and neither is less than half as frequent as the other"
    chosen = positive_last(classes, positive)
    is_rarer = 2 * count_of[positive] < sum(counts) - count_of[positive]
    return chosen, "because it is the rarer one" if is_rarer else SORTS_LAST


def tell_positive(
    classes: Sequence[Any] | NDArray[Any],
    positive: NDArray[np.bool_],
    of: str = "y",
    why: str = SORTS_LAST,
) -> None:
    """Warn which label was taken as positive, unless the labels are 0/1, -1/1 or booleans."""
    count = int(np.count_nonzero(positive))
    tell_positive_of(classes, len(positive) - count, count, of, why)


def tell_positive_of(
    classes: Sequence[Any] | NDArray[Any],
    n_others: int,
    count: int,
    of: str = "y",
    why: str = SORTS_LAST,
) -> None:
    """Warn as `tell_positive` does, by the number of rows of each class."""
    if list(np.asarray(classes).tolist()) in _PLAIN:
        return
    other, taken = map(shown, classes)
    advice = f"Set pos_label={taken} to confirm that."
    if count > n_others:
        advice = f"It is the majority: if {other} should come first, set pos_label={other}."
    warn_caller(
        f"{of} holds {other} ({n_others} rows) and {taken} ({count} rows); {taken} is "
        f"taken as the positive class, to be ranked first, {why}. {advice}",
        PositiveLabelWarning,
        about=(other, taken),
    )


def known_positive(
    y: Any, classes: Sequence[Any] | NDArray[Any], positive: Any, n_rows: int
) -> NDArray[np.bool_]:
    """Which labels of new rows are the positive one; labels that a model does not know are refused.

    To take them for negative would be worse than an error: a promise would rest on them.
    """
    labels = np.asarray(in_memory(y))
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
                f"although {shown(second)} is. Pass y == {shown(second)} in place of y, "
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
    "SORTS_LAST",
    "decided_positive",
    "is_plain",
    "known_positive",
    "positive_last",
    "rarer_last",
    "refuse_sorted_order",
    "shown",
    "tell_positive",
    "tell_positive_of",
]
