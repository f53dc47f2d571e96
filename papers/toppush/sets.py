"""The data sets of Table 2, their scaling, and the parts of a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import maxabs_scale, minmax_scale

from common.data import matrix_of, read_set

Labels = NDArray[np.int8]
FOLDS = 5
#: The authors' own cut of spambase, which their program comes with.
THEIRS = "spambase-theirs"
#: Sets of the paper that could not be had.
ABSENT = ("real-sim", "url")


@dataclass(frozen=True)
class Source:
    """A data set: its file, how its columns are scaled, and what else there is to know."""

    file: str
    note: str
    scale: Callable[[Any], Any] = lambda X: X
    large: bool = False  #: costly: it gets every other lambda, and fewer trials
    fixed: bool = False  #: comes with its split, so there is one trial


SOURCES = {
    "diabetes": Source(
        "diabetes", "columns 0 to 1; 8 of them, the paper prints 34", scale=minmax_scale
    ),
    "news20-forsale": Source(
        "news20-forsale",
        "tf-idf rows of length 1 of another copy of the corpus, not LIBSVM's",
        large=True,
    ),
    "nsl-kdd": Source("nsl-kdd", "columns 0 to 1; attacks are positive", maxabs_scale, large=True),
    "spambase": Source("spambase", "columns 0 to 1, as in the authors' file", scale=minmax_scale),
    "w8a": Source("w8a", "as it is: zeros and ones", large=True),
    THEIRS: Source(
        "toppush-spambase", "the authors' file: columns 0 to 1, 3068 rows to train", fixed=True
    ),
}
QUICK = ("diabetes", "spambase")


class Part(NamedTuple):
    """Rows to learn from and rows to judge by."""

    X: Any
    y: Labels
    X_held: Any
    y_held: Labels


def file_of(name: str) -> str:
    """The set's file, without its ending."""
    return SOURCES[name].file


@lru_cache
def load(folder: Path, name: str) -> tuple[Any, Labels]:
    """All rows, scaled; sparse ones with the indices that scikit-learn takes."""
    raw = read_set(folder / f"{file_of(name)}.npz")
    X = SOURCES[name].scale(matrix_of(raw))
    if sparse.issparse(X):
        parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = sparse.csr_array(parts, shape=X.shape)
    return X, raw["y"].astype(np.int8)


@lru_cache(maxsize=1)
def parts_of(
    folder: Path, name: str, trial: int, seed: int, most: int | None
) -> tuple[Part, list[Part]]:
    """A trial's training and test part, and its folds; at `most` so many rows to train on."""
    X, y = load(folder, name)
    chance = 1000 * seed + trial
    if SOURCES[name].fixed:
        n_train = int(read_set(folder / f"{file_of(name)}.npz")["n_train"])
        train, test = np.split(np.arange(len(y)), [n_train])
    else:
        cut = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=chance)
        train, test = next(cut.split(y, y))
    if most is not None and most < len(train):
        few = StratifiedShuffleSplit(1, train_size=most, random_state=chance)
        train = train[next(few.split(train, y[train]))[0]]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=chance).split(train, y[train])

    def part(rows: NDArray[np.int64], held: NDArray[np.int64]) -> Part:
        return Part(X[rows], y[rows], X[held], y[held])

    return part(train, test), [part(train[a], train[b]) for a, b in folds]
