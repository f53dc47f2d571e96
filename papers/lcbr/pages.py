"""Tables in Markdown, and means over repetitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Row = dict[str, Any]


def chosen(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def mean(rows: Iterable[Row], what: str, **wanted: Any) -> float:
    """The mean of a figure over the rows that have these values; NaN if there are none."""
    values = [row[what] for row in chosen(rows, **wanted)]
    return float(np.mean(values)) if values else float("nan")


def spread(rows: Iterable[Row], what: str, **wanted: Any) -> float:
    """The standard deviation of a figure over the rows that have these values."""
    return float(np.std([row[what] for row in chosen(rows, **wanted)]))


def grid(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; cells that are not a number are left empty."""
    table = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join('' if 'nan' in c else c for c in row)} |" for row in table)


def write(path: Any, *pieces: str) -> None:
    """A page: paragraphs, headings and tables, a blank line between."""
    path.write_text(
        "\n\n".join(piece.strip() for piece in pieces if piece) + "\n", encoding="utf-8"
    )


def digits(value: float, places: int = 4) -> str:
    """A figure below one, without its zero."""
    return f"{value:.{places}f}".replace("0.", ".", 1)
