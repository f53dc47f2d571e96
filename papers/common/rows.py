"""Rows of figures: files of them, and means over some of them."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]


def chosen(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if wanted.items() <= row.items()]


def mean(rows: Iterable[Row], what: str, **wanted: Any) -> float:
    """The mean of a figure over the rows that have these values; NaN if there are none."""
    values = [row[what] for row in chosen(rows, **wanted)]
    return float(np.mean(values)) if values else float("nan")


def spread(rows: Iterable[Row], what: str, **wanted: Any) -> float:
    """The standard deviation of a figure over the rows that have these values."""
    return float(np.std([row[what] for row in chosen(rows, **wanted)]))


def values_of(rows: Iterable[Row], key: str) -> list[Any]:
    """The different values of a key, in the order in which they come."""
    return list(dict.fromkeys(row[key] for row in rows))


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """A file of rows: JSON, a line a row, or CSV, all rows of the same keys, six digits."""
    if path.suffix == ".json":
        lines = ",\n".join(json.dumps(row) for row in rows)
        write_whole(path, lambda part: part.write_text(f"[\n{lines}\n]\n", encoding="utf-8"))
    else:
        write_whole(path, lambda part: _write_csv(part, rows))


def read_rows(path: Path) -> list[Row]:
    """The rows of a file that write_rows wrote."""
    if path.suffix == ".json":
        return list(json.loads(path.read_text(encoding="utf-8")))
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file so that no one ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _write_csv(path: Path, rows: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def _number(text: str) -> Any:
    # Cell by cell, not column by column: a gamma may be 0.1 or "uniform".
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
