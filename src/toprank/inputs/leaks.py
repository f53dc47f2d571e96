"""Columns that give the label away by themselves, and columns that name rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

from .cells import as_codes, as_numbers, cells_of, is_missing, names_of

#: A column alone whose AUC is as high as this is suspected.
LEAK = 0.99
#: A column is suspected if it is filled in for 0.2 of the positives, 20 times as often as for
#: negatives, and 0.9 of the filled cells are positive.
_FILLED, _OFTENER, _PURE = 0.2, 20.0, 0.9
#: Rows of each class below which nothing is suspected: an AUC of .99 may be luck.
_LEAST = 5
#: Rows that are looked at: enough to tell .99 from .98, and quick.
_ROWS = 20_000
#: Words, or whole numbers, that may be names have more values than this.
_NAMES = 100
#: Names of columns that hold names of rows.
_NAMED = re.compile(r"(^|[\W_])(id|uuid|guid)$|[a-z](Id|ID)$", re.ASCII)


@dataclass(frozen=True)
class Leak:
    """A column that gives the label away: its AUC alone, and how it does it."""

    column: str
    auc: float
    #: The shares of positives and of negatives whose cell is filled in.
    filled: tuple[float, float] = (1.0, 1.0)
    #: Whether it is a date later than every other date of its row.
    late: bool = False

    @property
    def words(self) -> str:
        """The column and what is suspicious about it."""
        positives, negatives = self.filled
        if negatives <= positives / _OFTENER:
            said = f"filled in for {_percent(positives)} of the positives and "
            said += f"{_percent(negatives)} of the others"
        else:
            said = f"AUC {self.auc:.4f}"
            said += ", later than the other dates of its row" if self.late else ""
        return f"{self.column!r} ({said})"


def ignore_option(column: str) -> str:
    r"""Return the option that leaves a column out, as a shell takes it.

    Examples
    --------
    >>> from toprank.inputs.leaks import ignore_option
    >>> print(ignore_option("closed"), ignore_option("back date"), ignore_option("a,b"))
    --ignore closed --ignore 'back date' --ignore '"a,b"'
    """
    doubled = column.replace('"', '""')
    quoted = f'"{doubled}"' if "," in column or '"' in column else column
    return f"--ignore {quote(quoted)}"


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"


def find_leaks(
    X: Any, positive: NDArray[np.bool_], *, classes: tuple[int, int] | None = None
) -> list[Leak]:
    """Return the columns that give the label away, the highest AUC first.

    Up to 10 000 rows of each class are looked at.

    Parameters
    ----------
    X : array, sparse matrix or frame
        The columns. Of sparse columns only the presence of entries is looked at.
    positive : ndarray of bool
        The rows of the positive class.
    classes : tuple of int, optional
        How many rows of each class there are, the positive one first, if these are a sample.

    Returns
    -------
    list of Leak
        A column is in it whose AUC alone, either way up, is .99 or more: by its numbers, by its
        gaps, or by the rates of its categories among other rows. A date with gaps, or one later
        than every other date of its row, needs .9. A column that is filled in for positives, and
        hardly for others, is in it whatever its AUC.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from toprank.inputs.leaks import find_leaks
    >>> fraud = np.arange(100) % 10 == 0
    >>> days = np.where(fraud, np.datetime64("2025-03-01"), np.datetime64("NaT"))
    >>> table = pd.DataFrame({"amount": np.arange(100.0), "chargeback": days})
    >>> [leak.words for leak in find_leaks(table, fraud)]
    ["'chargeback' (filled in for 100 % of the positives and 0 % of the others)"]
    """
    classes = classes or (int(positive.sum()), int((~positive).sum()))
    if min(classes) < _LEAST:
        return []
    rows = sample_rows(positive)
    if sparse.issparse(X):
        found = list(_sparse(sparse.csr_array(X)[rows], positive[rows]))
    else:
        columns = dict(cells_of(X, rows))
        dates = {name: cells for name, cells in columns.items() if cells.dtype.kind == "M"}
        found = [
            leak
            for name, cells in columns.items()
            if (leak := _looked_at(name, cells, positive[rows], dates, classes)) is not None
        ]
    return sorted(found, key=lambda leak: -leak.auc)


def sample_rows(positive: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return rows that are evenly spread over each class; all positives if they are few."""
    kept = []
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        most = min(len(rows), _ROWS // 2)
        kept.append(rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)])
    return np.sort(np.concatenate(kept))


def _looked_at(
    name: str,
    cells: NDArray[Any],
    positive: NDArray[np.bool_],
    dates: dict[str, NDArray[Any]],
    classes: tuple[int, int],
) -> Leak | None:
    """Return what a column gives away, None if it is above suspicion."""
    numbers = as_numbers(cells)
    if numbers is None:
        codes, words = as_codes(cells)
        lost = np.array([word == "" for word in words])[codes]
        ways = [_rates(codes, positive)]
    else:
        lost = np.isnan(numbers)
        ways = [np.where(lost, low, numbers) for low in ((-np.inf, np.inf) if lost.any() else (0,))]
        values, codes = np.unique(numbers, return_inverse=True)
        # Numbers with few different values may be codes of categories.
        if cells.dtype.kind != "M" and len(values) <= 50:
            ways.append(_rates(codes, positive))
    if lost.any():
        ways.append(lost.astype(np.float64))
    late = False
    if cells.dtype.kind == "M" and (delay := _delay(name, dates)) is not None:
        late = True
        ways.append(delay)
    auc = max(_either_way(one, positive) for one in ways)
    filled = (float((~lost)[positive].mean()), float((~lost)[~positive].mean()))
    # Dates with gaps, or later than every other date of their row, are suspected earlier.
    least = 0.9 if cells.dtype.kind == "M" and (late or lost.any()) else LEAK
    if auc >= least or _only_positives(filled, classes):
        return Leak(name, auc, filled, late)
    return None


def _only_positives(filled: tuple[float, float], classes: tuple[int, int]) -> bool:
    """Return whether a column is filled in for positives and hardly for others."""
    hits, misses = (share * count for share, count in zip(filled, classes, strict=True))
    return bool(
        filled[0] >= max(_FILLED, _OFTENER * filled[1])
        and hits >= 2 * _LEAST
        and hits >= _PURE * (hits + misses)
    )


def _delay(name: str, dates: dict[str, NDArray[Any]]) -> NDArray[np.float64] | None:
    """Return the time since the latest other date, None if some of them are later."""
    others = [cells for other, cells in dates.items() if other != name]
    if not others:
        return None
    last = np.fmax.reduce(others)  # of a missing date and another, the other
    delay = (dates[name] - last).astype("timedelta64[s]").astype(np.float64)
    known = ~np.isnat(dates[name]) & ~np.isnat(last)
    delay[~known] = -np.inf
    if known.sum() < _LEAST or (delay[known] < 0.0).mean() > 1.0 - LEAK:
        return None
    return delay if (delay[known] > 0.0).mean() > 0.5 else None


def _rates(codes: NDArray[np.intp], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the share of positives of each row's category among the other half of the rows.

    Its own rows would make a column of names, each once, look perfect.
    """
    half = np.arange(len(codes)) % 2 == 0
    rate = positive.mean()
    scores = np.empty(len(codes))
    for own in (half, ~half):
        count = np.bincount(codes[~own], minlength=codes.max() + 1)
        hits = np.bincount(codes[~own], weights=positive[~own], minlength=codes.max() + 1)
        scores[own] = ((hits + rate) / (count + 1.0))[codes[own]]
    return scores


def _either_way(scores: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """Return the AUC, or that of the reversed order."""
    m, n = int(positive.sum()), int((~positive).sum())
    auc = (rankdata(scores)[positive].sum() - m * (m + 1) / 2) / (m * n)
    return float(max(auc, 1.0 - auc))


def _sparse(X: Any, positive: NDArray[np.bool_]) -> Iterator[Leak]:
    """Yield sparse columns whose entries are there for one class only."""
    there = X.astype(bool)
    shares = [np.asarray(there[rows].mean(axis=0)).ravel() for rows in (positive, ~positive)]
    aucs = 0.5 + 0.5 * np.abs(shares[0] - shares[1])
    names = names_of(X)
    for j in np.flatnonzero(aucs >= LEAK):
        yield Leak(names[j], float(aucs[j]))


def row_names(X: Any) -> dict[str, str]:
    """Return the columns that seem to name rows or customers, and what they hold.

    Parameters
    ----------
    X : frame or array
        The columns.

    Returns
    -------
    dict of str to str
        Of columns of words that differ in nine rows of ten, and of whole numbers that hardly
        repeat within a narrow range: "rows". Of whole numbers with "id" at the end of the
        column's name, which may repeat: "numbers".

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from toprank.inputs.leaks import row_names
    >>> case = 5000 + np.random.default_rng(0).permutation(1000)
    >>> row_names(pd.DataFrame({"case": case, "customer_id": case // 4, "age": case % 90}))
    {'case': 'rows', 'customer_id': 'numbers'}
    """
    if sparse.issparse(X):
        return {}
    n = X.shape[0]
    rows = np.linspace(0, n - 1, min(n, _ROWS)).astype(np.intp)
    found = {}
    for name, cells in cells_of(X):
        if cells.dtype.kind in "mMb":
            continue
        numbers = as_numbers(cells) if cells.dtype.kind in "iuf" else None
        if numbers is None:
            some = cells[rows]
            words = [cell for cell in some.tolist() if not is_missing(cell)]
            distinct = len(set(map(str, words)))
            if distinct > max(_NAMES, 0.9 * len(words)):
                found[name] = "rows"
            continue
        some = numbers[rows][~np.isnan(numbers[rows])]
        if len(some) <= _NAMES or (some != np.floor(some)).any() or np.isinf(some).any():
            continue
        distinct = len(np.unique(some))
        if distinct > _NAMES and _drawn_once(some, distinct):
            found[name] = "rows"
        elif distinct > _NAMES and _NAMED.search(name):
            found[name] = "numbers"
    return found


def _drawn_once(numbers: NDArray[np.float64], distinct: int) -> bool:
    """Return whether whole numbers repeat much less than numbers drawn from their range would.

    Of n numbers drawn from R about n^2 / (2 R) repeat an earlier one; amounts, which are not
    drawn evenly, repeat more.
    """
    n, span = len(numbers), float(numbers.max() - numbers.min()) + 1.0
    expected = n - span * -np.expm1(n * np.log1p(-1.0 / span)) if span > 1.0 else n
    return bool(expected >= 20.0 and n - distinct <= 0.1 * expected)


__all__ = ["LEAK", "Leak", "find_leaks", "ignore_option", "row_names", "sample_rows"]
