"""The list to act on: on a terminal, as CSV, in a file, as JSON."""

from __future__ import annotations

import csv
import sys
from typing import Any

from ..printable import printable
from .listing import Head
from .score_files import line_of, packed
from .targets import check_list_name
from .telling import print_table

#: How formulas of spreadsheets begin.
_FORMULAS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def of_head(head: Head, confidence: float, positive: str) -> dict[str, Any]:
    """The list for programs."""
    rows = [
        {
            "row": int(row) + 1,
            "id": name,
            "score": score,
            "why": [
                {"column": one.column, "value": one.value, "adds": one.adds} for one in reasons
            ],
        }
        for row, name, score, reasons in _listed(head)
    ]
    told = {"confidence": confidence, "promise": head.promise, "positive": positive}
    return {"rows": rows, "of": head.n_rows, "at_least": head.at_least, **told}


def _listed(head: Head) -> list[tuple[Any, ...]]:
    parts = (head.rows.tolist(), head.names.tolist(), head.scores.tolist(), head.why)
    return list(zip(*parts, strict=True))


def _why(reasons: Any) -> str:
    return "; ".join(one.text() for one in reasons)


def _guarded(text: str) -> str:
    """Return text on one line that no spreadsheet takes for a formula."""
    text = printable(text)
    return f"'{text}" if text.lstrip().startswith(_FORMULAS) else text


def show(head: Head, id: str | None, *, why: bool) -> None:
    """Print it: a table for people, CSV for programs."""
    if sys.stdout.isatty():
        rows = [
            [
                str(j + 1),
                printable(str(name)),
                f"{own:.4f}",
                *([printable(_why(reasons))] if why else []),
            ]
            for j, (_, name, own, reasons) in enumerate(_listed(head))
        ]
        header = ["", id or "row", "score", *(["why"] if why else [])]
        print_table(header, rows, numbers=(0, 2))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_header(id, why))
    writer.writerows(_cells(head, why))
    sys.stdout.flush()  # the list comes first, where what is said goes the same way


def _header(id: str | None, why: bool) -> list[str]:
    return [id or "row", "score", *(["why"] if why else [])]


def _cells(head: Head, why: bool) -> list[list[Any]]:
    return [
        [name, repr(own), *([_guarded(_why(reasons))] if why else [])]
        for _, name, own, reasons in _listed(head)
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
            return
        comma = "\t" if ending == ".tsv" else ","
        for cells in [_header(id, why), *_cells(head, why)]:
            file.write(line_of(cells, comma))


__all__ = ["of_head", "show", "write"]
