"""`toprank compare`: models on the same folds of a table, and a report."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..files.atomic import check_target
from ..files.columns import as_kinds, kinds_of, labels_of, words, words_of
from ..files.errors import TableError
from ..files.tables import Table
from .fitting import two_labels
from .telling import Refusal, say, working

#: The models without --models: what `fit` would choose by itself; logistic regression always runs.
_MODELS = ("head",)
#: What --ignore takes for a check; all else is a column.
_CHECK = re.compile(r"TR\d{3}", re.IGNORECASE)


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    data: str
    format: str | None
    label: str | None
    positive: str | None
    id: str | None
    models: tuple[str, ...]
    metrics: tuple[str, ...]
    folds: int
    repeats: int
    capacity: int | float | None
    list_size: int | None
    new: str | None
    jobs: int | None
    resume: str | None
    ignore: tuple[str, ...]
    report: str | None
    markdown: str | None


@dataclass(frozen=True)
class Rows:
    """A table as models take it."""

    X: Any
    y: NDArray[np.int64]
    ids: list[Any] | None
    positive: str
    kinds: dict[str, str] | None
    from_zero: bool


def compare(wanted: Wanted, command: str) -> Any:
    """Read, compare, and write the report; it comes back as well."""
    from ..report import make
    from ..selection import compare as compared

    check_paths(wanted)
    silenced = [one for one in wanted.ignore if _CHECK.fullmatch(one)]
    table = Table(wanted.data, wanted.format)
    with working("reading"):
        rows = _read(table, wanted)
        new, new_ids = _read_new(rows, wanted)
    named = [name for given in wanted.models or _MODELS for name in given.split(",") if name]
    with working(f"comparing models on {len(rows.y):,} rows") as tell, _quiet():
        found = compared(
            named,
            rows.X,
            rows.y,
            cv=_folds(wanted),
            metrics=list(wanted.metrics) or None,
            capacity=wanted.capacity,
            list_size=wanted.list_size,
            n_jobs=wanted.jobs,
            store=wanted.resume,
            progress=lambda done, total, last: tell(f"{done} of {total} fits ({last})"),
        )
    with working("making the report"), _quiet():
        report = make(
            found,
            name=table.name,
            label=wanted.label,
            positive=rows.positive,
            ids=rows.ids,
            new=new,
            new_ids=new_ids,
            new_name=wanted.new,
            ignore=silenced,
            command=command,
        )
        written = _write(report, wanted)
    for path in written:
        say(f"written: {path}")
    return report


def check_paths(wanted: Wanted) -> None:
    """Refuse what could not be written, before any work is done."""
    for option, path, endings in (
        ("--report", wanted.report, (".html", ".htm", ".json")),
        ("--markdown", wanted.markdown, (".md",)),
    ):
        if path is None:
            continue
        if Path(path).suffix.lower() not in endings:
            raise Refusal(f"{option} {path}: the name must end in {' or '.join(endings)}.")
        check_target(path)


def _write(report: Any, wanted: Wanted) -> list[str]:
    """The JSON first, then the page, then Markdown."""
    paths = []
    if wanted.report is not None:
        paths.append(str(Path(wanted.report).with_suffix(".json")))
        if Path(wanted.report).suffix.lower() != ".json":
            paths.append(wanted.report)
    if wanted.markdown is not None:
        paths.append(wanted.markdown)
    for path in paths:
        report.write(path)
    return paths


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings of fits: they are in the report, as checks and one by one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _folds(wanted: Wanted) -> Any:
    if wanted.repeats == 1:
        return wanted.folds
    from sklearn.model_selection import RepeatedStratifiedKFold

    return RepeatedStratifiedKFold(n_splits=wanted.folds, n_repeats=wanted.repeats, random_state=0)


def _read(table: Table, wanted: Wanted) -> Rows:
    ids = None
    if table.sparse:
        if wanted.label is not None or wanted.id is not None:
            raise Refusal("svmlight files have no names: leave --label and --id out.")
        X, numbers, from_zero = table.matrix()
        labels, kinds = words_of(numbers), None
    else:
        if wanted.label is None:
            raise Refusal("--label COLUMN is missing: the column that says yes or no.")
        frame = table.whole(as_text=() if wanted.id is None else (wanted.id,))
        frame.columns = [str(name) for name in frame.columns]
        if not len(frame):
            raise TableError(f"{table.name} has no rows.")
        labels = labels_of(frame, wanted.label, table.name)
        left_out = [one for one in wanted.ignore if not _CHECK.fullmatch(one)]
        named = [(one, "--ignore") for one in left_out]
        named += [] if wanted.id is None else [(wanted.id, "--id")]
        for own, option in named:
            if own not in frame.columns:
                raise TableError(f"{table.name} has no column {own!r}, which {option} names.")
        ids = None if wanted.id is None else words(frame[wanted.id]).tolist()
        frame = frame.drop(columns=[wanted.label, *(own for own, _ in named)])
        kinds, from_zero = kinds_of(frame), False
        if not kinds:
            raise TableError(f"{table.name} has no column to learn from beside the label.")
        X = as_kinds(frame, kinds, table.name, 0)
    _, positive = two_labels(labels, wanted.positive, table.name)
    y = (labels == positive).astype(np.int64)
    return Rows(X, y, ids, positive, kinds, from_zero)


def _read_new(rows: Rows, wanted: Wanted) -> tuple[Any, list[Any] | None]:
    """The list of new rows, if there is one, with the same columns."""
    if wanted.new is None:
        return None, None
    table = Table(wanted.new)
    if table.sparse != (rows.kinds is None):
        raise TableError(f"{table.name} and {wanted.data} are of different kinds.")
    if rows.kinds is None:
        parts = [X for X, _ in table.matrices(rows.X.shape[1], from_zero=rows.from_zero)]
        return sparse.vstack(parts, format="csr"), None
    frame = table.whole(as_text=() if wanted.id is None else (wanted.id,))
    frame.columns = [str(name) for name in frame.columns]
    ids = words(frame[wanted.id]).tolist() if wanted.id in frame.columns else None
    return as_kinds(frame, rows.kinds, table.name, 0), ids


def lines_of(report: Any) -> list[str]:
    """The answer and the checks that fired, for people."""
    data = report.data
    lines = [data["answer"]["headline"], *data["answer"]["sentences"]]
    lines += [
        f"{check['code']} {check['title']}: {check['message']}"
        for check in data["checks"]
        if check["status"] == "fired"
    ]
    return lines


def table_of(report: Any) -> tuple[list[str], list[list[str]]]:
    """Models and metrics, for people."""
    metrics = report.data["metrics"]
    rows = []
    for model in report.data["models"]:
        own = [model["metrics"][metric["name"]] for metric in metrics]
        cells = [f"{one['mean']:.3f} ({one['low']:.3f}-{one['high']:.3f})" for one in own]
        rows.append([model["title"], *cells, f"{model['seconds']:.1f}"])
    return ["model", *(metric["title"] for metric in metrics), "seconds"], rows


__all__ = ["Wanted", "check_paths", "compare", "lines_of", "table_of"]
