"""Where the data and reference solutions kept beside the repository are, if they are there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("TOPRANK_SHARED", REPOSITORY.parent / "shared"))


def shared_file(name: str) -> Path:
    """The path of a shared file; skips the test where it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs {name}, which is not in {SHARED} (set TOPRANK_SHARED to its folder)")
    return path


def shared_data(name: str) -> tuple[Any, NDArray[np.int8]]:
    """A shared data set: X, dense or CSR, and y in 0, 1."""
    with np.load(shared_file(f"data/{name}.npz")) as file:
        if "X" in file:
            return file["X"], file["y"]
        parts = (file["data"], file["indices"], file["indptr"])
        return sparse.csr_array(parts, shape=tuple(file["shape"])), file["y"]
