"""The arrays of an ensemble: their types, and the checked copy in the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Trees
from ..inputs.arguments import check_choice, check_count, check_number

#: Array parameters that every ensemble has, and their types.
NODE_ARRAYS: dict[str, type] = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "missing_left": np.bool_,
    "value": np.float64,
    "weight": np.float64,
    "tree_starts": np.int64,
}
#: Array parameters that only some ensembles need.
OPTIONAL_ARRAYS: dict[str, type] = {
    "zero_missing": np.bool_,
    "category_set": np.int32,
    "category_starts": np.int64,
    "categories": np.float64,
    "set_starts": np.int64,
    "set_words": np.uint32,
}
_FLAGS = ("average", "round_to_float32", "truncate_categories")
#: The core numbers columns by 29 bits, and sums must not overflow.
_WIDEST, _LARGEST = 1 << 29, 1e100
#: Links, and the score above which `predict` returns the positive class.
THRESHOLDS = {"logistic": 0.0, "probability": 0.5}
LINKS = (*THRESHOLDS, "identity")


def kernel_of(parameters: dict[str, Any]) -> Trees:
    """Check the parameters of a `TreeEnsemble` and hand its arrays to the core, which copies them.

    The arrays become read-only.
    """
    width = check_count("n_features", parameters["n_features"])
    if width >= _WIDEST:
        raise ValueError(f"n_features must be below {_WIDEST}, got {width}.")
    offset = check_number("offset", parameters["offset"], -_LARGEST, _LARGEST)
    for name in _FLAGS:
        if not isinstance(parameters[name], bool):
            raise ValueError(f"{name} must be True or False, got {parameters[name]!r}.")
    check_choice("link", parameters["link"], LINKS)
    _check_classes(parameters["classes"], parameters["link"])
    _check_names(parameters["feature_names"], width)
    given: dict[str, Any] = {
        name: _array(name, parameters[name], kind) for name, kind in NODE_ARRAYS.items()
    }
    nodes = len(given["feature"])
    absent = {
        "zero_missing": np.zeros(nodes, dtype=np.bool_),
        "category_set": np.full(nodes, -1, dtype=np.int32),
        "set_starts": np.zeros(1, dtype=np.int64),
    }
    for name, kind in OPTIONAL_ARRAYS.items():
        if parameters[name] is None:
            given[name] = absent.get(name, np.zeros(0, dtype=kind))
        else:
            given[name] = _array(name, parameters[name], kind)
    truths = {name: array.view(np.uint8) for name, array in given.items() if array.dtype == bool}
    for name, array in truths.items():
        if array.size and array.max() > 1:
            raise ValueError(f"{name} must hold True and False only, got byte {array.max()}.")
    try:
        kernel = Trees(
            **(given | truths),
            **{name: parameters[name] for name in _FLAGS},
            n_features=width,
            offset=offset,
        )
    except ValueError as error:
        raise ValueError(f"The arrays are not an ensemble of trees: {error}.") from error
    for array in given.values():
        array.flags.writeable = False
    return kernel


def _array(name: str, array: Any, kind: type) -> NDArray[Any]:
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != kind:
        what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "none"
        raise ValueError(
            f"{name} must be a one-dimensional array of {np.dtype(kind)}, got {what[:80]}."
        )
    return np.ascontiguousarray(array)


def _check_classes(classes: Any, link: str) -> None:
    if classes is None and link == "identity":
        return
    if not isinstance(classes, np.ndarray) or classes.shape != (2,):
        raise ValueError("classes must be an array of two: the negative and the positive one.")


def _check_names(names: Any, width: int) -> None:
    if names is not None and (
        not isinstance(names, Sequence)
        or len(names) != width
        or not all(isinstance(name, str) for name in names)
    ):
        raise ValueError(f"feature_names must be {width} strings.")


__all__ = ["LINKS", "NODE_ARRAYS", "OPTIONAL_ARRAYS", "THRESHOLDS", "kernel_of"]
