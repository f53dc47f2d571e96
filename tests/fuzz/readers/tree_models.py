"""Model files of trees whose arrays may be anything, in a file that is whole otherwise."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import toprank
from support.tree_rows import CITY, rows
from toprank.trees import TreeEnsemble, from_model
from toprank.trees.arrays import NODE_ARRAYS, OPTIONAL_ARRAYS

#: Between the parts of the file that is harmed: plain parameters, then the bytes of the arrays.
_NEXT = b"\n== next ==\n"
_ARRAYS: dict[str, type] = {**NODE_ARRAYS, **OPTIONAL_ARRAYS}
_PLAIN = ("n_features", "offset", "average", "round_to_float32", "truncate_categories", "link")
_PER_NODE = {*NODE_ARRAYS, "zero_missing", "category_set"} - {"tree_starts"}
#: Wider rows than this are not made.
_WIDEST = 1000


def tree_models() -> list[bytes]:
    """Small ensembles: boosted, with categories; a forest; one tree."""
    X, y = rows(300, 0)
    mask = np.arange(X.shape[1]) == CITY
    boosted = HistGradientBoostingClassifier(
        max_iter=3, max_leaf_nodes=6, categorical_features=mask, early_stopping=False
    ).fit(X, y)
    forest = RandomForestClassifier(2, max_depth=4, random_state=0).fit(X, y)
    return [_packed(one) for one in (from_model(boosted), from_model(forest).first(1))]


def _packed(trees: TreeEnsemble) -> bytes:
    parameters = trees.get_params(deep=False)
    plain = json.dumps({name: parameters[name] for name in _PLAIN}).encode()
    arrays = [parameters[name] for name in _ARRAYS]
    return _NEXT.join([plain, *(b"" if one is None else one.tobytes() for one in arrays)])


def read_trees(path: Path) -> None:
    """Load the parts as a model, and score rows with gaps, categories and wild numbers."""
    _write(path.read_bytes(), "harmed.toprank")
    model = toprank.load("harmed.toprank")
    if model.n_features > _WIDEST:
        return
    X = np.random.default_rng(0).normal(scale=20.0, size=(40, model.n_features))
    X[::5] = np.round(X[::5])
    X[3], X[4], X[6] = np.nan, np.inf, 1e300
    with np.errstate(all="ignore"):
        scores = model.stages(X, list(range(1, model.n_trees + 1)))
        added = model.contributions(X).sum(axis=1) + model.baseline
        model.predict(X)
    size = abs(model.offset) + np.abs(model.value[model.feature < 0]).sum()
    assert np.abs(added - scores[-1]).max() <= 1e-9 * size


def _write(data: bytes, path: str) -> None:
    """A model file of these parts, as `toprank.save` would write it."""
    plain, *parts = data.split(_NEXT)
    parameters: dict[str, Any] = {"n_features": 6}
    with contextlib.suppress(ValueError, RecursionError, TypeError):
        parameters |= json.loads(plain)
    arrays = {
        name: np.frombuffer(part[: len(part) - len(part) % np.dtype(kind).itemsize], kind)
        for (name, kind), part in zip(_ARRAYS.items(), parts, strict=False)
    }
    with zipfile.ZipFile(path, "w") as archive:

        def stored(array: Any) -> dict[str, str]:
            name, content = f"arrays/{len(archive.namelist())}.npy", io.BytesIO()
            np.save(content, array)
            archive.writestr(name, content.getvalue())
            return {"$": "array", "array": name}

        for name, array in arrays.items():
            if name in _PER_NODE and len(array):  # of one length, so that harms reach the nodes
                parameters[name] = stored(np.resize(array, len(arrays["feature"])))
            elif len(array) or name not in OPTIONAL_ARRAYS:
                parameters[name] = stored(array)
        parameters["classes"] = stored(np.array([0, 1]))
        text = {
            "format": "toprank model",
            "version": 1,
            "model": {
                "$": "estimator",
                "class": "toprank.TreeEnsemble",
                "parameters": parameters,
                "attributes": {},
            },
            "metadata": {"$": "dict", "items": []},
        }
        archive.writestr("model.json", json.dumps(text))


__all__ = ["read_trees", "tree_models"]
