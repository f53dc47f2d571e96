"""Timing side by side: contenders take turns within a repeat, and medians are kept."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from sklearn.exceptions import ConvergenceWarning

#: A contender: given the number of the repeat, it returns an estimator and what to fit it to.
Contender = Callable[[int], tuple[Any, Any, Any]]


@dataclass
class Timed:
    """The fits of one contender in one cell."""

    seconds: list[float] = field(default_factory=list)
    fitted: list[Any] = field(default_factory=list)
    stopped_short: int = 0

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return median(self.seconds)


def timed_fit(contender: Contender, repeat: int, timed: Timed) -> None:
    """Fit once, noting the seconds of the whole `fit` and whether it warned of stopping short."""
    estimator, X, y = contender(repeat)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        estimator.fit(X, y)
        timed.seconds.append(time.perf_counter() - began)
    timed.fitted.append(estimator)
    timed.stopped_short += any(issubclass(one.category, ConvergenceWarning) for one in caught)


def race(contenders: Mapping[str, Contender], repeats: int, budget: float) -> dict[str, Timed]:
    """Fit all contenders in turn, `repeats` times over, each repeat led by the next of them.

    A contender that has used up its `budget` of seconds sits out the repeats that are left.
    """
    names = list(contenders)
    results = {name: Timed() for name in names}
    gc.collect()
    gc.disable()
    try:
        for repeat in range(repeats):
            lead = repeat % len(names)
            for name in names[lead:] + names[:lead]:
                if sum(results[name].seconds) < budget:
                    timed_fit(contenders[name], repeat, results[name])
    finally:
        gc.enable()
    return results
