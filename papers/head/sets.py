"""Data sets, and their splits into a training and a test part."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from common.data import matrix_of, read_set
from common.study import Argument, at_least

ROWS = Argument(
    "--rows", type=at_least(100), nargs="+", default=[6000], help="the most training rows"
)
#: The tables, small ones first. Sparse files among them are tables too.
SETS = (
    "diabetes", "german", "svmguide3", "ionosphere", "sick-euthyroid", "abalone7", "hypothyroid",
    "abalone19", "kr-vs-kp", "mammography", "spambase", "magic", "letter", "skin", "shuttle",
    "bank", "ijcnn1", "covtype", "nsl-kdd", "connect-4", "a9a", "census-income",
)  # fmt: skip
QUICK = ("diabetes", "svmguide3")
#: Their label 1 is the common class: the other one is sought.
SWAPPED = {"german", "diabetes", "ionosphere"}
#: What is tested on: share of the rows, and the most of them.
TEST_SHARE, TEST_ROWS = 0.4, 12_000


class Parts(NamedTuple):
    """A training and a test part."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


@cache
def whole(name: str, folder: Path) -> tuple[Any, NDArray[np.int64]]:
    """All rows of a set, and their labels."""
    raw = read_set(folder / f"{name}.npz")
    y = raw["y"].astype(np.int64)
    return matrix_of(raw), 1 - y if name in SWAPPED else y


def parts(name: str, folder: Path, rows: int, seed: int) -> Parts:
    """A random split, stratified, with at most so many training rows; dense."""
    X, y = whole(name, folder)
    train, test = train_test_split(
        np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    return part_of(X, y, train[:rows], test[:TEST_ROWS])


def in_order(name: str, folder: Path, rows: int) -> Parts:
    """The rows in the order of the file: the later part is tested on."""
    X, y = whole(name, folder)
    cut = round((1.0 - TEST_SHARE) * len(y))
    return part_of(X, y, np.arange(max(0, cut - rows), cut), np.arange(cut, len(y)))


def part_of(X: Any, y: NDArray[np.int64], train: Any, test: Any) -> Parts:
    """These rows, dense."""
    made = [part.toarray() if hasattr(part, "toarray") else part for part in (X[train], X[test])]
    return Parts(made[0], y[train], made[1], y[test])
