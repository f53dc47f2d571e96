"""`toprank compare`: models on the same folds of a table, and a report."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import sparse

from ..files.columns import as_kinds, frame_of
from ..files.errors import TableError
from ..files.tables import Table
from .checks import report_paths
from .fit import Rows, names_in, read
from .output import StrictError, UsageError, print_line, progress_line
from .split import splitter_of

#: What --ignore takes for a check; all else is a column.
_CHECK = re.compile(r"TR\d{3}", re.IGNORECASE)


@dataclass(frozen=True)
class CompareOptions:
    """Options of the command."""

    data: str
    format: str | None
    label: str | None
    positive: str | None
    id: str | None
    time: str | None
    group: str | None
    categories: tuple[str, ...]
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
    strict: bool = False

    @property
    def ignored(self) -> tuple[str, ...]:
        """The columns that are not learnt from."""
        return tuple(one for one in self.ignore if not _CHECK.fullmatch(one))

    @property
    def silenced(self) -> tuple[str, ...]:
        """The checks that are not looked at."""
        return tuple(one for one in self.ignore if _CHECK.fullmatch(one))


def compare_models(options: CompareOptions, command: str) -> Any:
    """Read, compare, and write the report; it comes back as well."""
    from ..report import make
    from ..report.checks import codes_of
    from ..selection import compare

    codes_of(options.silenced)
    # Without --models it is the model that `fit` takes. Logistic regression always runs.
    named = list(options.models or ("head",))
    table = Table(options.data, options.format)
    with progress_line("reading"):
        rows = read(table, options)
        new, new_ids = _read_new(rows, options)
    rows.print_notes(options.positive, leaks="TR006" not in map(str.upper, options.silenced))
    with progress_line(f"comparing models on {len(rows.labels):,} rows") as tell, _quiet():
        found = compare(
            named,
            rows.X,
            rows.y,
            cv=_folds(options),
            metrics=list(options.metrics) or None,
            capacity=options.capacity,
            list_size=options.list_size or rows.list_size,
            groups=rows.groups,
            n_jobs=options.jobs,
            store=options.resume,
            progress=lambda done, total, last: tell(f"{done} of {total} fits ({last})"),
        )
    with progress_line("making the report"), _quiet():
        report = make(
            found,
            name=Path(table.name).name,
            label=options.label,
            positive=rows.positive,
            ids=rows.ids,
            new=new,
            new_ids=new_ids,
            new_name=None if options.new is None else Path(options.new).name,
            ignore=options.silenced,
            command=command,
        )
        paths = report_paths(options.report, options.markdown)
        for path in paths:
            report.write(path)
    for path in paths:
        print_line(f"written: {path}")
    return report


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings of fits: they are in the report, as checks and one by one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _folds(options: CompareOptions) -> Any:
    splitter = splitter_of(options.time, options.group, options.folds)
    if options.repeats == 1:
        return options.folds if splitter is None else splitter
    if splitter is not None:
        raise UsageError("--repeats makes folds at random: leave it out with --time or --group.")
    from sklearn.model_selection import RepeatedStratifiedKFold

    return RepeatedStratifiedKFold(
        n_splits=options.folds, n_repeats=options.repeats, random_state=0
    )


def _read_new(rows: Rows, options: CompareOptions) -> tuple[Any, Any]:
    """The list of new rows, if there is one, with the same columns, and what they are called."""
    if options.new is None:
        return None, None
    table = Table(options.new)
    if table.sparse != (rows.kinds is None):
        raise TableError(f"{table.name} and {options.data} are of different kinds.")
    if rows.kinds is None:
        parts = [X for X, _ in table.matrices(rows.X.shape[1], from_zero=rows.from_zero)]
        return sparse.vstack(parts, format="csr"), None
    found = table.whole()
    named = options.id is not None and options.id in found.column_names
    ids = names_in(found, str(options.id)) if named else None
    return frame_of(as_kinds(found, rows.kinds, table.name, 0)), ids


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


def refuse_leaks(report: Any) -> None:
    """End with exit code 3 if a column gives the label away."""
    if "TR006" in report.fired:
        raise StrictError("a column gives the label away, and --strict was given: see TR006.")


def table_of(report: Any) -> tuple[list[str], list[list[str]]]:
    """Models and metrics, for people."""
    metrics = report.data["metrics"]
    rows = []
    for model in report.data["models"]:
        own = [model["metrics"][metric["name"]] for metric in metrics]
        cells = [f"{one['mean']:.3f} ({one['low']:.3f}-{one['high']:.3f})" for one in own]
        rows.append([model["title"], *cells, f"{model['seconds']:.1f}"])
    return ["model", *(metric["title"] for metric in metrics), "seconds"], rows


__all__ = ["CompareOptions", "compare_models", "lines_of", "refuse_leaks", "table_of"]
