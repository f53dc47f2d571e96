"""Table 5: seconds of five-fold cross-validation, and of one fit, up to 100 000 rows."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from sklearn.model_selection import StratifiedKFold, cross_val_score

from cells import NOTHING
from common.pages import table, write_page
from common.rows import Row, chosen, values_of
from common.tasks import watched
from figures import draw_times
from printed import TABLE_5
from remarks import ONE_FIT, TIMES, TIMES_HOLD
from threshold_data import Threshold
from toprank import LPPair, SoftMarginRank
from two_aucs import FOLDS

SIZES = (100, 500, 1000, 1500, 5000, 10_000, 20_000, 100_000)
EPSILON = 0.2
HOW = {"weak_learners": "precomputed", "nonnegative": True, "on_trivial": "keep", "n_threads": 1}
#: Rows up to which a choice of nu+ is timed.
LARGEST = {"corollary": 100_000, "paper": 1500, "search": 20_000}
#: Rows up to which cross-validation is timed: the paper's sizes.
CROSS_VALIDATED = 1500
LP_PAIR = "LP-Pair 1e-6"
PAIRS, REDUCED = "HiGHS, all pairs", "HiGHS, (7)"


def measure(args: Namespace) -> list[Row]:
    """A row for a size and a method."""
    rows = []
    for m in watched(SIZES[: 1 if args.quick else None], "{} rows".format):
        X, y, _ = Threshold(3, k=10, noise=0.05).draw(m, seed=args.seed)
        if m <= CROSS_VALIDATED:
            rows += [{"m": m, "method": name, "cv": _cv(own, X, y, args)} for name, own in _ours()]
        for method, work in _methods(m):
            began = time.process_time()
            value, upper = work(X, y)
            seconds = time.process_time() - began
            rows.append({"m": m, "method": method, "s": seconds, "value": value, "upper": upper})
    return rows


def _ours() -> Iterator[tuple[str, Any]]:
    yield LP_PAIR, LPPair(EPSILON, tol=1e-6, **HOW)
    for nu_plus in LARGEST:
        yield f"reduction, {nu_plus}", SoftMarginRank(EPSILON, nu_plus=nu_plus, tol=1e-6, **HOW)


def _cv(ranker: Any, X: NDArray[np.float64], y: NDArray[np.int64], args: Namespace) -> float:
    """CPU seconds of five-fold cross-validation: five fits, and the AUC of each on its fold."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=args.seed)
    began = time.process_time()
    cross_val_score(ranker, X, y, cv=folds, scoring="roc_auc")
    return time.process_time() - began


Work = Callable[[NDArray[np.float64], NDArray[np.int64]], tuple[float, float]]


def _methods(m: int) -> Iterator[tuple[str, Work]]:
    """What is run at this size; the packages' programs only while they are quick enough."""
    for name, ranker in _ours():
        if name == LP_PAIR or m <= LARGEST[ranker.nu_plus]:
            yield name, lambda X, y, r=ranker: _bounds(r.fit(X, y))
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
    validated = [row for row in rows if "cv" in row]
    rows = [row for row in rows if "cv" not in row]
    draw_times(rows, args.out / "seconds")
    methods = values_of(rows, "method")
    sizes = sorted({row["m"] for row in rows})
    lines = []
    for m in sizes:
        own = {row["method"]: row["s"] for row in chosen(rows, m=m)}
        cells = [_seconds(own.get(method, NOTHING)) for method in methods]
        lines.append([f"{m:,}".replace(",", " "), *cells])
    write_page(
        args.out / "times.md",
        "# Table 5: seconds",
        TIMES,
        "## Five-fold cross-validation, as in the paper",
        _cross_validated(validated),
        "## One fit",
        ONE_FIT,
        table(["rows", *methods], lines),
        "![Seconds against rows](seconds.svg)",
        "## The values",
        _values(rows, sizes),
        "## What holds",
        TIMES_HOLD.format(**_ratios(rows, validated)),
    )


def _cross_validated(rows: list[Row]) -> str:
    """Table 5 beside ours."""
    methods = values_of(rows, "method")
    lines = []
    for m in values_of(rows, "m"):
        paper = [f"*{seconds:g}*" for seconds in TABLE_5.get(m, ())] or ["", ""]
        ours = [_seconds(row["cv"]) for row in chosen(rows, m=m)]
        lines.append([f"{m:,}".replace(",", " "), *paper, *ours])
    return table(["rows", "*paper, LP-Pair*", "*paper, reduction*", *methods], lines)


def _seconds(value: float) -> str:
    return "" if value != value else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _values(rows: list[Row], sizes: list[int]) -> str:
    """Bounds of both problems' optima, beside what HiGHS says."""
    lines = []
    for m in sizes:
        own = {row["method"]: row for row in chosen(rows, m=m)}
        pair, reduction = own[LP_PAIR], own["reduction, corollary"]
        lines.append(
            [
                f"{m:,}".replace(",", " "),
                *(f"{row['value']:.8f} to {row['upper']:.8f}" for row in (pair, reduction)),
                *(f"{own[k]['value']:.8f}" if k in own else "" for k in (PAIRS, REDUCED)),
            ]
        )
    return table(["rows", "LP-Pair", "reduction, corollary", PAIRS, REDUCED], lines)


def _ratios(rows: list[Row], validated: list[Row]) -> dict[str, str]:
    """How many times faster, where both were run."""

    def seconds(m: int, method: str) -> float:
        own = chosen(rows, m=m, method=method)
        return float(own[0]["s"]) if own else NOTHING

    def cv(method: str) -> float:
        own = chosen(validated, m=1500, method=method)
        return float(own[0]["cv"]) if own else NOTHING

    def times(value: float) -> str:
        return "?" if value != value else f"{value:.0f}" if value >= 10 else f"{value:.1f}"

    largest = max(SIZES)
    rate = seconds(largest, LP_PAIR) / seconds(10_000, LP_PAIR) / (largest / 10_000)
    return {
        "pairs": times(seconds(500, PAIRS) / seconds(500, LP_PAIR)),
        "reduced": times(seconds(20_000, REDUCED) / seconds(20_000, "reduction, corollary")),
        "cv": _seconds(cv(LP_PAIR)) or "?",
        "at_1500": times(1353.0 / cv(LP_PAIR)),
        "rate": times(rate),
        "beside": times(cv("reduction, paper") / cv(LP_PAIR)),
    }
