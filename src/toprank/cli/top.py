"""`toprank top`: the rows to look at first, on a terminal, in a file, as JSON."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.tables import Table
from ..inputs.printable import printable, printable_json
from .checks import check_list_name
from .list_files import Sheet, line_of, packed
from .models import FitRecord
from .output import UsageError, print_line, print_table
from .score import scored
from .why import Reason, reasons

Array = NDArray[np.float64]

#: How formulas of spreadsheets begin.
_FORMULAS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


@dataclass(frozen=True)
class Head:
    """The first rows of a list, the best first, and what is promised of them."""

    rows: NDArray[np.int64]
    names: NDArray[Any]
    scores: Array
    n_rows: int
    #: For each row the columns that put it there, the strongest first.
    why: list[list[Reason]]
    promise: str | None = None
    at_least: int | None = None


def top_rows(
    model: Any,
    record: FitRecord,
    table: Table,
    id: str | None,
    k: int | float | None,
    confidence: float,
    n_reasons: int,
) -> Head:
    """The k rows with the highest scores; of equal ones the first."""
    wanted = record.capacity if k is None else k
    if wanted is None:
        raise UsageError("-k is missing: say how many rows, here or by `toprank fit --capacity`.")
    with _twice(table, n_reasons > 0) as again:
        head, scores = _first_rows(model, record, again, id, wanted)
        print_line(record.ranked_first(), always=True)
        if wanted > head.n_rows:
            print_line(
                f"note: {table.name} has {head.n_rows:,} rows, fewer than the {wanted:,} wanted: "
                "all are listed."
            )
        if n_reasons:
            head = replace(head, why=reasons(model, record, again, head.rows, n_reasons))
    if record.calibration_scores is None:
        return head
    return _promised(head, record, scores, confidence)


@contextlib.contextmanager
def _twice(table: Table, needed: bool) -> Iterator[Table]:
    """A table that can be read twice: standard input is copied to a file first."""
    if table.path != "-" or not needed:
        yield table
        return
    with tempfile.NamedTemporaryFile(prefix="toprank-") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        copied = Table(file.name, table.format)
        copied.name = table.name
        yield copied


def _first_rows(
    model: Any, record: FitRecord, table: Table, id: str | None, wanted: int | float
) -> tuple[Head, Array]:
    every: list[Array] = []
    names: list[NDArray[Any]] = []
    places = best = np.empty(0)
    first = 0
    for part in scored(model, record, table, id, None, labelled=False):
        every.append(part.scores)
        places = np.concatenate([places, np.arange(first, first + len(part.scores))])
        best = np.concatenate([best, part.scores])
        names.append(part.names)
        first += len(part.scores)
        if isinstance(wanted, int):  # of a share it is not known yet how many that is
            keep = np.sort(np.argsort(-best, kind="stable")[:wanted])
            places, best, names = places[keep], best[keep], [np.concatenate(names)[keep]]
    n = min(first, wanted if isinstance(wanted, int) else int(np.ceil(wanted * first - 1e-9)))
    order = np.argsort(-best, kind="stable")[:n]
    rows, called = places[order].astype(np.int64), np.concatenate(names)[order]
    return Head(rows, called, best[order], first, [[] for _ in rows]), np.concatenate(every)


def _promised(head: Head, record: FitRecord, scores: Array, confidence: float) -> Head:
    from ..guarantees import HeadBound

    bound = HeadBound(confidence=confidence)
    bound.fit(record.calibration_positive, record.calibration_scores)
    statement = bound.of(scores)
    statement.check()
    k = len(head.rows)
    return replace(head, promise=statement.text(k), at_least=int(statement.lower()[k - 1]))


def of_head(head: Head, confidence: float, positive: str) -> dict[str, Any]:
    """The list for programs."""
    more = {"confidence": confidence, "promise": head.promise, "positive": positive}
    rows = list(_for_programs(head))
    return {"rows": rows, "of": head.n_rows, "at_least": head.at_least, **more}


def _for_programs(head: Head) -> Iterator[dict[str, Any]]:
    for row, name, score, row_reasons in _listed(head):
        why = [{"column": one.column, "value": one.value, "adds": one.adds} for one in row_reasons]
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
    """Return scores with few digits, at least `least`. Different scores are different texts."""
    exact = [float(own) + 0.0 for own in scores]  # no -0.0
    # No score needs 20 digits after the point.
    for digits in range(least, 20):
        shown = [f"{own:.{digits}{form}}" for own in exact]
        if len({float(text) for text in shown}) == len(set(exact)):
            return shown
    return [repr(own) for own in exact]


def show(head: Head, id: str | None, *, why: bool) -> None:
    """Print it: a table for people, CSV for programs."""
    if sys.stdout.isatty():
        # Larger scores have too many digits before the point for a terminal.
        form = "f" if np.abs(head.scores).max(initial=0.0) < 1e9 else "g"
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


__all__ = ["Head", "of_head", "short", "show", "top_rows", "write"]
