"""Tables in Markdown and CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page(*pieces: str) -> str:
    """Paragraphs, headings and tables, a blank line between."""
    return "\n\n".join(piece.strip() for piece in pieces if piece.strip()) + "\n"


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Rows of the same keys, numbers with six digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def read_csv(path: Path) -> list[Row]:
    """The rows of a file that write_csv wrote, numbers as numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
