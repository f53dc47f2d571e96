"""from_model: make a TreeEnsemble from a fitted model or pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..features import CaseControlBins
from ..inputs.arguments import check_count
from .ensemble import TreeEnsemble
from .from_libraries import boosting_parameters, forest_parameters, lightgbm_parameters, uncoded

_SOURCES = (
    "HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier, "
    "ExtraTreesClassifier and DecisionTreeClassifier of scikit-learn, and models of LightGBM"
)


def from_model(
    model: Any,
    *,
    n_trees: int | None = None,
    columns: Sequence[int] | NDArray[np.integer[Any]] | None = None,
    n_features: int | None = None,
    edges: Sequence[ArrayLike | None] | None = None,
) -> TreeEnsemble:
    """Make a `TreeEnsemble` from a fitted model.

    Parameters
    ----------
    model : estimator, lightgbm.Booster or Pipeline
        A fitted `HistGradientBoostingClassifier`, `HistGradientBoostingRegressor`,
        `RandomForestClassifier`, `ExtraTreesClassifier` or `DecisionTreeClassifier` of
        scikit-learn, or a model of LightGBM, for two classes. Categories must be numbers. Or a
        pipeline of `CaseControlBins` and such a model; the ensemble reads the pipeline's columns.
    n_trees : int, optional
        Take the first trees only. By default all of them are taken or, after early stopping of
        LightGBM, those of the best iteration.
    columns : sequence of int, optional
        ``columns[j]`` is the column of X that the model has as its column j, for an ensemble that
        reads a wider matrix.
    n_features : int, optional
        The number of columns of that matrix, by default the largest of `columns` plus one.
    edges : sequence of array-like or None, optional
        For a model fitted on the output of `CaseControlBins`: the transformer's `edges_`, with None
        for each column that it passes through. The ensemble reads the original columns and has the
        same scores. The entries are in the order of the model's columns. The model must have been
        fitted on codes: the number of edges below the original value, or NaN if that is missing.
        Not needed for a pipeline.

    Returns
    -------
    TreeEnsemble
        With the same scores up to rounding: log-odds for boosted classifiers, the mean probability
        of the second class for forests, predictions for regressions.

    Raises
    ------
    TypeError
        If the model is of another kind.
    ValueError
        If it has more than two classes, categories that are no numbers, linear leaves, or a loss
        whose prediction is not the sum of the trees. If a column with edges is split by categories,
        or its code 0 counts as missing.

    See Also
    --------
    TreeEnsemble : What it can do.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from toprank.datasets import load_mammography
    >>> from toprank.trees import from_model
    >>> X, y = load_mammography(return_X_y=True)
    >>> model = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    >>> trees = from_model(model)
    >>> trees
    TreeEnsemble(n_trees=20, n_features=6)
    >>> np.allclose(trees.decision_function(X), model.decision_function(X), rtol=0, atol=1e-12)
    True
    >>> added = trees.contributions(X).sum(axis=1) + trees.baseline
    >>> np.allclose(added, trees.decision_function(X))
    True
    """
    if n_trees is not None:
        check_count("n_trees", n_trees)
    names = None
    if isinstance(model, Pipeline):
        if edges is not None:
            raise ValueError("edges must be None for a pipeline, which has its own.")
        bins, model = _steps(model)
        edges, names = _edges(bins), getattr(bins, "feature_names_in_", None)
    parameters = _parameters(model, n_trees)
    if names is not None:
        parameters["feature_names"] = [str(name) for name in names]
    if n_trees is not None and len(parameters["tree_starts"]) - 1 < n_trees:
        raise ValueError(
            f"n_trees must be at most {len(parameters['tree_starts']) - 1}, which the model has, "
            f"got {n_trees}."
        )
    if edges is not None:
        parameters |= uncoded(parameters, edges)
    if columns is not None:
        parameters |= _moved(parameters, np.asarray(columns), n_features)
    elif n_features not in (None, parameters["n_features"]):
        raise ValueError(
            f"n_features must be {parameters['n_features']}, as in the model, got {n_features!r}: "
            "pass columns as well."
        )
    return TreeEnsemble(**parameters)


def _steps(pipeline: Pipeline) -> tuple[CaseControlBins, Any]:
    """Return the two steps of a pipeline that an ensemble can replace."""
    steps = [step for _, step in pipeline.steps]
    if len(steps) != 2 or not isinstance(steps[0], CaseControlBins):
        raise TypeError(
            "A pipeline must have two steps, CaseControlBins and a model of trees, got "
            f"{', '.join(type(step).__name__ for step in steps)}: pass its last step, and keep the "
            "others before the ensemble."
        )
    check_is_fitted(steps[0])
    return steps[0], steps[1]


def _edges(bins: CaseControlBins) -> list[NDArray[np.float64] | None]:
    """Return the edges, None for columns that are passed through, and inf if every code is 0."""
    passed = set(bins.categorical_.tolist())
    return [
        None if j in passed else own if len(own) else np.array([np.inf])
        for j, own in enumerate(bins.edges_)
    ]


def _parameters(model: Any, n_trees: int | None) -> dict[str, Any]:
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
    )
    from sklearn.tree import DecisionTreeClassifier

    if any(cls.__module__.startswith("lightgbm.") for cls in type(model).__mro__):
        return lightgbm_parameters(model, n_trees)
    if isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        make = boosting_parameters
    elif isinstance(model, RandomForestClassifier | ExtraTreesClassifier | DecisionTreeClassifier):
        make = forest_parameters
    else:
        raise TypeError(
            f"{type(model).__name__} cannot be made a TreeEnsemble: pass a fitted model, one of "
            f"{_SOURCES}."
        )
    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    return {
        **make(model, n_trees),
        "feature_names": None if names is None else [str(name) for name in names],
    }


def _moved(
    parameters: dict[str, Any], columns: NDArray[Any], n_features: int | None
) -> dict[str, Any]:
    """Return the parameters that change for a wider matrix."""
    width = parameters["n_features"]
    if columns.shape != (width,) or columns.dtype.kind not in "iu":
        raise ValueError(f"columns must be {width} ints, one for each column of the model.")
    if len(np.unique(columns)) != width or columns.min() < 0:
        raise ValueError("columns must be distinct and not negative.")
    wide = int(columns.max()) + 1 if n_features is None else check_count("n_features", n_features)
    if columns.max() >= wide:
        raise ValueError(f"n_features must be above {columns.max()}, the last of columns.")
    feature = parameters["feature"]
    moved = {
        "feature": np.where(feature < 0, -1, columns[feature]).astype(np.int32),
        "n_features": wide,
        "feature_names": None,
    }
    if parameters.get("category_starts") is not None:
        starts, categories = parameters["category_starts"], parameters["categories"]
        counts = np.zeros(wide, dtype=np.int64)
        counts[columns] = np.diff(starts)
        order = np.argsort(columns)
        moved["category_starts"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        moved["categories"] = np.concatenate(
            [categories[starts[column] : starts[column + 1]] for column in order]
        )
    return moved


__all__ = ["from_model"]
