"""LPPair and SoftMarginRank beside HiGHS on the same linear programmes."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.stats import binom

import tables
from options import Options
from toprank import LPPair, SoftMarginRank

Array = NDArray[np.float64]

#: Rows of the paper's Table 5, its seconds for LP-Pair and for the reduction, and more rows.
PAPER = {100: (0.102, 0.11), 500: (24.51, 0.514), 1000: (256.78, 0.86), 1500: (1353, 1.76)}
SIZES = (100, 500, 1000, 1500, 5000, 20_000, 100_000)
QUICK_SIZES = (100, 500, 1500)
#: The largest table of pairs that HiGHS is given, and how long it may take over one programme.
MOST_LISTED, TIME_LIMIT = 500, 90.0
EPSILON, RANKERS = 0.2, 100
DENSE_SIZES = (10_000, 100_000)

INTRODUCTION = """\
The setting of Table 5 of the soft margin paper: 100 Boolean rankers and a constant one, the label
is 3 of 10 variables, as many positives as negatives, 5 % of labels turned round, epsilon 0.2,
weights that are not negative. Whole fits to a relative gap of 1e-6 of the margin; the gap in the
table is that of the margin itself. HiGHS (SciPy's, dual simplex) is given (3) with all pairs for
columns, and (7). Ratios are HiGHS' time over ours. The paper's seconds are of 2011,
for five folds."""

DENSE = """\
100 features with normal noise, weights of either sign, epsilon 0.5, a relative gap of 1e-5. The
last column is the time a row beside that of the first line."""

CAVEATS = """\
* HiGHS is exact to its tolerances; ours stops at a certified gap. Its time is that of `linprog`
  with sparse columns; ours contains checking the input, all bounds and the guarantees.
* The machine is shared and noisy: compare within a row, never seconds of one run with another's."""


def r_of_k(m: int, seed: int, *, r: int = 3, k: int = 10) -> tuple[Array, NDArray[np.bool_]]:
    """Rankers of +-1 and labels: r of the first k are +1, but for 5 % of the labels."""
    rng = np.random.default_rng(seed)
    positive = np.arange(m) < m // 2
    H = rng.choice([-1.0, 1.0], (m, RANKERS))
    count = np.arange(k + 1)
    for label in (True, False):
        rows = np.flatnonzero(positive == label)
        share = binom.pmf(count, k, 0.5) * ((count >= r) == label)
        ones = rng.choice(count, len(rows), p=share / share.sum())
        ranks = np.argsort(rng.random((len(rows), k)), axis=1)
        H[rows, :k] = np.where(ranks < ones[:, np.newaxis], 1.0, -1.0)
    return np.column_stack([H, np.ones(m)]), positive ^ (rng.random(m) < 0.05)


def highs(Z: Any, caps: Array, sums: Any, signed: bool) -> tuple[float, float]:
    """The least of the largest edge by HiGHS, NaN where time ran out; and the seconds."""
    n = Z.shape[0]
    edges = sparse.vstack([Z.T, -Z.T]) if signed else Z.T
    rows = sparse.hstack([edges, sparse.csr_array(-np.ones((edges.shape[0], 1)))]).tocsc()
    began = time.perf_counter()
    found = linprog(
        np.append(np.zeros(n), 1.0),
        rows,
        np.zeros(rows.shape[0]),
        sparse.csc_array(np.column_stack([sums, np.zeros(len(sums))])),
        np.ones(sums.shape[0]),
        np.column_stack([np.append(np.zeros(n), -2.0), np.append(caps, 2.0)]),
        method="highs-ds",
        options={"time_limit": TIME_LIMIT},
    )
    seconds = time.perf_counter() - began
    return (float(found.fun) if found.status == 0 else np.nan), seconds


def highs_pairs(H: Array, positive: NDArray[np.bool_], epsilon: float) -> tuple[float, float]:
    """(3), every pair a column."""
    Z = ((H[positive][:, np.newaxis] - H[~positive]) / 2).reshape(-1, H.shape[1])
    caps = np.full(len(Z), 1.0 / (epsilon * len(Z)))
    return highs(sparse.csr_array(Z), caps, np.ones((1, len(Z))), False)


def highs_reduction(
    H: Array, positive: NDArray[np.bool_], epsilon: float, signed: bool
) -> tuple[float, float]:
    """(7) at the shares of Corollary 4."""
    Z = np.where(positive, 0.5, -0.5)[:, np.newaxis] * H
    share = np.sqrt(epsilon)
    caps = 1.0 / (share * np.where(positive, positive.sum(), (~positive).sum()))
    return highs(sparse.csr_array(Z), caps, np.vstack([positive, ~positive]) * 1.0, signed)


def timed(make: Callable[[], Any], data: tuple[Array, Any], repeats: int) -> tuple[float, Any]:
    """The median of the seconds of whole fits, and the last one."""
    seconds = []
    for _ in range(repeats):
        ranker = make()
        began = time.perf_counter()
        ranker.fit(*data)
        seconds.append(time.perf_counter() - began)
    return median(seconds), ranker


def table5_row(m: int, repeats: int) -> list[str]:
    """One size of Table 5."""
    H, positive = r_of_k(m, seed=0)
    own = {
        "weak_learners": "precomputed",
        "nonnegative": True,
        "n_threads": 1,
        "on_trivial": "keep",
    }
    ours, pairs = timed(lambda: LPPair(EPSILON, tol=1e-6, **own), (H, positive), repeats)
    reduced, tails = timed(lambda: SoftMarginRank(EPSILON, tol=1e-6, **own), (H, positive), repeats)
    of_pairs, of_tails = "", ""
    if m <= MOST_LISTED:
        value, seconds = highs_pairs(H, positive, EPSILON)
        short = np.isnan(value)
        assert short or pairs.gamma_lower_ - 1e-7 <= value <= pairs.gamma_upper_ + 1e-7
        of_pairs = ("> " if short else "") + tables.ratio(seconds / ours)
    if m <= 20_000:
        value, seconds = highs_reduction(H, positive, EPSILON, False)
        assert abs(value - tails.reduced_gamma_) < 1e-6 or np.isnan(value)
        of_tails = ("> " if np.isnan(value) else "") + tables.ratio(seconds / reduced)
    paper = PAPER.get(m)
    return [
        str(m),
        tables.seconds(ours),
        f"{pairs.gamma_upper_ - pairs.gamma_lower_:.0e}",
        str(pairs.n_iter_),
        of_pairs,
        f"{paper[0]:g}" if paper else "",
        tables.seconds(reduced),
        of_tails,
        f"{paper[1]:g}" if paper else "",
    ]


def dense_rows(sizes: tuple[int, ...], repeats: int) -> list[list[str]]:
    """Continuous features, signed weights."""
    rows: list[list[str]] = []
    first = 0.0
    for m in sizes:
        rng = np.random.default_rng(0)
        positive = rng.random(m) < 0.5
        X = rng.normal(size=(m, RANKERS))
        X += np.where(positive, 0.5, 0.0)[:, np.newaxis] * rng.normal(size=RANKERS)
        own = {"n_threads": 1, "on_trivial": "keep"}
        ours, pairs = timed(lambda: LPPair(0.5, **own), (X, positive), repeats)  # noqa: B023
        reduced, _ = timed(lambda: SoftMarginRank(0.5, **own), (X, positive), repeats)  # noqa: B023
        first = first or ours / m
        rows.append(
            [
                str(m),
                tables.seconds(ours),
                tables.gap(pairs.certificate_.relative_gap),
                str(pairs.n_iter_),
                tables.seconds(reduced),
                tables.ratio(ours / m / first),
            ]
        )
    return rows


def report(options: Options) -> str:
    """Fit every size and write the section."""
    rows = []
    for m in QUICK_SIZES if options.quick else SIZES:
        rows.append(table5_row(m, min(options.repeats, 3)))
        options.tell(f"softmargin: {m} rows, {rows[-1][1]} s")
    heads = ["rows", "LPPair s", "gap", "steps", "HiGHS / LPPair", "paper s"]
    heads += ["SoftMarginRank s", "HiGHS / that", "paper s"]
    parts = ["## Soft margins", INTRODUCTION, tables.table(heads, rows)]
    if not options.quick:
        heads = ["rows", "LPPair s", "gap", "steps", "SoftMarginRank s", "a row"]
        dense = dense_rows(DENSE_SIZES, min(options.repeats, 3))
        parts += ["### Continuous features", DENSE, tables.table(heads, dense)]
        parts.append(against_highs())
    return "\n\n".join(parts)


def against_highs() -> str:
    """The reduction on continuous features beside HiGHS, which may not end."""
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.5
    H = rng.normal(size=(20_000, RANKERS))
    H += np.where(positive, 0.5, 0.0)[:, np.newaxis] * rng.normal(size=RANKERS)
    H /= np.abs(H).max()
    ours, ranker = timed(
        lambda: SoftMarginRank(0.5, weak_learners="precomputed", n_threads=1), (H, positive), 3
    )
    value, seconds = highs_reduction(H, positive, 0.5, True)
    more = "more than " if np.isnan(value) else ""
    return (
        f"The reduction on 20 000 such rows took {tables.seconds(ours)} s to a relative gap of "
        f"{ranker.certificate_.relative_gap:.0e}; HiGHS on the same programme took "
        f"{more}{tables.seconds(seconds)} s, {more}{tables.ratio(seconds / ours)} times as long."
    )
