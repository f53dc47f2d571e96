"""Trees of scikit-learn: histogram boosting, forests and single trees."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .joining import Tree, codes_of, joined

Array = NDArray[np.float64]

#: Losses of HistGradientBoostingRegressor whose prediction is the sum of the trees.
_IDENTITY = ("squared_error", "absolute_error", "quantile")


def boosting_parameters(model: Any, n_trees: int | None) -> dict[str, Any]:
    """Return the parameters of a `TreeEnsemble` for a HistGradientBoosting model."""
    if model.n_trees_per_iteration_ != 1:
        raise ValueError(
            f"The model has {len(model.classes_)} classes, and an ensemble scores two: fit a "
            "model of one class against the others."
        )
    classes = getattr(model, "classes_", None)
    if classes is None and model.loss not in _IDENTITY:
        raise ValueError(
            f"The model has loss={model.loss!r}, whose prediction is not the sum of its trees. "
            f"Use one of {', '.join(map(repr, _IDENTITY))}."
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


__all__ = ["boosting_parameters", "forest_parameters"]
