"""The data sets: where each comes from, and the one scaling all of them get.

Dense sets are standardised by column, then every row is scaled to length 1; sparse sets only get
rows of length 1. Everybody is given the same arrays, in the form LIBLINEAR copies least: float64,
C-ordered or CSR with sorted int32 indices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from toprank.datasets import (
    load_german,
    load_mammography,
    load_spambase,
    make_gaussian_mixture,
    make_sparse_text_like,
)

#: Families with an aim, by the shape that decides which solver runs.
NARROW, TEXT, OTHER = "d <= 1000", "text", "other"


@dataclass(frozen=True)
class DataSet:
    """A named, scaled data set."""

    name: str
    family: str
    X: Any
    y: np.ndarray

    @property
    def description(self) -> str:
        """Rows x columns, positives, and how the matrix is stored."""
        rows, columns = self.X.shape
        stored = f"CSR, {self.X.nnz} nonzeros" if sp.issparse(self.X) else "dense"
        return f"{rows} x {columns}, {int(self.y.sum())} positive, {stored}"


@dataclass(frozen=True)
class Source:
    """How to get a data set; `read` gives raw X and y, or None where the file is not there."""

    name: str
    family: str
    read: Callable[[Path], tuple[Any, np.ndarray] | None]
    quick: bool = False

    def load(self, folder: Path) -> DataSet | None:
        """Read and scale the set."""
        raw = self.read(folder)
        if raw is None:
            return None
        X, y = raw
        return DataSet(self.name, self.family, scaled(X), np.asarray(y, dtype=np.int64))


def scaled(X: Any) -> Any:
    """Standardise columns if dense, give every row length 1, and settle types and order."""
    if sp.issparse(X):
        X = sp.csr_matrix(X, dtype=np.float64)
        X.sum_duplicates()
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X.data /= np.repeat(_safe(lengths), np.diff(X.indptr))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X
    X = np.array(X, dtype=np.float64, order="C")
    X -= X.mean(axis=0)
    X /= _safe(X.std(axis=0))
    X /= _safe(np.linalg.norm(X, axis=1))[:, np.newaxis]
    return X


def _safe(divisors: np.ndarray) -> np.ndarray:
    return np.where(divisors > 0, divisors, 1.0)


def from_file(name: str) -> Callable[[Path], tuple[Any, np.ndarray] | None]:
    """Read `name`.npz: arrays X and y, or those of a CSR matrix and y."""

    def read(folder: Path) -> tuple[Any, np.ndarray] | None:
        path = folder / f"{name}.npz"
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as arrays:
            if "X" in arrays:
                return arrays["X"], arrays["y"]
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            return sp.csr_matrix(parts, shape=tuple(arrays["shape"])), arrays["y"]

    return read


def from_call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[Path], Any]:
    """Call a loader or a maker of the package."""
    return lambda _folder: function(*args, **kwargs)


SOURCES = [
    Source("spambase", NARROW, from_call(load_spambase, return_X_y=True), quick=True),
    *(
        Source(name, NARROW, from_file(name))
        for name in ("a9a", "ijcnn1", "w8a", "magic", "nsl-kdd", "letter", "covtype")
    ),
    *(
        Source(name, TEXT, from_file(name))
        for name in ("news20-forsale", "reuters-acq", "sms-spam", "farm-ads")
    ),
    *(Source(name, OTHER, from_file(name)) for name in ("shuttle", "bank", "rcv1-small")),
    Source("german", OTHER, from_call(load_german, return_X_y=True), quick=True),
    Source("mammography", OTHER, from_call(load_mammography, return_X_y=True), quick=True),
    Source(
        "gaussian-5k",
        OTHER,
        from_call(make_gaussian_mixture, 5_000, 50, positive_fraction=0.1, random_state=0),
        quick=True,
    ),
    Source(
        "gaussian-60k",
        OTHER,
        from_call(
            make_gaussian_mixture,
            60_000,
            300,
            positive_fraction=0.01,
            separation=0.3,
            random_state=0,
        ),
    ),
    Source(
        "text-5k",
        OTHER,
        from_call(make_sparse_text_like, 5_000, 20_000, random_state=0),
        quick=True,
    ),
    Source("text-20k", OTHER, from_call(make_sparse_text_like, 20_000, 50_000, random_state=0)),
]


def choose(names: list[str] | None, *, quick: bool) -> list[Source]:
    """The sources of these names, else all, else the quick ones."""
    if names is None:
        return [source for source in SOURCES if source.quick or not quick]
    known = {source.name: source for source in SOURCES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"No data set is called {', '.join(unknown)}. Known: {', '.join(known)}.")
    return [known[name] for name in names]
