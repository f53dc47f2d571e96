"""Cells that are finished, in a folder, by what they depend on."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from ..._atomic import replacing
from .cells import Cell, Data

#: Of what is kept: a change of it makes what was kept before unknown.
_FORM = 1


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
    """What each cell depends on, in a word: model, rows, labels, weights, fold, versions.

    The name of a model does not count. Functions inside a model count by their names.
    """
    versions = [version(name) for name in ("toprank", "scikit-learn", "numpy")]
    shared = [_FORM, versions, rows_digest(data.X), data.y, data.weight, data.groups]
    base = joblib.hash(shared)
    parts = [joblib.hash(fold) for fold in folds]
    own = {name: joblib.hash(clone(model)) for name, model in models.items()}
    return {
        (name, k): str(joblib.hash([base, digest, part]))
        for name, digest in own.items()
        for k, part in enumerate(parts)
    }


def rows_digest(X: Any) -> Any:
    """What rows hold, as something to hash; frames by their cells, not by how pandas keeps them."""
    if type(X).__module__.startswith("pandas."):
        from pandas.util import hash_pandas_object

        names = [str(name) for name in X.columns]
        return [
            names,
            [str(dtype) for dtype in X.dtypes],
            hash_pandas_object(X, index=False).values,
        ]
    return X


__all__ = ["Store", "keys_of", "rows_digest"]
