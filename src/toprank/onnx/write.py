"""to_onnx and export: a fitted ranker, or a pipeline that ends in one, as a model of ONNX."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from onnx import TensorProto, helper

from .._atomic import replacing
from ..features.table import is_of_table
from ..selection.head.blend import Blend
from ..trees import TreeEnsemble
from ..trees.arrays import THRESHOLDS
from .graph import Graph, NotExportable
from .transformers import coded_table, numbers_of_table, stretched, transformed
from .trees import tree_scores


def to_onnx(model: Any) -> Any:
    """Write a fitted model as a graph of ONNX, in double precision.

    Rows keep their order: scores in single precision, as most converters have them, tie and
    swap rows at the head of a list.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted ranker with `coef_`, `RankerCV`, `HeadRanker`, a `TreeEnsemble`, or a pipeline
        that ends in one: of `toprank.features`, scalers, imputers, unions, and what
        `toprank.features.table_pipeline` makes.

    Returns
    -------
    onnx.ModelProto
        Its outputs are "score" of shape (n_samples,), the decision function, and "label", which
        regression trees lack. Trees need a runtime that has version 5 of ai.onnx.ml.
        Its input is "X", doubles of shape (n_samples, n_features). A `HeadRanker` fitted on a
        table, or a pipeline that begins with the step of `table_pipeline`, has an input for each
        column that it uses, by name, of shape (n_samples, 1): doubles of numbers, NaN where
        missing; words of categories, "" where missing; of dates doubles, the seconds since 1970
        in UTC, NaN where missing.

    Raises
    ------
    ValueError
        Of boosted rankers, trees in another form, sparse input of other transformers, spans of
        time and functions of your own, with what can be done instead.

    See Also
    --------
    export : Write it to a file.
    register : Have skl2onnx convert rankers inside pipelines of your own.

    Examples
    --------
    >>> from toprank import LogisticRank
    >>> from toprank.datasets import load_mammography
    >>> from toprank.onnx import to_onnx
    >>> X, y = load_mammography(return_X_y=True)
    >>> [output.name for output in to_onnx(LogisticRank().fit(X, y)).graph.output]
    ['score', 'label']
    """
    graph = Graph()
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    if is_of_table(steps[0]):
        table = numbers_of_table(steps.pop(0), graph)
    elif getattr(model, "_coder", None) is not None:
        table = coded_table(model._coder, graph)
    else:
        table = graph.input("X", int(model.n_features_in_))
    *before, last = steps
    for step in before:
        table = transformed(step, graph, table)
    score = _score(last, graph, table)
    flat = graph.add("Reshape", score, graph.constant([-1], np.int64), name="score")
    outputs = [helper.make_tensor_value_info("score", TensorProto.DOUBLE, [None])]
    if hasattr(last, "classes_"):  # regression trees have none
        outputs.append(_label(last, graph, flat))
    return graph.model(outputs, f"{type(last).__name__} of toprank; the higher, the nearer the top")


def _score(ranker: Any, graph: Graph, table: str) -> str:
    """The decision function."""
    if hasattr(ranker, "threshold_") and hasattr(ranker, "best_estimator_"):
        raw = _score(ranker.best_estimator_, graph, table)
        return graph.add("Sub", raw, graph.constant(float(ranker.threshold_)))
    if hasattr(ranker, "steps"):
        *before, last = [step for _, step in ranker.steps]
        for step in before:
            table = transformed(step, graph, table)
        return _score(last, graph, table)
    if isinstance(ranker, Blend):
        return _blended(ranker, graph, table)
    if isinstance(ranker, TreeEnsemble):
        return tree_scores(ranker, graph, table)
    if not hasattr(ranker, "coef_"):
        raise NotExportable(
            f"{type(ranker).__name__} is no linear score of its features, and cannot be exported: "
            "sums of weights can, and trees as toprank.trees.from_model makes them."
        )
    weights = np.ravel(np.asarray(ranker.coef_, dtype=np.float64))
    product = graph.add("MatMul", table, graph.constant(weights[:, np.newaxis]))
    return graph.add("Add", product, graph.constant(float(np.ravel(ranker.intercept_)[0])))


def _blended(blend: Blend, graph: Graph, table: str) -> str:
    """Return the weighted sum of the models' scores, each on the scale of its curve."""
    total = ""
    for model, curve, weight in zip(blend.models, blend.curves, blend.weights, strict=True):
        score = stretched(curve, graph, _score(model, graph, table))
        part = graph.add("Mul", score, graph.constant(weight))
        total = graph.add("Add", total, part) if total else part
    return total


def _label(ranker: Any, graph: Graph, score: str) -> Any:
    """The positive label where `predict` returns it: above zero, or above one half."""
    positive = graph.add("Greater", score, graph.constant(_threshold(ranker)))
    classes = np.asarray(ranker.classes_)
    kind = TensorProto.INT64
    if classes.dtype.kind in "biu":
        negative, other = (graph.constant([int(own)], np.int64) for own in classes)
        graph.add("Where", positive, other, negative, name="label")
    else:
        place = graph.add("Cast", positive, to=TensorProto.INT64)
        words = classes.dtype.kind in "OUS"
        kind = TensorProto.STRING if words else TensorProto.FLOAT
        known = (
            {"values_strings": [str(own) for own in classes]}
            if words
            else {"values_floats": [float(own) for own in classes]}
        )
        graph.add(
            "LabelEncoder", place, domain="ai.onnx.ml", name="label", keys_int64s=[0, 1], **known
        )
    return helper.make_tensor_value_info("label", kind, [None])


def _threshold(ranker: Any) -> float:
    return THRESHOLDS[ranker.link] if isinstance(ranker, TreeEnsemble) else 0.0


def export(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted model to an ONNX file, whole or not at all.

    Parameters
    ----------
    model : estimator or Pipeline
        As for `to_onnx`.
    path : str or path-like
        Where to.

    See Also
    --------
    to_onnx : What can be exported, and what the inputs are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from toprank import LogisticRank
    >>> from toprank.datasets import load_mammography
    >>> from toprank.onnx import export
    >>> X, y = load_mammography(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(LogisticRank().fit(X, y), Path(folder) / "mammograms.onnx")
    """
    content = to_onnx(model).SerializeToString()
    with replacing(path) as file:
        file.write(content)


__all__ = ["export", "to_onnx"]
