"""Ensembles of trees as a node TreeEnsemble, which compares and adds doubles.

The node knows numbers and NaN only. Categories come to it as columns made for each set: -1 where
the category is in the set, 0 where it is another one that is known, NaN where it is unknown.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx import TensorProto, numpy_helper

from ..trees import TreeEnsemble
from ..trees.arrays import codes_of
from .graph import Graph

#: The first version of ai.onnx.ml whose trees have double scores.
_OPSET = 5
#: Zeros of the core, up to which LightGBM counts them as missing.
_ZERO = float(np.float32(1e-35))

Places = NDArray[np.int64]


def tree_scores(trees: TreeEnsemble, graph: Graph, table: str) -> str:
    """Write the nodes of the decision function, and return the name of their result.

    The table is of doubles, of shape (n, n_features); the result has shape (n, 1).
    """
    graph.ml_opset = max(graph.ml_opset, _OPSET)
    if trees.round_to_float32:
        table = graph.double(graph.add("Cast", table, to=TensorProto.FLOAT))
    table, columns, thresholds = _columns(trees, graph, table)
    total = graph.add(
        "TreeEnsemble",
        table,
        domain="ai.onnx.ml",
        n_targets=1,
        aggregate_function=1,
        post_transform=0,
        **_nodes(trees, columns, thresholds),
    )
    if trees.average:
        total = graph.add("Div", total, graph.constant(float(trees.n_trees)))
    return graph.add("Add", total, graph.constant(float(trees.offset)))


def _columns(
    trees: TreeEnsemble, graph: Graph, table: str
) -> tuple[str, Places, NDArray[np.float64]]:
    """Return a wider table, and for each node the column and threshold that it compares."""
    columns, thresholds = trees.feature.astype(np.int64), trees.threshold.copy()
    parts, width = [table], int(trees.n_features)
    if trees.zero_missing is not None and trees.zero_missing.any():
        missing = trees.zero_missing & (columns >= 0)
        used = np.unique(columns[missing])
        parts.append(_without_zeros(graph, table, used))
        columns[missing] = width + np.searchsorted(used, columns[missing])
        width += len(used)
    if trees.category_set is not None:
        for column in np.unique(trees.feature[(trees.category_set >= 0) & (trees.feature >= 0)]):
            own = (trees.feature == column) & (trees.category_set >= 0)
            sets, which = np.unique(trees.category_set[own], return_inverse=True)
            parts.append(_members(trees, graph, table, int(column), sets))
            columns[own], thresholds[own] = width + which, -0.5
            width += len(sets)
    return graph.beside(parts), columns, thresholds


def _without_zeros(graph: Graph, table: str, columns: Places) -> str:
    """Columns with NaN in place of zeros."""
    own = graph.add("Gather", table, graph.constant(columns, np.int64), axis=1)
    present = graph.add("Greater", graph.add("Abs", own), graph.constant(_ZERO))
    return graph.add("Where", present, own, graph.constant(np.nan))


def _members(
    trees: TreeEnsemble, graph: Graph, table: str, column: int, sets: NDArray[np.int32]
) -> str:
    """One column for each set: minus one in it, zero outside, NaN where unknown."""
    assert trees.category_starts is not None
    assert trees.categories is not None
    first, last = trees.category_starts[column : column + 2]
    values = graph.column(table, column)
    if trees.truncate_categories:
        whole = graph.add("Floor", graph.add("Abs", values))
        values = graph.add("Mul", graph.add("Sign", values), whole)
    known = graph.constant(trees.categories[first:last][np.newaxis])
    equal = graph.double(graph.add("Equal", values, known))
    inside = np.zeros((last - first, len(sets)))
    for place, number in enumerate(sets):
        inside[_codes(trees, int(number)), place] = -1.0
    found = graph.add("MatMul", equal, graph.constant(np.ones((last - first, 1))))
    return graph.add("Div", graph.add("MatMul", equal, graph.constant(inside)), found)


def _codes(trees: TreeEnsemble, number: int) -> Places:
    assert trees.set_starts is not None
    assert trees.set_words is not None
    return codes_of(trees.set_words[slice(*trees.set_starts[number : number + 2])])


def _nodes(trees: TreeEnsemble, columns: Places, thresholds: NDArray[np.float64]) -> dict[str, Any]:
    """Return the attributes: inner nodes and leaves are numbered apart.

    A tree of one leaf becomes a node with that leaf on both sides.
    """
    leaf = trees.feature < 0
    roots = trees.tree_starts[:-1]
    inner = ~leaf
    inner[roots] = True
    node_number, leaf_number = np.cumsum(inner) - 1, np.cumsum(leaf) - 1
    own = np.flatnonzero(inner)
    sides = {}
    for side, children in (("true", trees.left), ("false", trees.right)):
        child = np.where(leaf[own], own, children[own])
        sides[f"nodes_{side}leafs"] = leaf[child].astype(np.int64)
        sides[f"nodes_{side}nodeids"] = np.where(
            leaf[child], leaf_number[child], node_number[child]
        )
    return {
        "tree_roots": node_number[roots],
        "nodes_featureids": np.maximum(columns[own], 0),
        "nodes_modes": numpy_helper.from_array(np.zeros(len(own), dtype=np.uint8), "modes"),
        "nodes_splits": numpy_helper.from_array(thresholds[own], "splits"),
        "nodes_missing_value_tracks_true": trees.missing_left[own].astype(np.int64),
        **sides,
        "leaf_targetids": np.zeros(int(leaf.sum()), dtype=np.int64),
        "leaf_weights": numpy_helper.from_array(trees.value[leaf], "weights"),
    }


__all__ = ["tree_scores"]
