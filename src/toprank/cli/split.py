"""Folds and held-out rows: in order of time, by groups, or at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.arrow import codes_of, dates_of, numbers_of, words_of_codes
from ..files.errors import TableError

Rows = NDArray[np.intp]


def order_of(column: Any, own: str, table: str) -> tuple[Rows, Rows, NDArray[Any]]:
    """The rows by their time, the oldest first; numbers of their times, and these, in that order.

    Rows of the same time stay as they are.
    """
    times, bad = numbers_of(column)
    if bad.any():
        times, bad = dates_of(column)
        missing = np.isnat(times) & ~bad
    else:
        missing = np.isnan(times)
    if bad.any():
        row = int(np.argmax(bad))
        raise TableError(
            f"{table}, row {row + 1}, column {own!r}: {column[row].as_py()!r} is no time, such as "
            "2025-01-31, nor a number."
        )
    if missing.any():
        row = int(np.argmax(missing))
        raise TableError(f"{table}, row {row + 1}, column {own!r}: the time is missing.")
    order = np.argsort(times, kind="stable")
    return order, np.unique(times[order], return_inverse=True)[1], times[order]


def words_of_groups(column: Any, own: str, table: str) -> NDArray[Any]:
    """The group of every row."""
    codes, words = codes_of(column)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise TableError(f"{table}, row {row + 1}, column {own!r}: the group is missing.")
    return words_of_codes(codes, words)


def splitter_of(time: str | None, group: str | None, folds: int | None) -> Any:
    """Return a splitter in time or by groups, None for folds of consecutive rows."""
    from sklearn.model_selection import StratifiedGroupKFold

    from ..inputs.folds import WholeTimeSplit

    if time is not None:
        return WholeTimeSplit(n_splits=folds or 5)
    return None if group is None else StratifiedGroupKFold(n_splits=folds or 5)


def hold_out(
    y: NDArray[np.int64], share: float, *, by_time: bool, groups: NDArray[Any] | None
) -> tuple[Rows, Rows]:
    """Rows to fit on, and rows held out: the newest, whole groups, or at random.

    `by_time` groups are times, in order.
    """
    from sklearn.model_selection import GroupShuffleSplit, train_test_split

    from ..inputs.folds import between_times

    rows = np.arange(len(y))
    if by_time:
        cut = len(y) - round(share * len(y))
        if groups is not None:
            cut = between_times(groups, cut)
        rest, held_out = rows[:cut], rows[cut:]
    elif groups is not None:
        split = GroupShuffleSplit(n_splits=1, test_size=share, random_state=0)
        rest, held_out = next(split.split(rows, y, groups))
    else:
        rest, held_out = train_test_split(rows, test_size=share, stratify=y, random_state=0)
    for part, what in ((rest, "left to fit on"), (held_out, "held out by --calibrate")):
        if not (y[part] == 1).any() or not (y[part] == 0).any():
            raise TableError(
                f"The {len(part):,} rows {what} are of one label only: change --calibrate."
            )
    return rest, held_out


__all__ = ["hold_out", "order_of", "splitter_of", "words_of_groups"]
