"""The modules of a paper's folder, which are no package, and data in the form they read."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

PAPERS = Path(__file__).resolve().parents[2] / "papers"


def names_in(folder: str) -> list[str]:
    return sorted(path.stem for path in (PAPERS / folder).glob("*.py") if path.stem != "__init__")


@contextmanager
def modules_of(folder: str) -> Iterator[tuple[SimpleNamespace, pytest.MonkeyPatch]]:
    """The modules by name, and what patches them; all is as before in the end.

    `common` holds those that the studies share.
    """
    names = names_in(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        patch.syspath_prepend(str(PAPERS / folder))
        for name in names:  # another paper's may have the same name
            patch.delitem(sys.modules, name, raising=False)
        shared = {name: importlib.import_module(f"common.{name}") for name in names_in("common")}
        own = {name: importlib.import_module(name) for name in names}
        yield SimpleNamespace(common=SimpleNamespace(**shared), **own), patch
        for name in names:
            del sys.modules[name]


def save_set(path: Path, X: Any, y: Any, **more: Any) -> None:
    """A data set as those beside the repository are: dense, or the parts of a CSR matrix."""
    parts = {"X": X}
    if sparse.issparse(X):
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(path, y=y, **parts, **more)
