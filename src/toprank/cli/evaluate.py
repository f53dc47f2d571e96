"""`toprank evaluate`: every metric of a model on a table with labels."""

from __future__ import annotations

import re
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.errors import TableError
from ..files.tables import Table
from .models import FitRecord
from .output import UsageError
from .score import scored

Array = NDArray[np.float64]

#: Of the intervals of `evaluate`.
_CONFIDENCE = 0.95


def evaluate_table(
    model: Any, record: FitRecord, table: Table, label: str | None, ks: tuple[int | float, ...]
) -> dict[str, Any]:
    """Every metric, of a table with labels."""
    from ..metrics import ranking_report

    label = record.label if label is None else label
    if label is None and not table.sparse:
        raise UsageError("--label COLUMN is missing: the model was trained on rows without names.")
    parts = list(scored(model, record, table, None, label, labelled=True))
    scores = np.concatenate([part.scores for part in parts])
    labels = np.concatenate([part.labels for part in parts if part.labels is not None])
    strange = ~np.isin(labels.astype(str), (record.positive, record.negative))
    if strange.any():
        row = int(np.argmax(strange))
        raise TableError(
            f"{table.name}, row {row + 1}: the label {labels[row]!r} is neither "
            f"{record.positive!r} nor {record.negative!r}, which the model was trained on."
        )
    positive = labels == record.positive
    if positive.all() or not positive.any():
        raise TableError(f"{table.name} has rows of one label only: there is nothing to compare.")
    few = [k for k in ks if isinstance(k, float) or k <= len(scores)]
    if len(few) < len(ks):
        raise TableError(f"{table.name} has {len(scores)} rows, fewer than -k {max(ks)}.")
    return {
        "rows": len(scores),
        "positives": int(positive.sum()),
        "positive": record.positive,
        "lists": [_found_in(positive, scores, k) for k in ks],
        "metrics": ranking_report(positive, scores, k=list(ks)),
    }


def _found_in(positive: NDArray[np.bool_], scores: Array, k: int | float) -> dict[str, Any]:
    """Return how many of the first k rows are positive, with a 95 % interval for such tables."""
    from ..metrics import interval, precision_at_k

    n, m = len(scores), int(positive.sum())
    count = k if isinstance(k, int) else max(1, round(k * n))
    found: dict[str, Any] = {
        "k": count,
        "found": count * float(precision_at_k(positive, scores, count)),
        "by_chance": count * m / n,
        "low": None,
        "high": None,
        "confidence": _CONFIDENCE,
    }
    # An interval needs five positives.
    if m >= 5:
        share = interval(f"precision_at_{count}", positive, scores, confidence=_CONFIDENCE)
        found["low"] = floor(round(count * share.low, 6))
        found["high"] = ceil(round(count * share.high, 6))
    return found


def lines_of(found: dict[str, Any]) -> list[str]:
    """Return lines on how many of the first rows are positive."""
    lines = []
    for one in found["lists"]:
        hits = _number(one["found"])  # rows with equal scores are split evenly
        what = f"{'is' if hits == '1' else 'are'} {found['positive']!r}"
        sure = ""
        if one["low"] is not None:
            sure = f" ({one['low']:,} to {one['high']:,}, {100 * one['confidence']:.3g} %)"
        lines.append(
            f"{hits} of the first {one['k']:,} {what}{sure}; in random order it would be "
            f"{_number(one['by_chance'])}. The table has {found['positives']:,}."
        )
    return lines


def _number(value: float) -> str:
    """A number of rows that may be a mean."""
    return f"{value:,.1f}".removesuffix(".0")


def table_of(found: dict[str, Any]) -> list[list[str]]:
    """The metrics, those of the first rows first, with what they are."""
    from ..report.words import metric_words

    own = [name for name in found["metrics"] if re.match("(precision|recall|lift)_at_[0-9]", name)]
    others = [name for name in found["metrics"] if name not in own]
    return [
        [name, f"{found['metrics'][name]:.4f}", metric_words(name)[1].replace("\u00a0", " ")]
        for name in own + others
    ]


__all__ = ["evaluate_table", "lines_of", "table_of"]
