"""Convert transformers to ONNX nodes: tables, scalers, bins, kernels, pipelines."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from onnx import TensorProto

from ..features.table import MISSING, encoded_words, kinds_in
from .graph import Graph, NotExportable

_DAY = 86400.0


def date_parts(graph: Graph, name: str, wanted: list[str]) -> list[str]:
    """The parts of a date from its seconds since 1970, NaN where it is missing.

    Months by the calendar that begins in March, of which every 400 years have 146,097 days.
    """
    if wanted == ["days"]:
        raise NotExportable(f"column {name!r} holds spans of time, which cannot be exported.")
    seconds = graph.input(name, 1)

    def number(value: float) -> str:
        return graph.constant([value])

    def floor(table: str, by: float) -> str:
        return graph.add("Floor", graph.add("Div", table, number(by)))

    def rest(table: str, by: float) -> str:
        return graph.add("Sub", table, graph.add("Mul", floor(table, by), number(by)))

    def total(*terms: tuple[float, str]) -> str:
        parts = [graph.add("Mul", own, number(factor)) for factor, own in terms]
        found = parts[0]
        for part in parts[1:]:
            found = graph.add("Add", found, part)
        return found

    days = floor(seconds, _DAY)
    since = graph.add("Add", days, number(719468.0))  # of the first of March of the year 0
    of_era = rest(since, 146097.0)
    leaps = total(
        (1.0, of_era),
        (-1.0, floor(of_era, 1460.0)),
        (1.0, floor(of_era, 36524.0)),
        (-1.0, floor(of_era, 146096.0)),
    )
    year = floor(leaps, 365.0)
    of_year = total(
        (1.0, of_era), (-365.0, year), (-1.0, floor(year, 4.0)), (1.0, floor(year, 100.0))
    )
    # Months from March on have 153 days in every five.
    from_march = floor(graph.add("Add", total((5.0, of_year)), number(2.0)), 153.0)
    begins = floor(graph.add("Add", total((153.0, from_march)), number(2.0)), 5.0)
    day = graph.add("Add", total((1.0, of_year), (-1.0, begins)), number(1.0))
    month = graph.add("Add", rest(graph.add("Add", from_march, number(2.0)), 12.0), number(1.0))
    found = {
        "days": days,
        "month": month,
        "day": day,
        "weekday": rest(graph.add("Add", days, number(3.0)), 7.0),
        "hour": graph.add("Div", rest(seconds, _DAY), number(3600.0)),
    }
    return [found[part] for part in wanted]


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


def numbers_of_table(numbers: Any, graph: Graph) -> str:
    """The numbers of a table: doubles of numbers, words of categories, seconds of dates."""
    made = []
    for kind, pipe, columns in kinds_in(numbers):
        names = [str(own) for own in columns]
        if kind == "number":
            table = graph.beside([graph.input(own, 1) for own in names])
            made.append(imputed(pipe[-1], graph, table))
        elif kind == "category":
            made += _one_hot(pipe[-1], graph, names)
        else:
            both = zip(names, pipe[0].parts_, strict=True)
            parts = [one for own, wanted in both for one in date_parts(graph, own, wanted)]
            made.append(imputed(pipe[-1], graph, graph.beside(parts)))
    return graph.beside(made)


def _one_hot(encoder: Any, graph: Graph, names: list[str]) -> list[str]:
    """A row of a table for every word that is known, and one for all others."""
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of words that are not known, on purpose
        tables = encoded_words(encoder, [list(known) for known in encoder.categories_])
    for name, known, rows in zip(names, encoder.categories_, tables, strict=True):
        words = [str(word) for word in known]
        missing = words.index(MISSING) if MISSING in words else None  # an empty cell is one
        made.append(graph.rows_of_words(name, words, rows, missing))
    return made


#: More than the rounding of a scaled or squashed value, beside its size.
_ROUNDING = 1e-14
#: What makes the nodes of a transformer, by its class.
Writer = Callable[[Any, Graph, str], str]


def transformed(step: Any, graph: Graph, table: str) -> str:
    """The table that a fitted transformer makes."""
    if step is None or step == "passthrough":
        return table
    write = WRITERS.get(type(step).__name__)
    if write is None:
        raise NotExportable(
            f"{type(step).__name__} cannot be exported: pipelines of {', '.join(sorted(WRITERS))} "
            "and what table_pipeline makes can. skl2onnx knows more of them, after "
            "toprank.onnx.register()."
        )
    return write(step, graph, table)


def _pipeline(step: Any, graph: Graph, table: str) -> str:
    for _, inner in step.steps:
        table = transformed(inner, graph, table)
    return table


def _union(step: Any, graph: Graph, table: str) -> str:
    weights = step.transformer_weights or {}
    made = []
    for name, inner in step.transformer_list:
        if inner == "drop":
            continue
        part = transformed(inner, graph, table)
        made.append(
            graph.add("Mul", part, graph.constant(weights[name])) if name in weights else part
        )
    return graph.beside(made)


def _function(step: Any, graph: Graph, table: str) -> str:
    if step.func is None:
        return table
    if step.func is np.float32:
        narrow = graph.add("Cast", table, to=TensorProto.FLOAT)
        return graph.double(narrow)
    raise NotExportable(
        f"the function {getattr(step.func, '__name__', step.func)!r} cannot be exported."
    )


def _moved(graph: Graph, table: str, center: Any, scale: Any) -> str:
    """(x - center) / scale, of which either may be missing."""
    if center is not None:
        table = graph.add("Sub", table, graph.constant(center))
    return table if scale is None else graph.add("Div", table, graph.constant(scale))


def _standard(step: Any, graph: Graph, table: str) -> str:
    return _moved(graph, table, step.mean_ if step.with_mean else None, step.scale_)


def _robust(step: Any, graph: Graph, table: str) -> str:
    center = step.center_ if step.with_centering else None
    return _moved(graph, table, center, step.scale_ if step.with_scaling else None)


def _max_abs(step: Any, graph: Graph, table: str) -> str:
    return _moved(graph, table, None, step.scale_)


def _min_max(step: Any, graph: Graph, table: str) -> str:
    if step.clip:
        raise NotExportable("MinMaxScaler(clip=True) cannot be exported.")
    scaled = graph.add("Mul", table, graph.constant(step.scale_))
    return graph.add("Add", scaled, graph.constant(step.min_))


def _squash(step: Any, graph: Graph, table: str) -> str:
    z = _moved(graph, table, step.center_, step.scale_)
    far = graph.add("Div", z, graph.constant(float(step.bound)))
    length = graph.add("Sqrt", graph.add("Add", graph.add("Mul", far, far), graph.constant(1.0)))
    return graph.add("Div", z, length)


def imputed(step: Any, graph: Graph, table: str) -> str:
    """Missing numbers filled, and the flags of those beside them."""
    if step.strategy not in ("median", "mean", "most_frequent", "constant") or not (
        isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    ):
        raise NotExportable("SimpleImputer can be exported where NaN is what is missing.")
    if np.isnan(np.asarray(step.statistics_, dtype=np.float64)).any():
        raise NotExportable("SimpleImputer dropped empty columns: set keep_empty_features=True.")
    gaps = graph.add("IsNaN", table)
    filled = graph.add("Where", gaps, graph.constant(step.statistics_), table)
    if not step.add_indicator or not len(step.indicator_.features_):
        return filled
    places = graph.constant(step.indicator_.features_, np.int64)
    flags = graph.add("Gather", graph.double(gaps), places, axis=1)
    return graph.beside([filled, flags])


def _bins(step: Any, graph: Graph, table: str) -> str:
    """Columns, ones of bins and of cells, and products of pairs, dense."""
    made = [table] if step.columns else []
    binned = [(int(j), step.edges_[j]) for j in step.binned_]
    made += [_ones(graph, _bin(graph, table, j, own), len(own) + 1) for j, own in binned]
    columns = [graph.column(table, int(j)) for j in step.strongest_]
    both = zip(step.strongest_, step.grid_edges_, strict=True)
    cells = [_bin(graph, table, int(j), edges) for j, edges in both]
    products = []
    for a, b in step._pairs():
        sides = len(step.grid_edges_[a]) + 1, len(step.grid_edges_[b]) + 1
        row = graph.add("Mul", cells[a], graph.constant(sides[1], np.int64))
        made.append(_ones(graph, graph.add("Add", row, cells[b]), sides[0] * sides[1]))
        products.append(graph.add("Mul", columns[a], columns[b]))
    return graph.beside([*made, *products])


def _bin(graph: Graph, table: str, place: int, edges: Any) -> str:
    """The number of edges at or below a value, for every row.

    Edges are values of training rows. They are lowered by more than rounding, so that such a value
    is above its edge here too, though a square root be rounded otherwise.
    """
    edges = edges - _ROUNDING * np.abs(edges)
    at = graph.add("GreaterOrEqual", graph.column(table, place), graph.constant(edges))
    counted = graph.add("Cast", at, to=TensorProto.INT64)
    return graph.add("ReduceSum", counted, graph.constant([1], np.int64), keepdims=0)


def _ones(graph: Graph, places: str, width: int) -> str:
    """A one in the place of every row; OneHot has no doubles in onnxruntime."""
    down = graph.add("Reshape", places, graph.constant([-1, 1], np.int64))
    return graph.double(graph.add("Equal", down, graph.constant(np.arange(width), np.int64)))


def _nystroem(step: Any, graph: Graph, table: str) -> str:
    if step.kernel != "rbf":
        raise NotExportable(f"Nystroem(kernel={step.kernel!r}) cannot be exported: rbf can.")
    centers = np.asarray(step.components_, dtype=np.float64)
    gamma = 1.0 / centers.shape[1] if step.gamma is None else float(step.gamma)
    return _kernel(graph, table, centers, gamma, step.normalization_.T)


def _kernel_columns(step: Any, graph: Graph, table: str) -> str:
    rows, turned = (np.asarray(part, dtype=np.float64) for part in (step.rows_, step.map_))
    made = _kernel(graph, table, rows, step.gamma_, turned)
    return graph.beside([table, made]) if step.columns else made


def _kernel(graph: Graph, table: str, rows: Any, gamma: float, turned: Any) -> str:
    """The Gaussian kernel with some rows, times a matrix."""
    own = graph.add(
        "ReduceSum", graph.add("Mul", table, table), graph.constant([1], np.int64), keepdims=1
    )
    cross = graph.add("MatMul", table, graph.constant(-2.0 * rows.T))
    squares = graph.add("Add", graph.add("Add", own, cross), graph.constant((rows**2).sum(axis=1)))
    distance = graph.add("Max", squares, graph.constant(0.0))
    kernel = graph.add("Exp", graph.add("Mul", distance, graph.constant(-gamma)))
    return graph.add("MatMul", kernel, graph.constant(turned))


WRITERS: dict[str, Writer] = {
    "BinsAndPairs": _bins,
    "CodedNumbers": coded_numbers,
    "FeatureUnion": _union,
    "FunctionTransformer": _function,
    "KernelColumns": _kernel_columns,
    "MaxAbsScaler": _max_abs,
    "MinMaxScaler": _min_max,
    "Nystroem": _nystroem,
    "Pipeline": _pipeline,
    "RobustScaler": _robust,
    "SimpleImputer": imputed,
    "Squash": _squash,
    "StandardScaler": _standard,
}


__all__ = [
    "coded_numbers",
    "coded_table",
    "date_parts",
    "imputed",
    "numbers_of_table",
    "stretched",
    "transformed",
]
