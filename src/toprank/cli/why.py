"""Why a row is at the top: the columns of the table that raise its score most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..features.table import FastNumbers, is_of_table, origins
from ..files.columns import as_kinds, frame_of
from ..files.tables import Table
from ..selection.head.explanation import by_columns, typical_row
from .models import Kept

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Reason:
    """What a column adds to a row's score, beside a typical row."""

    column: str
    value: Any
    adds: float
    category: bool = False

    def text(self) -> str:
        """As "city=Rome +1.2"."""
        return f"{self.column}={shown(self.value)} {self.adds:+.2g}"


def shown(value: Any) -> str:
    """A cell for people: numbers with four digits, whole ones with all."""
    if value is None:
        return "(missing)"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
    return str(value)


def reasons(
    model: Any, kept: Kept, table: Table, rows: NDArray[np.int64], most: int
) -> list[list[Reason]]:
    """For each of the rows, by number, the columns that raise its score most, at `most` so many."""
    if kept.kinds is None:
        return _of_sparse(model, kept, table, rows, most)
    columns = _columns_of(kept.kinds, table, rows)
    names = list(kept.kinds)
    adds = _contributions(model, names, columns)
    cells = {name: _cells(column) for name, column in columns.items()}
    found = []
    for row in range(len(rows)):
        order = [j for j in np.argsort(-adds[row], kind="stable") if adds[row, j] > 0.0][:most]
        found.append(
            [
                Reason(
                    names[j],
                    cells[names[j]][row],
                    float(adds[row, j]),
                    kept.kinds[names[j]] == "category",
                )
                for j in order
            ]
        )
    return found


def _columns_of(kinds: dict[str, str], table: Table, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return the columns of some rows of a table, in the order of these."""
    import pyarrow as pa

    parts, places, first = [], [], 0
    for batch in table.batches(list(kinds)):
        own = np.flatnonzero((rows >= first) & (rows < first + batch.num_rows))
        if len(own):
            parts.append(batch.take(rows[own] - first))
            places.append(own)
        first += batch.num_rows
        if sum(map(len, places)) == len(rows):
            break
    found = pa.Table.from_batches(parts).take(np.argsort(np.concatenate(places)))
    return as_kinds(found, kinds, table.name, rows)


def _contributions(model: Any, names: list[str], columns: dict[str, Any]) -> Array:
    """Return what the columns of the table add to each score."""
    if not hasattr(model, "steps"):
        return np.asarray(model.explain(frame_of(columns)).contributions)
    numbers = model[0]
    if not is_of_table(numbers):
        raise ValueError("The model was not made by `toprank fit`: pass --why 0.")
    owners = origins(numbers)
    Z = FastNumbers(numbers)(columns)
    groups = [np.flatnonzero([own == name for own in owners]) for name in names]
    typical, _ = typical_row(step for _, step in model.steps[1:]) or (np.zeros(Z.shape[1]), "")
    return by_columns(model[1:].decision_function, Z, typical, groups)[0]


def _cells(column: Any) -> list[Any]:
    """Cells for people: None where they are missing."""
    if isinstance(column, tuple):
        codes, words = column
        return [None if code < 0 else words[code] for code in codes]
    if column.dtype.kind == "f":
        return [None if np.isnan(own) else float(own) for own in column]
    days = (column == column.astype("datetime64[D]")) if column.dtype.kind == "M" else None
    texts = []
    for place, own in enumerate(column):
        whole = days is None or not days[place]
        text = str(own.astype("datetime64[s]" if days is not None else own.dtype))
        texts.append(None if np.isnat(own) else text if whole else text[:10])
    return texts


def _of_sparse(
    model: Any, kept: Kept, table: Table, rows: NDArray[np.int64], most: int
) -> list[list[Reason]]:
    """Entries of sparse rows: the terms of a linear score, columns as the file numbers them."""
    found: list[list[Reason]] = [[] for _ in rows]
    start, first = (0 if kept.from_zero else 1), 0
    for X, labels in table.matrices(int(model.n_features_in_), from_zero=kept.from_zero):
        for place in np.flatnonzero((rows >= first) & (rows < first + len(labels))):
            row = X[[rows[place] - first]]
            terms = _terms(model, row)
            order = np.argsort(-terms.data, kind="stable")[:most]
            found[place] = [
                Reason(
                    str(terms.indices[j] + start),
                    float(row[0, terms.indices[j]]),
                    float(terms.data[j]),
                )
                for j in order
                if terms.data[j] > 0.0
            ]
        first += len(labels)
        if first > rows.max(initial=-1):
            break
    return found


def _terms(model: Any, row: Any) -> Any:
    if hasattr(model, "explain"):
        terms = sparse.csr_matrix(model.explain(row).contributions)
    elif hasattr(model, "coef_"):
        terms = sparse.csr_matrix(row.multiply(np.ravel(model.coef_)))
    else:
        raise ValueError(
            f"{type(model).__name__} is not linear, and its scores of sparse rows cannot be taken "
            "apart: pass --why 0."
        )
    terms.sort_indices()
    return terms


__all__ = ["Reason", "reasons", "shown"]
