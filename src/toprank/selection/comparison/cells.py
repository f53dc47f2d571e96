"""Fits of a comparison, one for each model and fold, and the folder that keeps them."""

from __future__ import annotations

import io
import json
import os
import time
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from ..._atomic import replacing
from ...guarantees.selector import scores_of
from ..ranker_cv import FLAT

Rows = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """The scores of the rows that a fold held out, and facts of the fit."""

    scores: Array
    #: What JSON can hold: see `facts_of`; `seconds` and `notes`, the warnings, besides.
    facts: dict[str, Any]


@dataclass(frozen=True)
class Data:
    """The rows that all cells share; labels are 1 for the positive ones."""

    X: Any
    y: NDArray[np.int64]
    weight: Array | None
    groups: Any


def fit_cell(name: str, fold: int, estimator: Any, data: Data, training: Rows, test: Rows) -> Cell:
    """Fit a model on the training rows of a fold, and score those held out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        try:
            model = fitted(estimator, data, training)
            scores, _ = scores_of(model, _safe_indexing(data.X, test), 1)
        except Exception as error:
            # The kind of error stays: what is no ValueError is a defect, or a machine in trouble.
            error.add_note(f"This was {name} on fold {fold} of the comparison.")
            if isinstance(error, ValueError):
                raise ValueError(f"{name}, fold {fold}: {error}") from error
            raise
        seconds = time.perf_counter() - began
    wrong = ~np.isfinite(scores)
    if wrong.any():
        row = int(test[np.argmax(wrong)])
        raise ValueError(f"{name}, fold {fold}: the score of row {row} is no finite number.")
    notes = dict.fromkeys((one.category.__name__, str(one.message)) for one in caught)
    # Up to five different warnings are kept for each model and fold.
    kept = [list(note) for note in list(notes)[:5]]
    return Cell(scores, {**facts_of(model), "seconds": seconds, "notes": kept})


def fitted(estimator: Any, data: Data, training: Rows | None = None) -> Any:
    """A copy of the model, fitted on some rows or on all."""
    model = clone(estimator)
    X, y, weight, groups = data.X, data.y, data.weight, data.groups
    if training is not None:
        X, y = _safe_indexing(X, training), y[training]
        weight = None if weight is None else weight[training]
        groups = None if groups is None else _safe_indexing(groups, training)
    return model.fit(X, y, **_arguments(model, weight, groups))


def _arguments(model: Any, weight: Array | None, groups: Any) -> dict[str, Any]:
    """Weights for the last step of a pipeline, and groups if it chooses by folds of them."""
    last, prefix = model, ""
    while isinstance(last, Pipeline):
        prefix += f"{last.steps[-1][0]}__"
        last = last.steps[-1][1]
    found = {}
    search = isinstance(last, BaseSearchCV)  # which passes everything on
    if weight is not None:
        if not has_fit_parameter(last.estimator if search else last, "sample_weight"):
            raise ValueError(f"{type(last).__name__} takes no sample_weight: leave the model out.")
        found[f"{prefix}sample_weight"] = weight
    by_groups = isinstance(getattr(last, "cv", None), GroupsConsumerMixin)
    if groups is not None and by_groups and (search or has_fit_parameter(last, "groups")):
        found[f"{prefix}groups"] = groups
    return found


def facts_of(model: Any) -> dict[str, Any]:
    """Return facts of a fitted model, as far as it has them."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    facts: dict[str, Any] = {"model": type(model).__name__, "setting": "", "edge": None}
    if hasattr(model, "alpha_"):
        facts["setting"] = f"alpha {model.alpha_:.3g}"
        facts["edge"] = _path_ends_early(model)
    elif hasattr(model, "best_params_"):
        facts["setting"] = ", ".join(
            f"{name.split('__')[-1]} {value}" for name, value in model.best_params_.items()
        )
        facts["edge"] = _at_the_edge(model)
    elif hasattr(model, "why_"):
        chosen = str(model.why_).split(", by ")[0]
        facts["setting"] = chosen.removeprefix("Chosen: ")
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        tol = float(getattr(getattr(model, "best_estimator_", model), "tol", 1e-4))
        facts["relative_gap"] = float(certificate.relative_gap)
        facts["tol"] = tol
        facts["certified"] = bool(certificate.holds(tol))
    trivial = getattr(model, "trivial_", None)
    if trivial is not None:
        facts["trivial"] = bool(trivial)
    return facts


def _path_ends_early(model: Any) -> bool | None:
    """Return whether the best alpha is at an end of its grid, where scores still rise."""
    if not hasattr(model, "score_errors_"):
        return None
    means, errors = model.mean_scores_, model.score_errors_
    place, last = int(np.argmax(means)), len(means) - 1
    if last == 0 or 0 < place < last:
        return False
    neighbour = 1 if place == 0 else last - 1
    return bool(means[place] - means[neighbour] > FLAT * errors[place])


def _at_the_edge(search: Any) -> bool | None:
    """Return whether a grid search chose the first or last of three or more strengths."""
    for name, value in search.best_params_.items():
        grid = getattr(search, "param_grid", None)
        # These settings are strengths of regularisation.
        if name.split("__")[-1] not in ("alpha", "C") or not isinstance(grid, dict):
            continue
        values = [one for one in grid[name] if isinstance(one, int | float)]
        if len(values) > 2:
            return value in (min(values), max(values))
    return None


class Store:
    """A folder of cells. What cannot be read is as if it were not there."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> Cell | None:
        """The cell of that key, if it is there and whole."""
        if self.folder is None:
            return None
        try:
            with (
                open(self._path(key), "rb") as file,
                np.load(file, allow_pickle=False) as kept,
            ):
                facts = json.loads(str(kept["facts"]))
                return Cell(np.asarray(kept["scores"], dtype=np.float64), facts)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def put(self, key: str, cell: Cell) -> None:
        """Keep a cell, whole or not at all."""
        if self.folder is None:
            return
        whole = io.BytesIO()  # on a full disk NumPy 1.26 would leave an open archive behind
        np.savez(whole, scores=cell.scores, facts=np.array(json.dumps(cell.facts)))
        with replacing(self._path(key)) as file:
            file.write(whole.getbuffer())

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{key}.npz"


def keys_of(
    models: Mapping[str, Any], data: Data, folds: list[tuple[Any, Any]]
) -> dict[tuple[str, int], str]:
    """Return a hash for each cell, of model, rows, labels, weights, fold, versions.

    The name of a model does not count. Functions inside a model count by their names.
    """
    versions = [version(name) for name in ("toprank", "scikit-learn", "numpy")]
    # Raise the version if cells change, so that older ones are not read.
    shared = [1, versions, rows_digest(data.X), data.y, data.weight, data.groups]
    base = joblib.hash(shared)
    parts = [joblib.hash(fold) for fold in folds]
    own = {name: joblib.hash(clone(model)) for name, model in models.items()}
    return {
        (name, k): str(joblib.hash([base, digest, part]))
        for name, digest in own.items()
        for k, part in enumerate(parts)
    }


def rows_digest(X: Any) -> Any:
    """Return rows as something to hash: frames by their cells, not by their memory layout."""
    if type(X).__module__.startswith("pandas."):
        from pandas.util import hash_pandas_object

        names = [str(name) for name in X.columns]
        return [
            names,
            [str(dtype) for dtype in X.dtypes],
            hash_pandas_object(X, index=False).values,
        ]
    return X


__all__ = ["Cell", "Data", "Store", "facts_of", "fit_cell", "fitted", "keys_of", "rows_digest"]
