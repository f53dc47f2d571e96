"""Data sets, which are not part of the repository."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from common.study import Argument, Missing

DATA = Argument(
    "--data",
    type=Path,
    default=Path(__file__).resolve().parents[3] / "shared" / "data",
    help="folder of the data sets",
)


def at_hand(
    names: Iterable[str], folder: Path, file_of: Callable[[str], str] = lambda name: name
) -> list[str]:
    """Those of the sets whose files are in the folder; says which are not."""
    there = []
    for name in names:
        path = folder / f"{file_of(name)}.npz"
        if path.exists():
            there.append(name)
        else:
            print(f"{name}: skipped, there is no {path}")
    if not there:
        raise Missing(f"No data set of the study is in {folder}: name its folder by --data.")
    return there


@lru_cache(maxsize=32)
def digest(path: Path) -> str:
    """What tells one content of a file from another."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def read_set(path: Path) -> dict[str, Any]:
    """The arrays of a file by name."""
    with np.load(path) as file:
        return dict(file)


def matrix_of(raw: dict[str, Any]) -> Any:
    """The rows of a set in float64: dense, or CSR where the file has its parts."""
    if "X" in raw:
        return np.ascontiguousarray(raw["X"], dtype=np.float64)
    parts = raw["data"].astype(np.float64), raw["indices"], raw["indptr"]
    return sparse.csr_array(parts, shape=tuple(raw["shape"]))
