"""Decode estimators from JSON and arrays, including models of earlier versions."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .classes import ESTIMATORS, FUNCTIONS, RECORDS, named
from .encode import BUILT_IN, DEEPEST, KIND, Node
from .errors import BAD_HEADER, ModelFileError
from .table_models import check_made

Parameters = dict[str, Any]


def updated(name: str, parameters: Parameters) -> Parameters:
    """Return the parameters of a class as its constructor takes them in this version.

    The name is the one in the file, such as "toprank.Blend". Parameters that this version wrote
    are returned unchanged.
    """
    new_names = _RENAMED.get(name, {})
    parameters = {new_names.get(key, key): value for key, value in parameters.items()}
    update = _UPDATES.get(name)
    return parameters if update is None else update(parameters)


def _blend(parameters: Parameters) -> Parameters:
    """Replace the weight of the first of two models with a weight for each model."""
    if "weight" not in parameters or "weights" in parameters:
        return parameters
    others = {key: value for key, value in parameters.items() if key != "weight"}
    weight = parameters["weight"]
    return {**others, "weights": (weight, 1.0 - weight)}


#: Parameters that have new names, by class.
_RENAMED = {
    "toprank.ASCRC": {"budget": "n_pairs"},
    "toprank.ASRankSVM": {"budget": "n_pairs"},
    "toprank.AdaOAM": {"eta": "learning_rate", "n_passes": "max_iter"},
    "toprank.CRR": {"n_steps": "max_iter"},
    "toprank.LPPair": {"rankers": "weak_learners", "positive": "nonnegative"},
    "toprank.OAM": {"n_passes": "max_iter"},
    "toprank.OPAUC": {"eta": "learning_rate", "n_passes": "max_iter"},
    "toprank.RankBoost": {"rankers": "weak_learners"},
    "toprank.SPAM": {"eta": "learning_rate", "n_passes": "max_iter"},
    "toprank.SoftMarginRank": {"rankers": "weak_learners", "positive": "nonnegative"},
    "toprank.SoftRankBoost": {"rankers": "weak_learners", "max_iter": "n_estimators"},
}
#: Parameters that changed otherwise, by class.
_UPDATES: dict[str, Callable[[Parameters], Parameters]] = {"toprank.Blend": _blend}


#: Where fitted arrays hold numbers only, except labels.
_OF_NUMBERS = ("toprank.methods.", "toprank.problems.solution", "toprank.weak_learners.")
#: Attributes that are arrays with named columns.
_TABLES = ("history_", "rounds_")


def check_fitted(cls: type, attributes: dict[str, Any]) -> None:
    """Refuse dates where numbers belong, and weights that do not fit the number of columns.

    An ensemble of trees is its parameters, which its constructor checks: attributes would replace
    them afterwards.
    """
    if cls.__module__.startswith("toprank.trees.") and attributes:
        raise ModelFileError(f"its {cls.__name__} has attributes, and should have parameters only")
    if cls.__module__.startswith(_OF_NUMBERS):
        for name, value in attributes.items():
            kind = value.dtype.kind if isinstance(value, np.ndarray | np.generic) else ""
            named, dates = kind == "V" and name not in _TABLES, kind in ("m", "M")
            if named or (dates and name != "classes_"):
                raise ModelFileError(
                    f"its {cls.__name__}.{name} is of type {str(value.dtype)[:80]}, not of numbers"
                )
    if cls.__module__.startswith("toprank.") and "coef_" in attributes:
        _check_weights(cls.__name__, attributes["coef_"], attributes.get("n_features_in_"))


def _check_weights(name: str, coef: Any, width: Any) -> None:
    if not (type(width) is int and isinstance(coef, np.ndarray) and coef.dtype == np.float64):
        raise ModelFileError(f"its {name} has no array of weights, one for each column")
    if coef.shape != (1, width):
        raise ModelFileError(
            f"its {name}.coef_ has shape {str(coef.shape)[:80]}, but it has {str(width)[:40]} "
            "columns"
        )


_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {"list": list, "tuple": tuple}


class Decoder:
    """Makes a model of JSON; `arrays` finds arrays by name."""

    def __init__(self, arrays: Callable[[Any], NDArray[Any]]) -> None:
        self._arrays = arrays

    def value(self, node: Node, depth: int = 0) -> Any:
        """What a piece of JSON stands for."""
        if depth > DEEPEST:
            raise ModelFileError("it is nested too deeply")
        if not isinstance(node, dict | list):
            return node
        kind = node.get(KIND) if isinstance(node, dict) else None
        make = _MAKERS.get(kind) if isinstance(kind, str) else None
        if make is None:
            raise ModelFileError(f"it holds {str(kind)[:80]!r}, which this version does not know")
        try:
            return make(self, node, depth + 1)
        except ModelFileError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
            raise ModelFileError(
                f"its {kind!r} is not as toprank writes it: {_short(error)}"
            ) from error

    def _float(self, node: Node, depth: int) -> float:
        return _FLOATS[node["value"]]

    def _array(self, node: Node, depth: int) -> NDArray[Any]:
        return self._arrays(node["array"])

    def _scalar(self, node: Node, depth: int) -> Any:
        array = self._arrays(node["array"])
        if array.ndim:
            raise ModelFileError("one of its numbers is an array")
        return array[()]

    def _objects(self, node: Node, depth: int) -> NDArray[Any]:
        shape, items = _shape(node["shape"]), self._items(node, depth)
        if prod(shape) != len(items):
            raise ModelFileError(f"it declares shape {str(shape)[:80]} of {len(items)} objects")
        array = np.empty(len(items), dtype=object)
        for k, item in enumerate(items):  # at once, NumPy would look inside them
            array[k] = item
        return array.reshape(shape)

    def _csr(self, node: Node, depth: int) -> Any:
        parts = tuple(self._arrays(node[part]) for part in ("data", "indices", "indptr"))
        cls = sparse.csr_array if node[KIND] == "csr_array" else sparse.csr_matrix
        if parts[0].dtype.kind not in "biufc":
            raise ModelFileError("its sparse matrix holds no numbers")
        try:
            matrix = cls(parts, shape=_shape(node["shape"]))
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ModelFileError(f"its sparse matrix is none: {_short(error)}") from error
        return matrix

    def _dict(self, node: Node, depth: int) -> dict[Any, Any]:
        return {self.value(key, depth): self.value(one, depth) for key, one in node["items"]}

    def _slice(self, node: Node, depth: int) -> slice:
        return slice(*self._items(node, depth))

    def _sequence(self, node: Node, depth: int) -> Any:
        return _CONTAINERS[node[KIND]](self._items(node, depth))

    def _dtype(self, node: Node, depth: int) -> Any:
        name = node["name"]
        try:
            found = np.dtype(name) if isinstance(name, str) else None
        except BAD_HEADER:  # NumPy reads some names as a piece of Python
            found = None
        if found is None or found.str != name:
            raise ModelFileError(f"it holds the type {str(name)[:80]!r}, which NumPy lacks")
        return found

    def _type(self, node: Node, depth: int) -> Any:
        return BUILT_IN.get(node["name"]) or self._dtype(node, depth).type

    def _function(self, node: Node, depth: int) -> Any:
        return named(node["name"], FUNCTIONS)

    def _estimator(self, node: Node, depth: int) -> Any:
        cls = named(node["class"], ESTIMATORS)
        parameters = updated(node["class"], self._named(node["parameters"], depth))
        unknown = sorted(set(parameters) - set(cls._get_param_names()))
        if unknown:
            raise ModelFileError(f"{cls.__name__} has no parameter {unknown[0][:80]!r} here")
        if parameters.get("memory") is not None:
            raise ModelFileError(f"its {cls.__name__} has a cache, which would be read with pickle")
        made = cls(**parameters)
        vars(made).update(self._attributes(cls, node, depth))
        check_made(made)
        return made

    def _record(self, node: Node, depth: int) -> Any:
        cls = named(node["class"], RECORDS)
        made = object.__new__(cls)
        vars(made).update(self._attributes(cls, node, depth))
        check_made(made)
        return made

    def _attributes(self, cls: type, node: Node, depth: int) -> dict[str, Any]:
        found = self._named(node["attributes"], depth)
        for name in found:
            own = getattr(cls, name, None)
            if callable(own) or isinstance(own, property):
                raise ModelFileError(f"it would replace {cls.__name__}.{name}")
        check_fitted(cls, found)
        return found

    def _items(self, node: Node, depth: int) -> list[Any]:
        if not isinstance(node["items"], list):
            raise ModelFileError("one of its lists is none")
        return [self.value(item, depth) for item in node["items"]]

    def _named(self, values: Any, depth: int) -> dict[str, Any]:
        for name in values.keys():  # noqa: SIM118 (anything but a dict is refused)
            if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
                raise ModelFileError(f"it has an attribute {name[:80]!r}, which none is called")
        return {name: self.value(one, depth) for name, one in values.items()}


def _short(error: Exception) -> str:
    """Return the message of an error, which may hold a piece of the file, without its end."""
    return str(error)[:200].rstrip(".")


def _shape(sides: Any) -> tuple[int, ...]:
    if not isinstance(sides, list) or not all(type(side) is int and side >= 0 for side in sides):
        raise ModelFileError(f"it declares a shape {str(sides)[:80]}")
    return tuple(sides)


_MAKERS: dict[str, Callable[[Decoder, Node, int], Any]] = {
    "float": Decoder._float,
    "array": Decoder._array,
    "scalar": Decoder._scalar,
    "objects": Decoder._objects,
    "csr_array": Decoder._csr,
    "csr_matrix": Decoder._csr,
    "dict": Decoder._dict,
    "slice": Decoder._slice,
    "list": Decoder._sequence,
    "tuple": Decoder._sequence,
    "dtype": Decoder._dtype,
    "type": Decoder._type,
    "function": Decoder._function,
    "estimator": Decoder._estimator,
    "record": Decoder._record,
}


__all__ = ["Decoder", "check_fitted", "updated"]
