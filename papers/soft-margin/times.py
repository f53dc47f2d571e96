"""Table 5: seconds of LP-Pair and of the reduction, up to 100 000 rows."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from cells import NOTHING
from common.pages import table, write_page
from common.rows import Row, chosen, values_of
from common.tasks import watched
from figures import draw_times
from printed import TABLE_5
from remarks import TIMES, TIMES_HOLD
from threshold_data import Threshold
from toprank import LPPair, SoftMarginRank

SIZES = (100, 500, 1000, 1500, 5000, 10_000, 20_000, 100_000)
EPSILON = 0.2
HOW = {"rankers": "precomputed", "positive": True, "on_trivial": "keep", "n_threads": 1}
#: Rows up to which a choice of nu+ is timed.
LARGEST = {"corollary": 100_000, "paper": 1500, "search": 20_000}
PAIRS, REDUCED = "HiGHS, all pairs", "HiGHS, (7)"


def measure(args: Namespace) -> list[Row]:
    """A row for a size and a method."""
    rows = []
    for m in watched(SIZES[: 1 if args.quick else None], "{} rows".format):
        X, y, _ = Threshold(3, k=10, noise=0.05).draw(m, seed=args.seed)
        for method, work in _methods(m):
            began = time.process_time()
            value, upper = work(X, y)
            seconds = time.process_time() - began
            rows.append({"m": m, "method": method, "s": seconds, "value": value, "upper": upper})
    return rows


Work = Callable[[NDArray[np.float64], NDArray[np.int64]], tuple[float, float]]


def _methods(m: int) -> Iterator[tuple[str, Work]]:
    """What is run at this size; the packages' programs only while they are quick enough."""
    yield "LP-Pair 1e-6", lambda X, y: _bounds(LPPair(EPSILON, tol=1e-6, **HOW).fit(X, y))
    for nu_plus in LARGEST:
        if m <= LARGEST[nu_plus]:
            ranker = SoftMarginRank(EPSILON, nu_plus=nu_plus, tol=1e-6, **HOW)
            yield f"reduction, {nu_plus}", lambda X, y, r=ranker: _bounds(r.fit(X, y))
    if m <= 500:
        yield PAIRS, all_pairs
    if m <= 20_000:
        yield REDUCED, reduced


def _bounds(ranker: Any) -> tuple[float, float]:
    return -ranker.certificate_.primal, -ranker.certificate_.dual


def all_pairs(X: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[float, float]:
    """(3) with all pairs listed: min t, t >= every edge, 0 <= d <= 1 / nu, sum d = 1."""
    differences = (X[y == 1][:, np.newaxis] - X[y == 0][np.newaxis]).reshape(-1, X.shape[1]) / 2.0
    nu = EPSILON * len(differences)
    return _edges(sparse.csr_array(differences), [len(differences)], [1.0 / nu])


def reduced(X: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[float, float]:
    """(7) at the nu+ of Corollary 4, as HiGHS likes it best: few rows, many boxed columns."""
    above, below = X[y == 1] / 2.0, -X[y == 0] / 2.0
    root = np.sqrt(EPSILON)
    caps = [1.0 / (root * len(above)), 1.0 / (root * len(below))]
    rows = sparse.csr_array(np.vstack([above, below]))
    return _edges(rows, [len(above), len(below)], caps)


def _edges(rows: Any, sizes: list[int], caps: list[float]) -> tuple[float, float]:
    """min t over t >= (rows' d)_k and, in every group, sum d = 1 and 0 <= d <= cap."""
    n_rankers, n = rows.shape[1], rows.shape[0]
    groups = sparse.block_diag([np.ones((1, size)) for size in sizes])
    found = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=sparse.hstack([rows.T, -np.ones((n_rankers, 1))]).tocsc(),
        b_ub=np.zeros(n_rankers),
        A_eq=sparse.hstack([groups, np.zeros((len(sizes), 1))]).tocsc(),
        b_eq=np.ones(len(sizes)),
        bounds=[
            *((0.0, cap) for cap, size in zip(caps, sizes, strict=True) for _ in range(size)),
            (None, None),
        ],
        method="highs",
    )
    return float(found.fun), float(found.fun)


def report(rows: list[Row], args: Namespace) -> None:
    """Seconds by size, and what the bounds say of the values."""
    draw_times(rows, args.out / "figure2")
    methods = values_of(rows, "method")
    sizes = sorted({row["m"] for row in rows})
    lines = []
    for m in sizes:
        own = {row["method"]: row["s"] for row in chosen(rows, m=m)}
        paper = [f"*{seconds:g}*" for seconds in TABLE_5.get(m, ())] or ["", ""]
        cells = [_seconds(own.get(method, NOTHING)) for method in methods]
        lines.append([f"{m:,}".replace(",", " "), *paper, *cells])
    header = ["rows", "*paper, LP-Pair*", "*paper, reduction*", *methods]
    write_page(
        args.out / "times.md",
        "# Table 5: seconds",
        TIMES,
        table(header, lines),
        "![Seconds against rows](figure2.svg)",
        "## The values",
        _values(rows, sizes),
        "## What holds",
        TIMES_HOLD.format(**_ratios(rows)),
    )


def _seconds(value: float) -> str:
    return "" if value != value else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _values(rows: list[Row], sizes: list[int]) -> str:
    """Bounds of both problems' optima, beside what HiGHS says."""
    lines = []
    for m in sizes:
        own = {row["method"]: row for row in chosen(rows, m=m)}
        pair, reduction = own["LP-Pair 1e-6"], own["reduction, corollary"]
        lines.append(
            [
                f"{m:,}".replace(",", " "),
                *(f"{row['value']:.8f} to {row['upper']:.8f}" for row in (pair, reduction)),
                *(f"{own[k]['value']:.8f}" if k in own else "" for k in (PAIRS, REDUCED)),
            ]
        )
    return table(["rows", "LP-Pair", "reduction, corollary", PAIRS, REDUCED], lines)


def _ratios(rows: list[Row]) -> dict[str, str]:
    """How many times faster, where both were run."""

    def seconds(m: int, method: str) -> float:
        own = chosen(rows, m=m, method=method)
        return float(own[0]["s"]) if own else NOTHING

    def times(value: float) -> str:
        return "?" if value != value else f"{value:.0f}" if value >= 10 else f"{value:.1f}"

    largest = max(SIZES)
    rate = seconds(largest, "LP-Pair 1e-6") / seconds(10_000, "LP-Pair 1e-6") / (largest / 10_000)
    return {
        "pairs": times(seconds(500, PAIRS) / seconds(500, "LP-Pair 1e-6")),
        "reduced": times(seconds(20_000, REDUCED) / seconds(20_000, "reduction, corollary")),
        "at_1500": times(1353.0 / seconds(1500, "LP-Pair 1e-6")),
        "rate": times(rate),
        "beside": times(seconds(1500, "reduction, paper") / seconds(1500, "LP-Pair 1e-6")),
    }
