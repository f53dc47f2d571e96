"""The UCI sets and Reuters' topics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

REUTERS = "reuters-acq"


def load(folder: Path, name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A UCI set; its columns as they are."""
    with np.load(folder / f"{name}.npz") as file:
        return np.ascontiguousarray(file["X"], dtype=np.float64), file["y"].astype(np.int64)


def load_topics(folder: Path) -> tuple[Any, dict[str, NDArray[np.int64]]]:
    """Which words an article has, in zeros and ones, and for every topic which articles are on it.

    Words that fewer than two articles have are not in the file.
    """
    with np.load(folder / f"{REUTERS}.npz") as file:
        ones = np.ones(len(file["data"]))
        words = sparse.csr_array(
            (ones, file["indices"], file["indptr"]), shape=tuple(file["shape"])
        )
        topics = {
            str(name): file["Y_top15"][:, column].astype(np.int64)
            for column, name in enumerate(file["topic_names"])
        }
    return words, topics


def at_hand(folder: Path, names: list[str]) -> list[str]:
    """Those of the sets that are in the folder; says which are not."""
    there = [name for name in names if (folder / f"{name}.npz").exists()]
    for name in names:
        if name not in there:
            print(f"{name}: skipped, it is not in {folder}")
    if not there:
        raise SystemExit(f"No data set of the paper is in {folder}: name their folder by --data.")
    return there
