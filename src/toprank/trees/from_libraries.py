"""Trees of scikit-learn and LightGBM, also those fitted on codes of columns, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Tree, codes_of, joined

Array = NDArray[np.float64]


def uncoded(parameters: dict[str, Any], edges: Sequence[ArrayLike | None]) -> dict[str, Any]:
    """Return the parameters of a `TreeEnsemble` that change when it reads values, not codes.

    The code of a value is the number of edges below it, so a code is at most t if the value is at
    most ``edges[floor(t)]``. Without edges every code is 0. None stands for a column without codes.
    """
    sorted_edges = _checked(edges, parameters["n_features"])
    sizes = np.array([len(column) for column in sorted_edges])
    feature, threshold = parameters["feature"], parameters["threshold"].copy()
    numeric = feature >= 0
    if parameters.get("category_set") is not None:
        numeric &= parameters["category_set"] < 0
    coded = numeric & np.array([column is not None for column in edges])[feature]
    _check_splits(parameters, sizes, coded, numeric)
    if parameters.get("round_to_float32", False):
        threshold = np.where(numeric, _unrounded(threshold), threshold)
    own = feature[coded]
    places = np.clip(np.floor(parameters["threshold"][coded]), -1, sizes[own]).astype(np.int64)
    # Every column's edges, between the thresholds of codes below the first and above the last.
    padded = np.concatenate([[-np.inf, *column, np.inf] for column in sorted_edges])
    first = np.cumsum(sizes + 2) - (sizes + 2)
    threshold[coded] = padded[first[own] + 1 + places]
    changed: dict[str, Any] = {"threshold": threshold, "round_to_float32": False}
    # No code is below zero, so every value goes right. -inf would not go right of -inf.
    swapped = np.flatnonzero(coded)[places < 0]
    if len(swapped):
        threshold[swapped] = np.inf
        left, right = parameters["left"].copy(), parameters["right"].copy()
        left[swapped], right[swapped] = right[swapped], left[swapped]
        missing_left = parameters["missing_left"].copy()
        missing_left[swapped] = ~missing_left[swapped]
        changed |= {"left": left, "right": right, "missing_left": missing_left}
    return changed


def _checked(edges: Sequence[ArrayLike | None], width: int) -> list[Array]:
    """Return the edges as arrays of floats, an empty one for None."""
    columns = [np.asarray(() if own is None else own, dtype=np.float64) for own in edges]
    if len(columns) != width:
        raise ValueError(
            f"edges must have {width} entries, one for each column of the model, got "
            f"{len(columns)}."
        )
    for j, column in enumerate(columns):
        if column.ndim != 1 or not (np.diff(column) > 0).all() or np.isnan(column).any():
            raise ValueError(f"edges[{j}] must be a one-dimensional array of increasing numbers.")
    return columns


def _check_splits(
    parameters: dict[str, Any],
    sizes: NDArray[np.int64],
    coded: NDArray[np.bool_],
    numeric: NDArray[np.bool_],
) -> None:
    """Refuse splits of codes that no threshold on the values stands for."""
    feature, threshold = parameters["feature"], parameters["threshold"]
    of_categories = feature[~numeric & (feature >= 0)]
    of_categories = of_categories[sizes[of_categories] > 0]
    if len(of_categories):
        raise ValueError(
            f"edges[{of_categories[0]}] must be None: the model splits this column by categories."
        )
    # A missing value is split from zeros at 0 or infinity.
    other = coded & (sizes[feature] == 0) & (threshold != 0.0) & np.isfinite(threshold)
    if other.any():
        raise ValueError(
            f"edges[{feature[other][0]}] is empty, so that every code is 0, but the model splits "
            f"this column at {threshold[other][0]:g}: pass None for a column that is passed "
            "through unchanged."
        )
    if parameters.get("zero_missing") is not None and (coded & parameters["zero_missing"]).any():
        raise ValueError(
            "The model treats code 0 as missing, and no threshold on the values does so: fit it "
            "without zero_as_missing."
        )


def _unrounded(threshold: Array) -> Array:
    """Return the largest x that a model sends left when it rounds x to float32 first."""
    below = threshold.astype(np.float32)
    below = np.where(below > threshold, np.nextafter(below, np.float32(-np.inf)), below)
    above = np.nextafter(below, np.float32(np.inf))
    middle = 0.5 * (below.astype(np.float64) + above.astype(np.float64))
    return np.where(middle.astype(np.float32) > below, np.nextafter(middle, -np.inf), middle)


#: Losses of HistGradientBoostingRegressor whose prediction is the sum of the trees.
_IDENTITY_LOSSES = ("squared_error", "absolute_error", "quantile")


def boosting_parameters(model: Any, n_trees: int | None) -> dict[str, Any]:
    """Return the parameters of a `TreeEnsemble` for a HistGradientBoosting model."""
    if model.n_trees_per_iteration_ != 1:
        raise ValueError(
            f"The model has {len(model.classes_)} classes, and an ensemble scores two: fit a "
            "model of one class against the others."
        )
    classes = getattr(model, "classes_", None)
    if classes is None and model.loss not in _IDENTITY_LOSSES:
        raise ValueError(
            f"The model has loss={model.loss!r}, whose prediction is not the sum of its trees. "
            f"Use one of {', '.join(map(repr, _IDENTITY_LOSSES))}."
        )
    places, known = _columns(model)
    chosen = [predictors[0] for predictors in model._predictors[:n_trees]]
    trees = [_boosted(predictor, places, known) for predictor in chosen]
    return {
        **joined(trees, model.n_features_in_, known),
        "n_features": int(model.n_features_in_),
        "offset": float(np.ravel(model._baseline_prediction)[0]),
        "link": "identity" if classes is None else "logistic",
        "classes": classes,
    }


def _columns(model: Any) -> tuple[NDArray[np.int64], dict[int, Array]]:
    """Return the column of X for each feature of the trees, and the values of the categories.

    The trees see columns of categories first, each value replaced by its number.
    """
    width = int(model.n_features_in_)
    categorical = getattr(model, "is_categorical_", None)
    if categorical is None or getattr(model, "_preprocessor", None) is None:
        return np.arange(width), {}
    coded = np.flatnonzero(categorical)
    places = np.concatenate([coded, np.flatnonzero(~np.asarray(categorical))])
    encoder = model._preprocessor.named_transformers_["encoder"]
    known = {
        int(column): _category_values(values, int(column))
        for column, values in zip(coded, encoder.categories_, strict=True)
    }
    return places, known


def _category_values(values: Any, column: int) -> Array:
    """Return the categories as numbers, without NaN, which is a missing value."""
    values = np.asarray(values)
    numbers = values.dtype.kind in "biuf" or all(isinstance(value, Real) for value in values)
    if not numbers:
        first = next(value for value in values if not isinstance(value, Real))
        raise ValueError(
            f"Column {column} has the category {first!r}, and an ensemble reads numbers: encode "
            "categories first, for instance with sklearn.preprocessing.OrdinalEncoder, and fit "
            "the model on their codes."
        )
    found: Array = values.astype(np.float64)
    present: Array = found[~np.isnan(found)]
    return present


def _boosted(predictor: Any, places: NDArray[np.int64], known: dict[int, Array]) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    feature = np.where(leaf, -1, places[nodes["feature_idx"]])
    left_values = {
        int(node): known[int(feature[node])][
            codes_of(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        ]
        for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
    }
    return Tree(
        feature=feature,
        threshold=np.where(nodes["is_categorical"], 0.0, nodes["num_threshold"]),
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        value=nodes["value"],
        weight=nodes["count"].astype(np.float64),
        left_values=left_values,
    )


def forest_parameters(model: Any, n_trees: int | None) -> dict[str, Any]:
    """Return the parameters of a `TreeEnsemble` for a forest, or for a single tree."""
    classes = np.asarray(model.classes_)
    if classes.shape != (2,):
        raise ValueError(
            f"The model has {model.n_outputs_} outputs and {np.size(classes)} classes, and an "
            "ensemble scores two classes: fit a model of one class against the others."
        )
    members = list(getattr(model, "estimators_", [model]))[:n_trees]
    return {
        **joined(_grown(members), model.n_features_in_),
        "n_features": int(model.n_features_in_),
        "average": True,
        "round_to_float32": True,
        "link": "probability",
        "classes": classes,
    }


def _grown(members: list[Any]) -> Iterator[Tree]:
    for member in members:
        tree = member.tree_
        yield Tree(
            feature=np.where(tree.children_left < 0, -1, tree.feature),
            # scikit-learn 1.6 splits missing values from the others at NaN: no value is below it.
            threshold=np.where(np.isnan(tree.threshold), -np.inf, tree.threshold),
            left=tree.children_left,
            right=tree.children_right,
            missing_left=np.asarray(tree.missing_go_to_left, dtype=bool),
            value=tree.value[:, 0, 1],
            weight=tree.weighted_n_node_samples,
        )


#: Bits of a node's decision_type; the kind of missing values comes above them.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_NONE, _ZERO = 0, 1
#: Objectives whose raw score is the prediction.
_IDENTITY_OBJECTIVES = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    *("lambdarank", "rank_xendcg", "custom"),
)
_LOGISTIC_OBJECTIVES = ("binary", "cross_entropy")

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
    if objective in _LOGISTIC_OBJECTIVES and all(
        option in ("sigmoid:1", "") for option in options if not option.startswith("is_unbalance")
    ):
        return "logistic"
    if objective in _IDENTITY_OBJECTIVES and "sqrt" not in options:
        return "identity"
    raise ValueError(
        f"The model has objective {fields['objective']!r}, whose prediction is neither the sum of "
        f"its trees nor its sigmoid. Use one of "
        f"{', '.join((*_LOGISTIC_OBJECTIVES, *_IDENTITY_OBJECTIVES))}."
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


__all__ = ["boosting_parameters", "forest_parameters", "lightgbm_parameters", "uncoded"]
