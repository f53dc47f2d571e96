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
#: The sets on which settings of HeadRanker were chosen. The others are the judged sets.
DEVELOPMENT = ("mammography", "abalone7", "magic", "spambase", "a9a", "covtype")
QUICK = ("diabetes", "svmguide3")
#: Their label 1 is the common class: the other one is sought.
SWAPPED = {"german", "diabetes", "ionosphere"}
#: Sets whose rows are in time order.
TIMED = ("bank",)
#: Random splits: share of the rows to test on.
TEST_SHARE = 0.4
#: Splits in time order: shares of the rows before the test part, and share in the test part.
CUTS, LATER_SHARE = (0.50, 0.58, 0.66, 0.74, 0.82), 0.08

#: The Fraud Detection Handbook's table, and the first training days: 2018-07-04 to 2018-08-08.
HANDBOOK = "fraud-handbook"
FIRST_DAYS = (94, 101, 108, 115, 122, 129)
#: The first training day on which settings of HeadRanker were chosen.
DEVELOPMENT_DAY = 94
#: Days of training, of delay and of testing.
TRAIN, DELAY, TEST = 7, 7, 7


class Parts(NamedTuple):
    """A training and a test part; the time of each training row if they are in time order."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    time: NDArray[np.int64] | None = None


class Week(NamedTuple):
    """A split of the handbook's table, with the day and the customer of each test row."""

    parts: Parts
    day: NDArray[np.int64]
    customer: NDArray[np.int64]


@cache
def whole(name: str, folder: Path) -> tuple[Any, NDArray[np.int64]]:
    """All rows of a set, and their labels."""
    raw = read_set(folder / f"{name}.npz")
    y = raw["y"].astype(np.int64)
    return matrix_of(raw), 1 - y if name in SWAPPED else y


def parts(name: str, folder: Path, rows: int, seed: int) -> Parts:
    """A split with at most `rows` training rows, in time order where the rows are; dense."""
    if name not in TIMED:
        return at_random(name, folder, rows, seed)
    X, y = whole(name, folder)
    cut = round(CUTS[seed % len(CUTS)] * len(y))
    return later(X, y, cut, rows, round(LATER_SHARE * len(y)))


def at_random(name: str, folder: Path, rows: int, seed: int) -> Parts:
    """A random split with at most `rows` training rows; dense."""
    X, y = whole(name, folder)
    train, test = train_test_split(
        np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    return part_of(X, y, train[:rows], test[: most_test_rows(rows)])


def split_settings(name: str, rows: int) -> tuple[Any, ...]:
    """Return what a split depends on besides its seed and number of training rows."""
    return (CUTS, LATER_SHARE) if name in TIMED else (TEST_SHARE, most_test_rows(rows))


def most_test_rows(rows: int) -> int:
    """Return the most rows to test on, by the most rows to train on."""
    return 12_000 if rows <= 6000 else 40_000


def test_share(rows: int) -> float:
    """Return the largest share of the rows of a split that are in its test part."""
    test = most_test_rows(rows)
    return max(TEST_SHARE, test / (rows + test))


def in_order(name: str, folder: Path, rows: int) -> Parts:
    """The rows in the order of the file: the last 40 % are the test part."""
    X, y = whole(name, folder)
    cut = round((1.0 - TEST_SHARE) * len(y))
    return later(X, y, cut, rows, len(y) - cut)


def later(X: Any, y: NDArray[np.int64], cut: int, rows: int, test_rows: int) -> Parts:
    """Train on the last rows before a cut, test on the rows after it."""
    train = np.arange(max(0, cut - rows), cut)
    return part_of(X, y, train, np.arange(cut, cut + test_rows))._replace(time=train)


def part_of(X: Any, y: NDArray[np.int64], train: Any, test: Any) -> Parts:
    """These rows, dense."""
    made = [part.toarray() if hasattr(part, "toarray") else part for part in (X[train], X[test])]
    return Parts(made[0], y[train], made[1], y[test])


def week(folder: Path, first: int, every: int = 1) -> Week:
    """The handbook's split: seven days of training, seven of delay, seven of testing.

    Customers known to be compromised by the eve of a test day are removed from it. Labels are
    known after the delay. `every` keeps one of `every` customers.
    """
    raw = handbook(folder)
    day, y, customer = raw["day"], raw["y"], raw["customer"]
    kept = customer % every == 0
    train = np.flatnonzero(kept & (day >= first) & (day < first + TRAIN))
    known = set(customer[train][y[train] == 1])
    tests = []
    for k in range(TEST):
        known.update(customer[(day == first + TRAIN + k - 1) & (y == 1)])
        today = np.flatnonzero(kept & (day == first + TRAIN + DELAY + k))
        tests.append(today[~np.isin(customer[today], list(known))])
    test = np.concatenate(tests)
    made = part_of(raw["X"], y, train, test)._replace(time=day[train])
    return Week(made, day[test], customer[test])


@cache
def handbook(folder: Path) -> dict[str, Any]:
    """The arrays of the handbook's table; its rows are in time order."""
    raw = read_set(folder / f"{HANDBOOK}.npz")
    found = {name: raw[name].astype(np.int64) for name in ("y", "day", "customer")}
    return {**found, "X": matrix_of(raw)}
