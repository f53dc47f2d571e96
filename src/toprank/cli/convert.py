"""`toprank convert`, and `toprank fit` of a converted table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.table import MISSING, origins
from ..files.columns import positive_word
from ..files.converting import convert
from ..files.mapped import PREPARE, DataSet, open_dataset
from ..files.model import load, save
from ..inputs.labels import is_plain
from ..inputs.leaks import Leak, find_leaks, sample_rows
from ..selection.head.race import watching
from .column_notes import order_notes, refuse_leaks, warn_of_leaks
from .fit import FitOptions, measured
from .models import FitRecord, build, ranked_first
from .output import UsageError, print_line, progress_line

#: Rows between two words on how far it is.
_OFTEN = 1_000_000


def convert_table(data: str, output: str, **options: Any) -> DataSet:
    """Convert a table, and say how far it is."""
    with progress_line("converting") as more:
        shown = 0

        def progress(rows: int, what: str) -> None:
            nonlocal shown
            if rows < shown or rows >= shown + _OFTEN:
                shown = rows
                more(f"{what}, {rows:,} rows")

        try:
            return convert(data, output, tell=progress, **options)
        except KeyboardInterrupt:
            print_line("stopped; the same command goes on from there.")
            raise


def facts_of(data: DataSet) -> dict[str, Any]:
    """Return facts of a converted table, for programs."""
    n, d = data.X.shape
    return {
        "output": data.path,
        "rows": n,
        "positive": data.classes[1],
        "positives": data.meta["positives"],
        "columns": d,
        "dtype": str(data.X.dtype),
        "kind": data.meta["kind"],
        "classes": list(data.classes),
        "bytes": sum(file.stat().st_size for file in Path(data.path).iterdir()),
    }


def print_notes(data: DataSet) -> list[Leak]:
    """Print which label is ranked first, leaks and notes, as `fit` does; return the leaks."""
    count, n = int(data.meta["positives"]), len(data)
    named = data.meta.get("positive_named") or is_plain(data.classes) or 2 * count > n
    why = "" if named else ", the rarer label"
    print_line(ranked_first(data.classes[1], count, n, why=why), always=True)
    leaks, notes = examine(data)
    warn_of_leaks(leaks, sparse=data.meta["kind"] != "dense")
    for note in notes:
        print_line(f"note: {note}")
    return leaks


def lines_of(data: DataSet, output: str) -> list[str]:
    """Return lines on a converted table."""
    made = facts_of(data)
    return [
        f"{made['columns']:,} columns, {made['kind']} {made['dtype']}",
        f"written: {output}",
    ]


def fit_data_set(options: FitOptions) -> tuple[Any, FitRecord]:
    """Fit a model to a converted table; it takes tables as they were before."""
    data = open_dataset(options.data)
    _refuse_options(options, data)
    ranker = build(
        options.model,
        alpha=options.alpha,
        folds=options.folds,
        capacity=options.capacity,
        list_size=options.list_size,
        budget=options.budget,
        n_rows=len(data),
        sparse=True,
        no_trees=options.no_trees,
        effort=options.effort,
    )
    meta = data.meta
    _check_positive(data, options.positive)
    leaks = print_notes(data)
    if options.strict:
        refuse_leaks(leaks)
    dense = meta["kind"] == "dense"
    record = FitRecord(
        table=str(meta.get("source")),
        n_rows=len(data),
        n_positive=int(meta["positives"]),
        label=meta.get("label") if dense else None,
        positive=data.classes[1],
        negative=data.classes[0],
        id=meta.get("id"),
        kinds=meta.get("kinds") if dense else None,
        from_zero=bool(meta.get("from_zero")),
        capacity=options.capacity,
        leaks=[leak.column for leak in leaks],
        list_size=options.list_size,
    )
    more = {} if data.sample_weight is None else {"sample_weight": data.sample_weight}
    what = f"fitting {options.model} to {len(data):,} rows"
    with progress_line(what) as line, watching(line.step):
        ranker.fit(data.X, data.y, **more)
    model: Any = ranker
    if dense:
        from sklearn.pipeline import Pipeline

        model = Pipeline([*load(Path(data.path) / PREPARE).steps, ("ranker", ranker)])
    record = replace(record, metrics=measured(model, record, np.asarray(data.y) == 1))
    save(model, options.output, metadata=record.metadata())
    return model, record


def _check_positive(data: DataSet, named: str | None) -> None:
    """Refuse a label that is ranked first and that nobody named, unless it is the rarer one."""
    negative, positive = data.classes
    count = int(data.meta["positives"])
    if named is None and not data.meta.get("positive_named"):
        chosen = positive_word({negative: len(data) - count, positive: count}, None, data.path)
        if chosen != positive:
            raise UsageError(
                f"{data.path} was made with {positive!r} as its positive label, the more frequent "
                f"one: convert the table again, or pass --positive {positive} to keep that."
            )


def _refuse_options(options: FitOptions, data: DataSet) -> None:
    """Refuse what was settled when the table was converted, and what would copy its rows."""
    settled = {
        "--label": options.label,
        "--id": options.id,
        "--format": options.format,
        "--ignore": options.ignored,
        "--category": options.categories,
    }
    if given := [option for option, value in settled.items() if value]:
        raise UsageError(f"{given[0]} is for `toprank convert`, which made {options.data}.")
    if options.positive not in (None, data.classes[1]):
        raise UsageError(
            f"{options.data} has {data.classes[1]!r} as its positive label: convert the table with "
            f"--positive {options.positive}."
        )
    copying = {
        "--calibrate": options.calibrate,
        "--time": options.time,
        "--group": options.group,
    }
    if given := [option for option, value in copying.items() if value]:
        raise UsageError(f"{given[0]} is for tables in memory, not for a converted one.")
    from ..designs.streamed import is_streamed

    if options.model.lower() == "head" and is_streamed(data.X):
        raise UsageError(
            f"{options.data} is too large for --model head, which makes copies of columns: pass "
            "--model logistic, rectpushapp, toppush or bbr."
        )


def examine(data: DataSet) -> tuple[list[Leak], list[str]]:
    """Return the columns that give the label away, and notes on the order of the rows."""
    positive = np.asarray(data.y) == 1
    classes = int(positive.sum()), int((~positive).sum())
    if data.meta["kind"] != "dense":
        return find_leaks(data.X, positive), []
    rows = sample_rows(positive)
    table = table_of(data, rows)
    leaks = find_leaks(table, positive[rows], classes=classes)
    return leaks, order_notes(table, leaks, str(data.meta["source"]), converted=True)


def table_of(data: DataSet, rows: NDArray[np.intp]) -> Any:
    """Return some rows as a frame of the raw columns: dates as days, rare categories pooled."""
    import pandas as pd

    numbers, *scaling = [step for _, step in load(Path(data.path) / PREPARE).steps]
    X = np.asarray(data.X[rows], dtype=np.float64)
    if scaling:
        X = scaling[0].inverse_transform(X)
    names = data.feature_names or []
    made: dict[str, list[int]] = {}
    for place, own in enumerate(origins(numbers)):
        made.setdefault(str(own), []).append(place)
    kinds = data.meta["kinds"]
    return pd.DataFrame(
        {
            own: _column(own, kinds[own], X[:, places], [names[j] for j in places])
            for own, places in made.items()
        }
    )


def _column(own: str, kind: str, made: NDArray[np.float64], names: list[str]) -> NDArray[Any]:
    """Return a raw column of the numbers made of it."""
    if kind == "category":
        words = [name.removeprefix(f"{own}_") for name in names]
        cells = np.array([None if word == MISSING else word for word in words], dtype=object)
        return np.asarray(cells[made.argmax(axis=1)])
    # `SimpleImputer` puts this before the name of a column of flags for missing cells.
    flags = [j for j, name in enumerate(names) if name.startswith("missingindicator_") and j > 0]
    lost = made[:, flags[0]] > 0.5 if flags else np.zeros(len(made), dtype=bool)
    if kind == "number":
        return np.where(lost, np.nan, made[:, 0])
    days = np.round(made[:, 0]).astype("datetime64[D]").astype("datetime64[s]")
    return np.where(lost, np.datetime64("NaT"), days)


__all__ = [
    "convert_table",
    "examine",
    "facts_of",
    "fit_data_set",
    "lines_of",
    "print_notes",
    "table_of",
]
