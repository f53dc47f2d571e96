"""`toprank convert`, and `toprank fit` of what it made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..files.columns import positive_word
from ..files.converting import convert
from ..files.mapped import PREPARE, DataSet, open_dataset
from ..files.model import load, save
from ..inputs.labels import is_plain
from ..inputs.leaks import Leak
from ..selection.head.race import watching
from .column_notes import refuse_leaks, tell_leaks
from .converted_columns import looked_at
from .fitting import Wanted
from .models import Kept, build, ranked_first
from .telling import Refusal, say, working

#: Rows between two words on how far it is.
_OFTEN = 1_000_000


def convert_table(data: str, output: str, **options: Any) -> DataSet:
    """Convert a table, and say how far it is."""
    with working("converting") as more:
        told = 0

        def progress(rows: int, what: str) -> None:
            nonlocal told
            if rows < told or rows >= told + _OFTEN:
                told = rows
                more(f"{what}, {rows:,} rows")

        try:
            return convert(data, output, tell=progress, **options)
        except KeyboardInterrupt:
            say("stopped; the same command goes on from there.")
            raise


def about(data: DataSet) -> dict[str, Any]:
    """What was made, in plain words and numbers."""
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


def tell(data: DataSet) -> list[Leak]:
    """Print which label is ranked first, leaks and notes, as `fit` does; return the leaks."""
    count, n = int(data.meta["positives"]), len(data)
    named = data.meta.get("positive_named") or is_plain(data.classes) or 2 * count > n
    why = "" if named else ", the rarer label"
    say(ranked_first(data.classes[1], count, n, why=why), always=True)
    leaks, notes = looked_at(data)
    tell_leaks(leaks, sparse=data.meta["kind"] != "dense")
    for note in notes:
        say(f"note: {note}")
    return leaks


def lines_of(data: DataSet, output: str) -> list[str]:
    """What was made, for people."""
    made = about(data)
    return [
        f"{made['columns']:,} columns, {made['kind']} {made['dtype']}",
        f"written: {output}",
    ]


def fit_data_set(wanted: Wanted) -> tuple[Any, Kept]:
    """Fit a model to a converted table; it takes tables as they were before."""
    data = open_dataset(wanted.data)
    _refuse_options(wanted, data)
    ranker = build(
        wanted.model,
        alpha=wanted.alpha,
        folds=wanted.folds,
        capacity=wanted.capacity,
        list_size=wanted.list_size,
        budget=wanted.budget,
        n_rows=len(data),
        sparse=True,
        no_trees=wanted.no_trees,
        effort=wanted.effort,
    )
    meta = data.meta
    _check_positive(data, wanted.positive)
    leaks = tell(data)
    if wanted.strict:
        refuse_leaks(leaks)
    dense = meta["kind"] == "dense"
    kept = Kept(
        table=str(meta.get("source")),
        n_rows=len(data),
        n_positive=int(meta["positives"]),
        label=meta.get("label") if dense else None,
        positive=data.classes[1],
        negative=data.classes[0],
        id=meta.get("id"),
        kinds=meta.get("kinds") if dense else None,
        from_zero=bool(meta.get("from_zero")),
        capacity=wanted.capacity,
        leaks=[leak.column for leak in leaks],
        list_size=wanted.list_size,
    )
    more = {} if data.sample_weight is None else {"sample_weight": data.sample_weight}
    what = f"fitting {wanted.model} to {len(data):,} rows"
    with working(what) as line, watching(line.step):
        ranker.fit(data.X, data.y, **more)
    model: Any = ranker
    if dense:
        from sklearn.pipeline import Pipeline

        model = Pipeline([*load(Path(data.path) / PREPARE).steps, ("ranker", ranker)])
    from .measuring import measured

    kept = replace(kept, metrics=measured(model, kept, np.asarray(data.y) == 1))
    save(model, wanted.output, metadata=kept.metadata())
    return model, kept


def _check_positive(data: DataSet, named: str | None) -> None:
    """Refuse a label that is ranked first and that nobody named, unless it is the rarer one."""
    negative, positive = data.classes
    count = int(data.meta["positives"])
    if named is None and not data.meta.get("positive_named"):
        chosen = positive_word({negative: len(data) - count, positive: count}, None, data.path)
        if chosen != positive:
            raise Refusal(
                f"{data.path} was made with {positive!r} as its positive label, the more frequent "
                f"one: convert the table again, or pass --positive {positive} to keep that."
            )


def _refuse_options(wanted: Wanted, data: DataSet) -> None:
    """Refuse what was settled when the table was converted, and what would copy its rows."""
    settled = {
        "--label": wanted.label,
        "--id": wanted.id,
        "--format": wanted.format,
        "--ignore": wanted.ignored,
        "--category": wanted.categories,
    }
    if given := [option for option, value in settled.items() if value]:
        raise Refusal(f"{given[0]} is for `toprank convert`, which made {wanted.data}.")
    if wanted.positive not in (None, data.classes[1]):
        raise Refusal(
            f"{wanted.data} has {data.classes[1]!r} as its positive label: convert the table with "
            f"--positive {wanted.positive}."
        )
    copying = {
        "--calibrate": wanted.calibrate,
        "--time": wanted.time,
        "--group": wanted.group,
    }
    if given := [option for option, value in copying.items() if value]:
        raise Refusal(f"{given[0]} is for tables in memory, not for a converted one.")
    from ..designs.streamed import is_streamed

    if wanted.model.lower() == "head" and is_streamed(data.X):
        raise Refusal(
            f"{wanted.data} is too large for --model head, which makes copies of columns: pass "
            "--model logistic, rectpushapp, toppush or bbr."
        )


__all__ = ["about", "convert_table", "fit_data_set", "lines_of", "tell"]
