"""register: rankers inside pipelines of your own, converted by skl2onnx."""

from __future__ import annotations

from typing import Any

import numpy as np


def register() -> list[str]:
    """Have skl2onnx convert every linear ranker.

    Its converters of linear models compute in single precision, which ties and swaps rows at the
    head of a list. These compute in double precision whatever comes in; pass
    ``initial_types=[("X", DoubleTensorType([None, d]))]`` so that what comes in is double too.
    The outputs are the label and the scores, never squashed: two columns, -s and s, as skl2onnx
    has them for classifiers without probabilities. They are arrays, never dicts (`zipmap`).

    Returns
    -------
    list of str
        The classes that were registered. Boosted rankers are not among them, which have no
        weights, nor `HeadRanker`, which `to_onnx` writes.

    See Also
    --------
    to_onnx : Without skl2onnx: rankers, the pipelines that `HeadRanker` and `table_pipeline` make.

    Examples
    --------
    >>> from toprank.onnx import register
    >>> "TopPush" in register()  # doctest: +SKIP
    True
    """
    from skl2onnx import update_registered_converter

    from .. import methods
    from ..methods.boosting.base import BoostRanker
    from ..selection import RankerCV

    done = []
    for cls in [getattr(methods, name) for name in methods.__all__] + [RankerCV]:
        if issubclass(cls, BoostRanker):
            continue
        update_registered_converter(
            cls,
            f"Toprank{cls.__name__}",
            _shapes,
            _convert,
            # skl2onnx asks every classifier to make dicts of its columns; _parse makes none.
            options={"raw_scores": [True], "zipmap": [True, False], "nocl": [True, False]},
            parser=_parse,
        )
        done.append(cls.__name__)
    return done


def _label_type(ranker: Any) -> Any:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    numbers = np.asarray(ranker.classes_).dtype.kind in "biuf"
    return Int64TensorType([None]) if numbers else StringTensorType([None])


def _like_input(operator: Any) -> Any:
    """Scores are of the type of the rows."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    return (DoubleTensorType if double else FloatTensorType)([None, 2])


def _parse(scope: Any, ranker: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """The outputs: label and scores."""
    from skl2onnx import get_model_alias

    operator = scope.declare_local_operator(get_model_alias(type(ranker)), ranker)
    operator.inputs.append(inputs[0])
    operator.outputs.append(scope.declare_local_variable("label", _label_type(ranker)))
    operator.outputs.append(scope.declare_local_variable("scores", _like_input(operator)))
    return operator.outputs


def _shapes(operator: Any) -> None:
    operator.outputs[0].type = _label_type(operator.raw_operator)
    operator.outputs[1].type = _like_input(operator)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Score = X w + b in doubles; the label where it is above zero."""
    from skl2onnx.common.data_types import DoubleTensorType

    from onnx import TensorProto

    ranker = operator.raw_operator
    weights = np.ravel(np.asarray(ranker.coef_, dtype=np.float64))

    def node(kind: str, *inputs: str, **attributes: Any) -> str:
        name = scope.get_unique_variable_name(kind.lower())
        options = {"op_domain": "", "op_version": 13} | attributes
        container.add_node(kind, list(inputs), [name], name=f"{kind}_{name}", **options)
        return str(name)

    def constant(values: Any, kind: Any) -> str:
        name = scope.get_unique_variable_name("constant")
        array = np.asarray(values)
        container.add_initializer(name, kind, list(array.shape), array.ravel().tolist())
        return str(name)

    table = node("Cast", operator.inputs[0].full_name, to=TensorProto.DOUBLE)
    both = np.column_stack([-weights, weights])
    offset = float(np.ravel(ranker.intercept_)[0])
    product = node("MatMul", table, constant(both, TensorProto.DOUBLE))
    scores = node("Add", product, constant([[-offset, offset]], TensorProto.DOUBLE))
    out = isinstance(_like_input(operator), DoubleTensorType)
    kind = TensorProto.DOUBLE if out else TensorProto.FLOAT
    container.add_node(
        "Cast",
        [scores],
        [operator.outputs[1].full_name],
        name=scope.get_unique_operator_name("ToprankScores"),
        to=kind,
        op_version=13,
    )
    last = node("Gather", scores, constant([1], TensorProto.INT64), axis=1)
    flat = node("Reshape", last, constant([-1], TensorProto.INT64))
    positive = node("Greater", flat, constant([0.0], TensorProto.DOUBLE))
    place = node("Cast", positive, to=TensorProto.INT64)
    classes = np.asarray(ranker.classes_)
    if scope.get_options(ranker, {"nocl": False}).get("nocl"):
        classes = np.array([0, 1])
    known: dict[str, Any] = (
        {"values_int64s": [int(own) for own in classes]}
        if classes.dtype.kind in "biuf"
        else {"values_strings": [str(own) for own in classes]}
    )
    container.add_node(
        "LabelEncoder",
        [place],
        [operator.outputs[0].full_name],
        name=scope.get_unique_operator_name("ToprankLabel"),
        op_domain="ai.onnx.ml",
        op_version=2,
        keys_int64s=[0, 1],
        **known,
    )


__all__ = ["register"]
