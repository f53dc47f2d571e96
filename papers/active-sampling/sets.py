"""The paper's data sets that are at hand, with its positive classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from common.data import matrix_of, read_set

Raw = dict[str, Any]
Range = tuple[float, float]
FOLDS = 5


@dataclass(frozen=True)
class Source:
    """A data set: its file, its positive class, the range its columns are brought to.

    `folds` is how many of the five folds are run, 1 where there is a test set; `pools` the most
    initial pools. Both keep the whole within some twenty minutes. `first` keeps only so many rows,
    `over` divides all entries.
    """

    file: str
    note: str
    positive: Callable[[Raw], NDArray[np.bool_]] = lambda raw: raw["y"] == 1
    test: str | None = None
    columns: Range | None = None
    first: int | None = None
    over: float = 1.0
    folds: int = FOLDS
    pools: int = 10
    same: bool = True  #: whether the rows are the paper's


class Part(NamedTuple):
    """Rows to learn from and rows to be ranked."""

    fold: int
    X: Any
    y: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]


SOURCES = {
    "letter": Source("letter", "positive: A", columns=(0.0, 1.0)),
    "protein": Source(
        "protein-val",
        "positive: the first class; 2871 of the paper's 17766 rows, five folds for its test set",
        same=False,
    ),
    "rcv1": Source(
        "rcv1-small", "positive: CCAT; 1500 of the paper's 20242 rows", same=False, pools=3
    ),
    "a9a": Source("a9a", "positive: the rare class", test="a9a_t"),
    "bank": Source("bank", "positive: the rare class", columns=(0.0, 1.0)),
    "ijcnn1": Source("ijcnn1", "positive: the rare class; LIBSVM's training part", first=49_990),
    "shuttle": Source(
        "shuttle",
        "positive: class 1, the larger one",
        positive=lambda raw: raw["y_multi"] == 1,
        test="shuttle_t",
        columns=(-1.0, 1.0),
    ),
    "mnist": Source(
        "mnist", "positive: 0; grey levels over 255", test="mnist_t", over=255.0, pools=5
    ),
    "connect": Source(
        "connect-4",
        "positive: the largest class",
        positive=lambda raw: raw["y_multi"] == 2,
        folds=2,
        pools=5,
    ),
    "covtype": Source(
        "covtype",
        "positive: all classes but the second, 297711 rows",
        positive=lambda raw: raw["y_multi"] != 2,
        columns=(0.0, 1.0),
        folds=1,
        pools=5,
    ),
}
QUICK = ("protein", "shuttle")


def parts(
    folder: Path, name: str, *, folds: int | None = None, columns: Range | None = None
) -> Iterator[Part]:
    """What is learnt from and what is ranked: the test set, or stratified folds of all rows.

    `columns` brings them to another range than the set's own.
    """
    source = SOURCES[name]
    X, y, X_test, y_test = _load(folder, name, columns or source.columns)
    if X_test is not None:
        yield Part(0, X, y, X_test, y_test)
        return
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
    for fold, (learnt, ranked) in enumerate(split):
        if fold < min(source.folds, folds or FOLDS):
            yield Part(fold, X[learnt], y[learnt], X[ranked], y[ranked])


def to_range(X: Any, columns: Range, of: Any) -> Any:
    """Columns brought to a range, by the least and greatest entries of `of`; constant ones to 0."""
    least, most = of.min(axis=0), of.max(axis=0)
    width = np.where(most > least, most - least, 1.0)
    scaled = columns[0] + (columns[1] - columns[0]) * (X - least) / width
    return np.ascontiguousarray(np.where(most > least, scaled, 0.0))


@lru_cache(maxsize=1)
def _load(folder: Path, name: str, columns: Range | None) -> tuple[Any, Any, Any, Any]:
    source = SOURCES[name]
    X, y = _read(folder / f"{source.file}.npz", source)
    X_test, y_test = _read(folder / f"{source.test}.npz", source) if source.test else (None, None)
    if columns is not None:
        X_test = None if X_test is None else to_range(X_test, columns, of=X)
        X = to_range(X, columns, of=X)
    return X, y, X_test, y_test


def _read(path: Path, source: Source) -> tuple[Any, NDArray[np.int8]]:
    raw = read_set(path)
    X, y = matrix_of(raw), source.positive(raw).astype(np.int8)
    return X[: source.first] / source.over, y[: source.first]
