"""Estimators as JSON, with their arrays aside."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from ..estimators.sklearn_api import without_seconds
from .classes import ESTIMATORS, FUNCTIONS, RECORDS, name_of
from .errors import ModelFileError

#: What says that an object of JSON stands for something else.
KIND = "$"
#: Nothing that can be saved is nested so deeply: what is holds itself.
DEEPEST = 60
#: Set by the user to watch fits, or made again from the parameters; a model is the same without.
_LEFT_OUT = ("_kernel", "_skl_callbacks")
#: The kinds of numbers, texts and times; V is a row of several.
_PLAIN_KINDS = "biufcSUmMV"
#: Models that `toprank.trees.from_model` takes.
_TREES = ("HistGradientBoosting", "RandomForestC", "ExtraTreesC", "LGBM", "Booster")
#: Letters of a type: NumPy reads no header of 10,000, in which the shape and blanks are too.
_LONGEST_TYPE = 8000

#: Types that a parameter `dtype` may be, beside NumPy's.
BUILT_IN: dict[str, type] = {"bool": bool, "float": float, "int": int, "object": object, "str": str}

Node = Any


class Encoder:
    """Makes JSON of a model; `store` takes its arrays and names them."""

    def __init__(self, store: Callable[[NDArray[Any]], str], *, folds: bool = True) -> None:
        self._store, self._folds = store, folds
        self._copies: dict[int, tuple[Any, Any]] = {}

    def node(self, value: Any, at: str = "", depth: int = 0) -> Node:
        """The JSON of a value, which is `at` some place in the model."""
        if depth > DEEPEST:
            raise ModelFileError(f"{at[:200]} is nested too deeply, or holds itself")
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {KIND: "float", "value": repr(value)}
        if isinstance(value, np.generic):
            return {KIND: "scalar", "array": self._stored(np.asarray(value), at)}
        if type(value) is np.ndarray:
            return self._array(value, at, depth)
        if sparse.issparse(value):
            return self._sparse(value, at)
        if type(value) in (list, tuple, dict, slice):
            return self._container(value, at, depth)
        if isinstance(value, np.dtype) and value.kind in _PLAIN_KINDS + "O" and not value.names:
            return {KIND: "dtype", "name": value.str}
        if isinstance(value, type) and (
            value in BUILT_IN.values() or issubclass(value, np.generic)
        ):
            own = value.__name__ if value in BUILT_IN.values() else np.dtype(value).str
            return {KIND: "type", "name": own}
        return self._object(value, at, depth)

    def _array(self, array: NDArray[Any], at: str, depth: int) -> Node:
        if array.dtype.kind == "O":
            items = [
                self.node(item, f"{at}[{k}]", depth + 1) for k, item in enumerate(array.ravel())
            ]
            return {KIND: "objects", "shape": list(array.shape), "items": items}
        return {KIND: "array", "array": self._stored(array, at)}

    def _stored(self, array: NDArray[Any], at: str) -> str:
        """The name of an array that can be read again."""
        if array.dtype.kind not in _PLAIN_KINDS or array.dtype.hasobject or not array.itemsize:
            raise ModelFileError(f"{at} is an array of {array.dtype}, which no model file holds")
        if len(repr(npy.dtype_to_descr(array.dtype))) > _LONGEST_TYPE:
            raise ModelFileError(
                f"{at} is an array of columns with names, more of them than NumPy reads again: "
                "make a dict of arrays of it"
            )
        return self._store(array)

    def _sparse(self, matrix: Any, at: str) -> Node:
        if matrix.format != "csr":
            raise ModelFileError(f"{at} is a sparse matrix of format {matrix.format}, not CSR")
        parts = {part: self._store(getattr(matrix, part)) for part in ("data", "indices", "indptr")}
        kind = "csr_array" if isinstance(matrix, sparse.sparray) else "csr_matrix"
        return {KIND: kind, "shape": [int(side) for side in matrix.shape], **parts}

    def _container(self, value: Any, at: str, depth: int) -> Node:
        if isinstance(value, dict):
            pairs = [
                [
                    self.node(key, f"{at} key", depth + 1),
                    self.node(one, f"{at}[{key!r}]", depth + 1),
                ]
                for key, one in value.items()
            ]
            return {KIND: "dict", "items": pairs}
        if isinstance(value, slice):
            value, kind = (value.start, value.stop, value.step), "slice"
        else:
            kind = type(value).__name__
        items = [self.node(one, f"{at}[{k}]", depth + 1) for k, one in enumerate(value)]
        return {KIND: kind, "items": items}

    def _object(self, value: Any, at: str, depth: int) -> Node:
        cls = type(value)
        if (name := name_of(cls, ESTIMATORS)) is not None:
            parameters = value.get_params(deep=False)
            _check_memory(parameters, name)
            left_out = _LEFT_OUT if self._folds else (*_LEFT_OUT, *getattr(cls, "_of_folds", ()))
            state = {
                key: self._timeless(one)
                for key, one in vars(value).items()
                if key not in parameters and key not in left_out
            }
            return {
                KIND: "estimator",
                "class": name,
                "parameters": self._named(parameters, at or cls.__name__, depth),
                "attributes": self._named(state, at or cls.__name__, depth),
            }
        if (name := name_of(cls, RECORDS)) is not None:
            return {
                KIND: "record",
                "class": name,
                "attributes": self._named(vars(value), at, depth),
            }
        if (name := name_of(value, FUNCTIONS)) is not None:
            return {KIND: "function", "name": name}
        raise ModelFileError(_why_not(value, at))

    def _timeless(self, value: Any) -> Any:
        """Return a value without seconds, so that equal fits make equal files; a copy once."""
        if id(value) not in self._copies:
            copy = without_seconds(value)
            if copy is value:
                return value
            self._copies[id(value)] = (copy, value)  # held, so that no other gets its number
        return self._copies[id(value)][0]

    def _named(self, values: dict[str, Any], at: str, depth: int) -> dict[str, Node]:
        return {key: self.node(one, f"{at}.{key}", depth + 1) for key, one in values.items()}


def _check_memory(parameters: dict[str, Any], name: str) -> None:
    if name == "sklearn.Pipeline" and parameters["memory"] is not None:
        raise ModelFileError(
            "Pipeline.memory names a cache of this machine, which is no part of a model: "
            "set_params(memory=None) first"
        )


def _why_not(value: Any, at: str) -> str:
    cls = type(value)
    where = f"{at} is" if at else "it is"
    full = f"{cls.__module__}.{cls.__qualname__}"
    if cls.__name__.startswith(_TREES):
        return (
            f"{where} of class {full}, which has no form without pickle: save "
            "toprank.trees.from_model(model), which has the same scores"
        )
    if callable(value) and not hasattr(value, "get_params"):
        return (
            f"{where} {getattr(value, '__name__', full)!r}, a function, and files hold no code: "
            "pass a name instead, or set the parameter to None once the model is fitted"
        )
    return (
        f"{where} of class {full}, which is not among those that a model file holds: rankers of "
        "toprank, its transformers, and scikit-learn's pipelines, column transformers, scalers, "
        "encoders, imputers and kernel features"
    )


__all__ = ["BUILT_IN", "DEEPEST", "KIND", "Encoder", "Node"]
