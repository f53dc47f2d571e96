"""Arrays of a tree ensemble: checks, joining trees, category codes, the copy in the core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """The nodes of one tree; children and features are those of the source, -1 at leaves."""

    feature: NDArray[Any]
    threshold: Array
    left: NDArray[Any]
    right: NDArray[Any]
    missing_left: NDArray[np.bool_]
    value: Array
    weight: Array
    #: Which nodes treat zeros as missing; None if none does.
    zero_missing: NDArray[np.bool_] | None = None
    #: The category values that go left, by node.
    left_values: dict[int, Array] | None = None


def joined(
    trees: Iterable[Tree], n_features: int, known: dict[int, Array] | None = None
) -> dict[str, Any]:
    """Return the array parameters of a `TreeEnsemble`.

    `known` holds the categories of each column that has them. Without it they are those that go
    left somewhere.
    """
    all_trees = list(trees)
    sizes = [len(tree.feature) for tree in all_trees]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    feature = np.concatenate([tree.feature for tree in all_trees]).astype(np.int32)
    inner = feature >= 0
    shift = np.repeat(starts[:-1], sizes)
    arrays: dict[str, Any] = {
        "feature": feature,
        "threshold": _numbers([tree.threshold for tree in all_trees], inner),
        "missing_left": np.concatenate([tree.missing_left for tree in all_trees]).astype(bool)
        & inner,
        "value": _numbers([tree.value for tree in all_trees], ~inner),
        "weight": _numbers([tree.weight for tree in all_trees], ~inner),
        "tree_starts": starts,
    }
    for side in ("left", "right"):
        child = np.concatenate([getattr(tree, side) for tree in all_trees]) + shift
        arrays[side] = np.where(inner, child, -1).astype(np.int32)
    if any(tree.zero_missing is not None for tree in all_trees):
        arrays["zero_missing"] = np.concatenate(
            [
                np.zeros(size, bool) if tree.zero_missing is None else tree.zero_missing
                for tree, size in zip(all_trees, sizes, strict=True)
            ]
        )
    left_values = {
        int(start) + node: values
        for tree, start in zip(all_trees, starts, strict=False)
        for node, values in (tree.left_values or {}).items()
    }
    if left_values:
        arrays |= _category_arrays(feature, left_values, n_features, known)
    return arrays


def _numbers(parts: list[Array], where: NDArray[np.bool_]) -> Array:
    """Return the entries that are read, and zeros in place of the others."""
    return np.where(where, np.concatenate(parts), 0.0).astype(np.float64)


def _category_arrays(
    feature: NDArray[np.int32],
    left_values: dict[int, Array],
    n_features: int,
    known: dict[int, Array] | None,
) -> dict[str, Any]:
    """Return the categories of every column, and one set for each node that has one."""
    columns: dict[int, list[Array]] = {}
    for node, values in left_values.items():
        columns.setdefault(int(feature[node]), []).append(values)
    categories = {
        column: np.unique(np.concatenate(values) if known is None else known[column])
        for column, values in columns.items()
    }
    counts = [len(categories.get(column, ())) for column in range(n_features)]
    category_set = np.full(len(feature), -1, dtype=np.int32)
    words = []
    for number, (node, values) in enumerate(left_values.items()):
        category_set[node] = number
        own = categories[int(feature[node])]
        words.append(_bits(np.searchsorted(own, values), len(own)))
    return {
        "category_set": category_set,
        "category_starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "categories": np.concatenate([categories[column] for column in sorted(categories)]),
        "set_starts": np.concatenate([[0], np.cumsum([len(one) for one in words])]).astype(
            np.int64
        ),
        "set_words": np.concatenate(words),
    }


def _bits(codes: Ints, size: int) -> NDArray[np.uint32]:
    bits = np.zeros(-(-size // 32) * 32, dtype=np.uint8)
    bits[codes] = 1
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def codes_of(words: NDArray[np.uint32]) -> Ints:
    """Return the numbers of the bits that are set."""
    content = np.ascontiguousarray(words, dtype="<u4").view(np.uint8)
    return np.flatnonzero(np.unpackbits(content, bitorder="little"))


__all__ = [
    "LINKS",
    "NODE_ARRAYS",
    "OPTIONAL_ARRAYS",
    "THRESHOLDS",
    "Tree",
    "codes_of",
    "joined",
    "kernel_of",
]
