"""What `HeadRanker` makes of raw columns: an input for each of them, codes, and blended scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dates import date_parts
from .graph import Graph


def coded_table(coder: Any, graph: Graph) -> str:
    """Return codes as `TableCoder` makes them: doubles, words of categories, seconds of dates."""
    made = []
    for j, (name, kind) in enumerate(zip(coder.names, coder.kinds, strict=True)):
        if kind == "number":
            made.append(graph.input(name, 1))
        elif kind == "category":
            made.append(_codes(graph, name, coder.words[j]))
        elif kind is not None:
            made += date_parts(graph, name, coder.parts[j])
    return graph.beside(made)


def _codes(graph: Graph, name: str, words: list[str]) -> str:
    """Return the code of each word, NaN of an empty one unless that is a word."""
    codes = np.append(np.arange(len(words) + 1.0), np.nan)
    return graph.rows_of_words(name, words, codes[:, np.newaxis], len(words) + 1)


def coded_numbers(step: Any, graph: Graph, table: str) -> str:
    """Return numbers filled and flagged, and a row of columns for each code."""
    levels = np.asarray(step.levels)
    made = []
    if len(numbers := np.flatnonzero(levels == 0)):
        own = graph.add("Gather", table, graph.constant(numbers, np.int64), axis=1)
        made.append(graph.add("Where", graph.add("IsNaN", own), graph.constant(step.medians_), own))
    if len(step.flagged_):
        own = graph.add("Gather", table, graph.constant(step.flagged_, np.int64), axis=1)
        made.append(graph.double(graph.add("IsNaN", own)))
    for j, rows in zip(np.flatnonzero(levels), step.tables_, strict=True):
        own = graph.column(table, int(j))
        last = graph.constant(float(len(rows) - 1))
        codes = graph.whole(graph.add("Where", graph.add("IsNaN", own), last, own))
        made.append(graph.rows_at(rows, codes))
    return graph.beside(made)


def stretched(curve: Any, graph: Graph, score: str) -> str:
    """Return the scores on the scale of a `Stretch`: straight lines between its knots."""
    x, y = np.asarray(curve.scores), np.asarray(curve.values)
    made = graph.constant(y[:1])
    if len(x) > 1:
        inside = graph.add(
            "Min", graph.add("Max", score, graph.constant(x[0])), graph.constant(x[-1])
        )
        passed = graph.double(
            graph.add("GreaterOrEqual", inside, graph.constant(x[np.newaxis, 1:-1]))
        )
        count = graph.add("MatMul", passed, graph.constant(np.ones((len(x) - 2, 1))))
        place = graph.whole(count)
        start, base, slope = (
            graph.rows_at(own[:, np.newaxis], place)
            for own in (x[:-1], y[:-1], np.diff(y) / np.diff(x))
        )
        made = graph.add("Add", base, graph.add("Mul", slope, graph.add("Sub", inside, start)))
    for end, slope, side in zip((x[0], x[-1]), curve.slopes, ("Min", "Max"), strict=True):
        beyond = graph.add(side, graph.add("Sub", score, graph.constant(end)), graph.constant(0.0))
        made = graph.add("Add", made, graph.add("Mul", beyond, graph.constant(slope)))
    return made


__all__ = ["coded_numbers", "coded_table", "stretched"]
