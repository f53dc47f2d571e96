"""What smaller gaps cost, and what a second thread saves: two sections of `few_passes.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tables
from toprank import LogisticRank, PNormPush, RectPushApp

#: Gives the rows and labels of a set by its name, or None.
Load = Callable[[str], Any]

#: The sets that are solved to ever smaller gaps, and those on two threads.
GAP_SETS, THREAD_SETS = ("bank", "a9a", "made-1e6"), ("made-2e6", "reuters-acq", "news20-forsale")
GAPS, ALPHA = (1e-4, 1e-6, 1e-8), 1e-4
#: Repeats, of which the fastest counts.
REPEATS = 3
#: Two threads are to take no more of the time of one.
AIM = 0.6


def _least(work: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    """The least seconds, and what came of it."""
    least, result = np.inf, None
    for _ in range(REPEATS):
        began = clock()
        result = work()
        least = min(least, clock() - began)
    return least, result


def gaps(load: Load) -> str:
    """Fits to gaps of 1e-4, 1e-6 and 1e-8, in float64: time, passes, and the gap certified."""
    makers: dict[str, Callable[[float], Any]] = {
        "LogisticRank": lambda tol: LogisticRank(ALPHA, tol=tol, n_threads=1, random_state=0),
        "RectPushApp": lambda tol: RectPushApp(ALPHA, p=4, tol=tol, n_threads=1),
        "PNormPush": lambda tol: PNormPush(ALPHA, p=4, tol=tol, n_threads=1),
    }
    rows = []
    for name in GAP_SETS:
        if (found := load(name)) is None:
            continue
        X, y = found[0].astype(np.float64), found[1]
        for who, make in makers.items():
            row, first = [name, who], 0.0
            for tol in GAPS:
                seconds, fit = _least(
                    lambda make=make, tol=tol, X=X, y=y: make(tol).fit(X, y), time.process_time
                )
                first = first or seconds
                held = "" if fit.certificate_.holds(tol) else ", not reached"
                passes, gap = fit.history_["passes"][-1], fit.certificate_.relative_gap
                row.append(
                    f"{1e3 * seconds:.1f} ({seconds / first:.2f}), {passes:.1f}, {gap:.0e}{held}"
                )
            rows.append(row)
    heads = ["set", "whose", *(f"tol {tables.exponent(tol)}" for tol in GAPS)]
    told = (
        f"alpha {tables.exponent(ALPHA)}, float64: CPU milliseconds (over those at 1e-4), "
        "passes, and the relative gap certified."
    )
    return "\n".join(["## Smaller gaps\n", told, "", tables.table(heads, rows), ""])


def threads(load: Load) -> str:
    """Whole fits of `LogisticRank` on one thread and on two: wall time, and whether bits agree."""
    rows = []
    for name in THREAD_SETS:
        if (found := load(name)) is None:
            continue
        for dtype in (np.float32, np.float64):
            X, y = found[0].astype(dtype), found[1]
            taken, fits = [], []
            for n_threads in (1, 2):
                ranker = LogisticRank(ALPHA, n_threads=n_threads, random_state=0)
                seconds, fit = _least(lambda fit=ranker.fit, X=X, y=y: fit(X, y), time.perf_counter)
                taken.append(seconds)
                fits.append((fit.coef_.copy(), fit.intercept_.copy()))
            same = all(np.array_equal(one, two) for one, two in zip(*fits, strict=True))
            ratio = taken[1] / taken[0]
            row = [name, np.dtype(dtype).name, *(f"{1e3 * seconds:.1f}" for seconds in taken)]
            rows.append(
                [*row, f"{ratio:.2f}", tables.verdict(ratio <= AIM), "yes" if same else "no"]
            )
    heads = ["set", "type", "one thread, ms", "two, ms", "ratio", f"aim {AIM:g}", "same bits"]
    told = f"LogisticRank, alpha {tables.exponent(ALPHA)}: wall milliseconds of whole fits."
    return "\n".join(["## Two threads\n", told, "", tables.table(heads, rows), ""])


__all__ = ["gaps", "threads"]
