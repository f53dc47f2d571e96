"""The list to act on: on a terminal, as CSV, in a file, as JSON."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..inputs.printable import printable, printable_json
from .listing import Head
from .score_files import line_of, packed
from .sheets import Sheet
from .targets import check_list_name
from .telling import print_table

#: How formulas of spreadsheets begin.
_FORMULAS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
#: Digits after the point that no score needs.
_MOST_DIGITS = 20
#: Scores from which on a terminal has no place for all digits before the point.
_LARGE = 1e9


def of_head(head: Head, confidence: float, positive: str) -> dict[str, Any]:
    """The list for programs."""
    told = {"confidence": confidence, "promise": head.promise, "positive": positive}
    rows = list(_for_programs(head))
    return {"rows": rows, "of": head.n_rows, "at_least": head.at_least, **told}


def _for_programs(head: Head) -> Iterator[dict[str, Any]]:
    for row, name, score, reasons in _listed(head):
        why = [{"column": one.column, "value": one.value, "adds": one.adds} for one in reasons]
        yield {"row": int(row) + 1, "id": name, "score": score, "why": why}


def _listed(head: Head) -> list[tuple[Any, ...]]:
    parts = (head.rows.tolist(), head.names.tolist(), head.scores.tolist(), head.why)
    return list(zip(*parts, strict=True))


def _why(reasons: Any) -> str:
    return "; ".join(one.text() for one in reasons)


def _guarded(text: str) -> str:
    """Return text on one line that no spreadsheet takes for a formula."""
    text = printable(text)
    return f"'{text}" if text.lstrip().startswith(_FORMULAS) else text


def short(scores: Iterable[float], form: str, least: int) -> list[str]:
    """Return scores with few digits, at least so many: scores that differ differ as texts too."""
    exact = [float(own) + 0.0 for own in scores]  # no -0.0
    for digits in range(least, _MOST_DIGITS):
        shown = [f"{own:.{digits}{form}}" for own in exact]
        if len({float(text) for text in shown}) == len(set(exact)):
            return shown
    return [repr(own) for own in exact]


def show(head: Head, id: str | None, *, why: bool) -> None:
    """Print it: a table for people, CSV for programs."""
    if sys.stdout.isatty():
        form = "f" if np.abs(head.scores).max(initial=0.0) < _LARGE else "g"
        rows = [
            [str(j + 1), printable(str(name)), own, *([printable(_why(reasons))] if why else [])]
            for j, ((_, name, _, reasons), own) in enumerate(
                zip(_listed(head), short(head.scores, form, 4), strict=True)
            )
        ]
        print_table(["", *_header(id, why)], rows, numbers=(0, 2))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_header(id, why))
    writer.writerows(_cells(head, short(head.scores, "g", 6), why))
    sys.stdout.flush()  # the list comes first, where what is said goes the same way


def _header(id: str | None, why: bool) -> list[str]:
    return [id or "row", "score", *(["why"] if why else [])]


def _cells(head: Head, scores: Iterable[Any], why: bool) -> list[list[Any]]:
    return [
        [name, own, *([_guarded(_why(reasons))] if why else [])]
        for (_, name, _, reasons), own in zip(_listed(head), scores, strict=True)
    ]


def write(head: Head, path: str, id: str | None, *, why: bool) -> None:
    """Write it to a file, whole or not at all."""
    ending = check_list_name(path)
    with packed(path) as file:
        if ending == ".parquet":
            import pyarrow as pa
            from pyarrow import parquet

            columns = {id or "row": head.names.tolist(), "score": head.scores}
            if why:
                columns["why"] = [_why(reasons) for reasons in head.why]
            parquet.write_table(pa.table(columns), file)
        elif ending == ".xlsx":
            with Sheet(file, path) as sheet:
                for cells in [_header(id, why), *_cells(head, head.scores.tolist(), why)]:
                    sheet.row(cells)
        elif ending == ".jsonl":
            for row in _for_programs(head):
                file.write(f"{printable_json(json.dumps(row, ensure_ascii=False))}\n".encode())
        else:
            comma = "\t" if ending == ".tsv" else ","
            for cells in [_header(id, why), *_cells(head, short(head.scores, "g", 6), why)]:
                file.write(line_of(cells, comma))


__all__ = ["of_head", "short", "show", "write"]
