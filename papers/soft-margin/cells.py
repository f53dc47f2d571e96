"""Cells of the tables: the figures of a method out of rows."""

from __future__ import annotations

from collections.abc import Sequence

from common.pages import digits, table
from common.rows import Row, chosen, values_of
from contenders import LARGER

NOTHING = float("nan")


def best(
    rows: Sequence[Row], rule: str, method: str, *, larger: bool = False, moving: bool = False
) -> float:
    """A method's AUC by a rule for ties at the best setting by that rule; NaN without a row.

    Settings that the paper did not try count only if `larger` is set; with `moving` those that gave
    a constant score in some fold do not.
    """
    own = [row for row in rows if row["method"] == method and not (moving and row["constant"])]
    values = [row[rule] for row in own if larger or row["setting"] != f"{LARGER:g}"]
    return max(values, default=NOTHING)


def at(rows: Sequence[Row], rule: str, method: str, setting: str) -> float:
    """A method's figure at a setting; NaN without a row."""
    own = chosen(rows, method=method, setting=setting)
    return float(own[0][rule]) if own else NOTHING


def constant(rows: Sequence[Row], method: str) -> str:
    """In which share of the folds every test row had the same score, by setting."""
    own = chosen(rows, method=method)
    return " ".join(f"{row['constant']:.1g}" for row in own)


def stopped_short(rows: Sequence[Row]) -> str:
    """How many fits stopped short of their tolerance, a line a method; RankBoost has none."""
    fitted = [row for row in rows if "short" in row and not row["method"].startswith("RankBoost")]
    lines = []
    for method in values_of(fitted, "method"):
        own = chosen(fitted, method=method)
        lines.append([method, *(str(sum(row[what] for row in own)) for what in ("folds", "short"))])
    if not lines:
        return "None were counted in the run that is kept."
    return table(["method", "fits", "stopped short"], lines)


def beside(printed: float, *ours: float) -> str:
    """The paper's figure in italics, and ours."""
    return f"*{digits(printed) or '?'}* {' / '.join(digits(value) for value in ours)}"
