"""Pages in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from common.rows import write_whole


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of cells that are text already."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def write_page(path: Path, *pieces: str) -> None:
    """A page of paragraphs, headings and tables, a blank line between; empty ones are left out."""
    text = "\n\n".join(piece.strip() for piece in pieces if piece.strip()) + "\n"
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def digits(value: float, places: int = 4) -> str:
    """A figure, without the zero before its point; nothing for NaN."""
    return "" if value != value else re.sub(r"^(-?)0\.", r"\1.", f"{value:.{places}f}")
