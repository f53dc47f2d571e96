"""One matrix in every storage that a design may be of, all of them without a change of a bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


def csr(X: Any, data: Any = np.float64, indices: Any = np.int32) -> Any:
    """X as a CSR array, with entries and indices of these types."""
    stored = sparse.csr_array(X.astype(data))
    stored.indices, stored.indptr = stored.indices.astype(indices), stored.indptr.astype(indices)
    return stored


def mapped(array: Any, file: Path) -> Any:
    """What np.load maps from a file, read-only."""
    np.save(file, array)
    return np.load(file, mmap_mode="r")


def mapped_csr(stored: Any, folder: Path) -> Any:
    """A CSR array whose three parts are mapped from files, read-only."""
    parts = [mapped(getattr(stored, name), folder / f"{name}.npy") for name in PARTS]
    result = sparse.csr_array(stored.shape, dtype=stored.dtype)
    result.data, result.indices, result.indptr = parts
    return result


def frozen(stored: Any) -> Any:
    """The same array or CSR array, which cannot be written to."""
    for array in arrays_of(stored):
        array.flags.writeable = False
    return stored


def arrays_of(stored: Any) -> list[Any]:
    """The array itself, or the parts of a CSR array."""
    return [getattr(stored, name) for name in PARTS] if sparse.issparse(stored) else [stored]


PARTS = ("data", "indices", "indptr")

STORAGES: dict[str, Callable[[Any, Path], Any]] = {
    "rows": lambda X, _: np.ascontiguousarray(X),
    "columns": lambda X, _: np.asfortranarray(X),
    "rows, float32": lambda X, _: X.astype(np.float32),
    "columns, float32": lambda X, _: np.asfortranarray(X, dtype=np.float32),
    "rows, read-only": lambda X, _: frozen(X.copy()),
    "rows, mapped": lambda X, folder: mapped(X, folder / "X.npy"),
    "columns, mapped": lambda X, folder: mapped(np.asfortranarray(X), folder / "X.npy"),
    "rows, float32, mapped": lambda X, folder: mapped(X.astype(np.float32), folder / "X.npy"),
    "CSR": lambda X, _: csr(X),
    "CSR, int64": lambda X, _: csr(X, indices=np.int64),
    "CSR, float32": lambda X, _: csr(X, np.float32),
    "CSR, float32, int64": lambda X, _: csr(X, np.float32, np.int64),
    "CSR, read-only": lambda X, _: frozen(csr(X)),
    "CSR, mapped": lambda X, folder: mapped_csr(csr(X), folder),
    "CSR, float32, int64, mapped": lambda X, folder: mapped_csr(
        csr(X, np.float32, np.int64), folder
    ),
}
