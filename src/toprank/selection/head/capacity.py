"""How much of a list somebody looks at, and the measure that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from numbers import Integral
from typing import Any

from ...inputs.arguments import check_count, check_number
from ...inputs.class_split import Split
from ...metrics._checks import check_k

#: Where a fold holds out few negatives, a partial AUC needs this false positive rate at the least:
#: below it hangs on a handful of rows.
_LEAST_RATE = 0.01
#: With so many negatives in its range a smaller rate will do.
_ENOUGH = 50


@dataclass(frozen=True)
class Capacity:
    """So many rows of a list, or a share of it."""

    share: float
    #: None where a share was given.
    count: int | None = None
    list_size: int | None = None

    def rows_of(self, n: int) -> int:
        """How many of n rows that is: no more than there are."""
        if self.count is None:
            return min(n, ceil(self.share * n - 1e-9))
        return min(n, self.count)

    def __str__(self) -> str:
        """In words, for `why_`."""
        percent = f"{100 * self.share:.3g} %"
        if self.count is None:
            return f"{percent} of a list"
        return f"{self.count} of a list of {self.list_size}, {percent}"


def capacity_of(capacity: Any, list_size: Any, n_rows: int) -> Capacity | None:
    """What `capacity` and `list_size` mean for a training set of `n_rows`."""
    if capacity is None:
        if list_size is not None:
            raise ValueError("list_size says how long the list of a capacity is: set capacity too.")
        return None
    if not isinstance(capacity, Integral):
        share = check_number("capacity", capacity, 0.0, 1.0, ends="()")
        if list_size is not None:
            raise ValueError(f"capacity={capacity!r} is a share, which needs no list_size.")
        return Capacity(share)
    count = check_count("capacity", capacity)
    size = n_rows if list_size is None else check_count("list_size", list_size)
    if count >= size:
        where = "list_size" if list_size is not None else "the number of training rows"
        raise ValueError(
            f"capacity={count} is not below {where}, {size}: then all rows can be taken, and no "
            "order is needed. Set list_size to the length of the lists that you will rank."
        )
    return Capacity(count / size, count, size)


def rows_asked_for(k: Any, n: int) -> int:
    """How many of n rows `k` is: a number of them, or a share."""
    check_k(k)
    if not isinstance(k, Integral):
        return Capacity(float(k)).rows_of(n)
    if int(k) > n:
        raise ValueError(f"k={k} exceeds the {n} rows of X: pass a smaller k, or a share.")
    return int(k)


def refined_share(capacity: Capacity | None, refine: bool) -> float | None:
    """The share of the list that a second stage is for, if there is one."""
    if refine and capacity is None:
        raise ValueError("refine=True moves positives within a capacity: set capacity too.")
    return None if capacity is None or not refine else capacity.share


def scoring_for(capacity: Capacity | None, split: Split, n_folds: int) -> str:
    """The measure of a capacity, by name.

    Without one it is average precision. If there is room for more rows than are positive, it is
    the precision among them; else the partial AUC up to the false positive rate of a list whose
    rows taken are all negative, for precision among few rows hangs on chance.
    """
    if capacity is None:
        return "average_precision"
    n_pos, n_neg = split.counts
    positive = n_pos / (n_pos + n_neg)
    if capacity.share >= positive:
        return f"precision_at_{capacity.share:.3g}"
    held_out = n_neg / n_folds
    least = min(_LEAST_RATE, _ENOUGH / held_out)
    rate = max(capacity.share / (1.0 - positive), least)
    return f"partial_auc_{min(rate, 1.0):.2g}"  # above 1 where most rows are positive


__all__ = ["Capacity", "capacity_of", "refined_share", "rows_asked_for", "scoring_for"]
