"""What is said of columns before a fit: leaks, names of rows, the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..leaks import Leak, ignore_option, row_names
from .telling import Strict, say

#: Columns that are named one by one.
_SHOWN = 5


def tell_leaks(leaks: Sequence[Leak], *, sparse: bool) -> None:
    """Warn of columns that give the label away, also with --quiet."""
    for leak in leaks[:_SHOWN]:
        what = (
            "leave it out (columns count from 0)"
            if sparse
            else f"pass {ignore_option(leak.column)}"
        )
        say(
            f"warning: {leak.words} gives the label away: {what}, unless it is known when the "
            "list is made.",
            always=True,
        )
    if len(leaks) > _SHOWN:
        say(f"warning: so do {len(leaks) - _SHOWN} more columns.", always=True)


def refuse_leaks(leaks: Sequence[Leak]) -> None:
    """End with exit code 3 if a column gives the label away."""
    if leaks:
        more = f" and {len(leaks) - 1} more" if len(leaks) > 1 else ""
        raise Strict(
            f"{leaks[0].column!r}{more} gives the label away, and --strict was given: nothing was "
            "fitted."
        )


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


__all__ = ["name_notes", "order_notes", "refuse_leaks", "tell_leaks"]
