"""Notes on columns before a fit: leaks, names of rows, the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.folds import WholeTimeSplit, between_times
from ..inputs.leaks import Leak, ignore_option, row_names
from .output import StrictError, print_line

#: Columns that are named one by one.
_SHOWN = 5


def warn_of_leaks(leaks: Sequence[Leak], *, sparse: bool) -> None:
    """Warn of columns that give the label away, also with --quiet."""
    for leak in leaks[:_SHOWN]:
        what = (
            "leave it out (columns count from 0)"
            if sparse
            else f"pass {ignore_option(leak.column)}"
        )
        print_line(
            f"warning: {leak.words} gives the label away: {what}, unless it is known when the "
            "list is made.",
            always=True,
        )
    if len(leaks) > _SHOWN:
        print_line(f"warning: so do {len(leaks) - _SHOWN} more columns.", always=True)


def refuse_leaks(leaks: Sequence[Leak]) -> None:
    """End with exit code 3 if a column gives the label away."""
    if leaks:
        more = f" and {len(leaks) - 1} more" if len(leaks) > 1 else ""
        raise StrictError(
            f"{leaks[0].column!r}{more} gives the label away, and --strict was given: nothing was "
            "fitted."
        )


def constant_columns(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that have the same cell in every row, and that cell."""
    found = {}
    for own, column in columns.items():
        if isinstance(column, tuple):
            codes, words = column
            if len(words) == 1 and (codes == 0).all():
                found[own] = words[0]
        elif (column == column[0]).all():  # never of NaN and NaT
            found[own] = column[0]
    return found


def left_out_notes(empty: Sequence[str], constant: dict[str, Any]) -> list[str]:
    """Return notes on columns that nothing can be learnt from."""
    notes = []
    if empty:
        notes.append(f"left out, because nothing is in them: {_listed(map(repr, empty))}.")
    if constant:
        cells = (f"{own!r} ({_cell(cell)})" for own, cell in constant.items())
        notes.append(f"left out, because every row has the same: {_listed(cells)}.")
    return notes


def _cell(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, float) else repr(str(cell))


def _listed(names: Iterable[str]) -> str:
    named = list(names)
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    return f"{', '.join(named[:_SHOWN])}{more}"


def time_notes(
    times: NDArray[Any], numbers: NDArray[Any], options: Any
) -> tuple[int | None, list[str]]:
    """Return the length of a list by the times of rows, None if unknown, and notes.

    `times` are in order, and `numbers` say which of them are equal. A note says how long a list
    is, or that there are fewer folds in time than were asked for.
    """
    notes = []
    size = None
    if isinstance(options.capacity, int) and options.list_size is None:
        size = _rows_a_day(times)
        if size is not None and size > options.capacity:
            notes.append(
                f"a list is taken to have {size:,} rows, the median of a day by {options.time!r}: "
                "--list-size sets another number."
            )
        else:
            size = None
    share = getattr(options, "calibrate", None) or 0.0
    fitted = numbers[: between_times(numbers, len(numbers) - round(share * len(numbers)))]
    if options.folds is not None and len(fitted):
        found = WholeTimeSplit(n_splits=options.folds).get_n_splits(groups=fitted)
        if found < options.folds:
            notes.append(
                f"{found} of the {options.folds} folds in time are left, because {options.time!r} "
                f"has only {len(np.unique(fitted)):,} different times, and rows of one time stay "
                "together."
            )
    return size, notes


def _rows_a_day(times: NDArray[Any]) -> int | None:
    """Return the median number of rows a day, if these are dates of four days or more.

    The first and the last day may be there in part, and do not count.
    """
    if times.dtype.kind != "M":
        return None
    days, counts = np.unique(times.astype("datetime64[D]"), return_counts=True)
    return int(np.median(counts[1:-1])) if len(days) > 3 else None


def name_notes(X: Any, table: str) -> list[str]:
    """Return a note on each column that seems to name rows."""
    notes = []
    for own, what in row_names(X).items():
        if what == "rows":
            notes.append(
                f"column {own!r} of {table} has another value in almost every row: if it names "
                f"rows, pass --id {own}."
            )
        else:
            notes.append(
                f"column {own!r} of {table} seems to hold names, and is learnt from as an amount: "
                f"pass --ignore {own}, or --category {own}."
            )
    return notes


def order_notes(X: Any, leaks: Sequence[Leak], table: str, *, converted: bool = False) -> list[str]:
    """Return a note on each date that the rows are sorted by: later rows are better held out.

    Dates with gaps, which `--time` refuses, and dates that give the label away are left out. Fits
    of `converted` tables take no times.
    """
    leaking = {leak.column for leak in leaks}
    notes = []
    for own in X.columns:
        times = np.asarray(X[own])
        if times.dtype.kind != "M" or own in leaking or np.isnat(times).any():
            continue
        steps = np.diff(times).astype(np.int64)
        if steps.any() and ((steps >= 0).all() or (steps <= 0).all()):
            instead = (
                f"fit the table itself with --time {own}" if converted else f"pass --time {own}"
            )
            notes.append(
                f"the rows of {table} are in the order of {own!r}: to be judged on later "
                f"rows than were fitted on, {instead}."
            )
    return notes


__all__ = [
    "constant_columns",
    "left_out_notes",
    "name_notes",
    "order_notes",
    "refuse_leaks",
    "time_notes",
    "warn_of_leaks",
]
