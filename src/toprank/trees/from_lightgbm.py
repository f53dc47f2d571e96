"""Trees of LightGBM, read from the text of a Booster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .joining import Tree, codes_of, joined

#: Bits of a node's decision_type; the kind of missing values comes above them.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_NONE, _ZERO = 0, 1
#: Objectives whose raw score is the prediction.
_IDENTITY = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    *("lambdarank", "rank_xendcg", "custom"),
)
_LOGISTIC = ("binary", "cross_entropy")

Fields = dict[str, str]


def lightgbm_parameters(model: Any, n_trees: int | None) -> dict[str, Any]:
    """Return the parameters of a `TreeEnsemble` for a Booster or an estimator of LightGBM."""
    booster = model if hasattr(model, "model_to_string") else model.booster_
    text = booster.model_to_string(num_iteration=n_trees)
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    fields = _fields(head)
    link = _link(fields)
    trees = [_tree(_fields(block)) for block in blocks]
    if getattr(booster, "pandas_categorical", None) and any(tree.left_values for tree in trees):
        raise ValueError(
            "The model splits pandas categories, and an ensemble reads numbers: fit it on their "
            "codes, as floats, and name the columns in categorical_feature."
        )
    width = int(fields["max_feature_idx"]) + 1
    classes = getattr(model, "classes_", np.array([0, 1]))
    return {
        **joined(trees, width),
        "n_features": width,
        "average": "average_output" in head.split("\n"),
        "truncate_categories": True,
        "link": link,
        "classes": classes if link == "logistic" else None,
    }


def _fields(text: str) -> Fields:
    lines = (line.partition("=") for line in text.split("\n"))
    return {name: value for name, _, value in lines}


def _link(fields: Fields) -> str:
    if fields["num_tree_per_iteration"] != "1":
        raise ValueError(
            f"The model has {fields['num_class']} classes, and an ensemble scores two: fit a "
            "model of one class against the others."
        )
    objective, *options = fields.get("objective", "custom").split(" ")
    if objective in _LOGISTIC and all(
        option in ("sigmoid:1", "") for option in options if not option.startswith("is_unbalance")
    ):
        return "logistic"
    if objective in _IDENTITY and "sqrt" not in options:
        return "identity"
    raise ValueError(
        f"The model has objective {fields['objective']!r}, whose prediction is neither the sum of "
        f"its trees nor its sigmoid. Use one of {', '.join((*_LOGISTIC, *_IDENTITY))}."
    )


def _tree(fields: Fields) -> Tree:
    """Return the splits, then the leaves, which the text numbers -1, -2 and so on."""
    if fields.get("is_linear", "0") != "0":
        raise ValueError("The model has linear leaves, and those of an ensemble are constant.")
    n_leaves = int(fields["num_leaves"])
    n_splits = n_leaves - 1

    def numbers(name: str, count: int, dtype: Any) -> NDArray[Any]:
        if not count:
            return np.zeros(0, dtype=dtype)
        return np.array(fields[name].split(" "), dtype=dtype)

    def with_leaves(splits: NDArray[Any], fill: Any) -> NDArray[Any]:
        return np.concatenate([splits, np.full(n_leaves, fill, dtype=splits.dtype)])

    feature = numbers("split_feature", n_splits, np.int64)
    threshold = numbers("threshold", n_splits, np.float64)
    decision = numbers("decision_type", n_splits, np.int64)
    left, right = (
        np.where(child < 0, n_splits + ~child, child)
        for child in (numbers(f"{side}_child", n_splits, np.int64) for side in ("left", "right"))
    )
    categorical, missing = (decision & _CATEGORICAL) != 0, (decision >> 2) & 3
    default_left = (decision & _DEFAULT_LEFT) != 0
    # Without missing values in training, NaN counts as zero.
    missing_left = np.where(missing == _NONE, threshold >= 0.0, default_left) & ~categorical
    count = "leaf_count" if "leaf_count" in fields else ""
    return Tree(
        feature=with_leaves(feature, -1),
        threshold=with_leaves(threshold, 0.0),
        left=with_leaves(left, -1),
        right=with_leaves(right, -1),
        missing_left=with_leaves(missing_left, False),
        value=np.concatenate([np.zeros(n_splits), numbers("leaf_value", n_leaves, np.float64)]),
        weight=np.concatenate(
            [np.zeros(n_splits), numbers(count, n_leaves, np.float64) if count else np.ones(1)]
        ),
        zero_missing=with_leaves((missing == _ZERO) & ~categorical, False),
        left_values=dict(_left_values(fields, categorical, threshold)),
    )


def _left_values(
    fields: Fields, categorical: NDArray[np.bool_], threshold: NDArray[np.float64]
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the nodes that split categories, and the categories that go left."""
    nodes = np.flatnonzero(categorical)
    if not len(nodes):
        return
    ends = np.array(fields["cat_boundaries"].split(" "), dtype=np.int64)
    words = np.array(fields["cat_threshold"].split(" "), dtype=np.uint32)
    for node in nodes:
        place = int(threshold[node])
        codes = codes_of(words[ends[place] : ends[place + 1]])
        yield int(node), codes.astype(np.float64)


__all__ = ["lightgbm_parameters"]
