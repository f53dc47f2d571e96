"""The UCI sets and Reuters' topics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.data import matrix_of, read_set

REUTERS = "reuters-acq"


def load(folder: Path, name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A UCI set; its columns as they are."""
    raw = read_set(folder / f"{name}.npz")
    return matrix_of(raw), raw["y"].astype(np.int64)


def load_topics(folder: Path) -> tuple[Any, dict[str, NDArray[np.int64]]]:
    """Which words an article has, in zeros and ones, and for every topic which articles are on it.

    Words that fewer than two articles have are not in the file.
    """
    raw = read_set(folder / f"{REUTERS}.npz")
    words = matrix_of({**raw, "data": np.ones(len(raw["data"]))})
    topics = {
        str(name): raw["Y_top15"][:, column].astype(np.int64)
        for column, name in enumerate(raw["topic_names"])
    }
    return words, topics
