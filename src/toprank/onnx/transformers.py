"""Transformers as nodes: each takes the name of a table and returns that of the table it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onnx import TensorProto

from .coded import coded_numbers
from .errors import NotExportable
from .graph import Graph

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

__all__ = ["imputed", "transformed"]
