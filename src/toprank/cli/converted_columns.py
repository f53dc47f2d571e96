"""Columns of a table, got back from the numbers that `convert` made of it: for notes on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.table import MISSING, origins
from ..files.mapped import PREPARE, DataSet
from ..files.model import load
from ..inputs.leaks import Leak, find_leaks, sample_rows
from .column_notes import order_notes

#: What `SimpleImputer` puts before the name of a column that says which cells were missing.
_FLAG = "missingindicator_"


def looked_at(data: DataSet) -> tuple[list[Leak], list[str]]:
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
    flags = [j for j, name in enumerate(names) if name.startswith(_FLAG) and j > 0]
    lost = made[:, flags[0]] > 0.5 if flags else np.zeros(len(made), dtype=bool)
    if kind == "number":
        return np.where(lost, np.nan, made[:, 0])
    days = np.round(made[:, 0]).astype("datetime64[D]").astype("datetime64[s]")
    return np.where(lost, np.datetime64("NaT"), days)


__all__ = ["looked_at", "table_of"]
