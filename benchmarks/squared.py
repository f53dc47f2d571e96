"""BBR: whole fits beside its peers, its kernel beside BLAS, the loop over pairs, choosing alpha."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from threadpoolctl import threadpool_limits

import tables
from data import DataSet, choose
from options import Options
from timing import race
from toprank import BBR, BBRCV
from toprank._core import Matrix, group_moments, pair_moments

SETS = ["spambase", "magic", "covtype", "a9a", "w8a", "news20-forsale"]
SHAPES = [
    (1_000_000, 8),
    (1_000_000, 24),
    (400_000, 50),
    (200_000, 123),
    (100_000, 300),
    (20_000, 1000),
]
QUICK_SHAPES = [(100_000, 8), (20_000, 50)]
CELL_BUDGET = 30.0

#: In place of what holds of the other sections.
CAVEATS = """\
* Times are of whole fits, scikit-learn's checks included, on both sides. Everybody has the same
  number of threads: one where nothing else is said.
* The machine is shared and noisy: compare within a row, never seconds of one run with another's."""

PEERS = """\
`BBR(alpha=2 / N)` and its peers: `RidgeClassifier(1.0, class_weight="balanced")`, whose direction
is the same; `LinearDiscriminantAnalysis()`, which pools the covariances by rows, and with
`solver="lsqr", priors=[.5, .5]`, which is BBR without a ridge. LDA takes no sparse matrix. Ratios
are their time over ours. 1 - cosine is the angle between Ridge's weights and ours: on sparse data
Ridge stops at its default tolerance, ours at a certified gap of 1e-4 or exact."""

KERNEL = """\
The moments of two classes (split, shifted, counts and sums included) beside one bare DSYRK of the
same shape, which does none of that. The ratio is DSYRK's time over ours; the aim is 0.5."""

LOOP = """\
Algorithm 1 of the paper adds up 1000 x 1000 pairs; the class moments are the same numbers. Both in
compiled loops, the pairs through the same packed kernel as the rows; then the loop in NumPy, one
positive at a time. Moments only: solving is the same for all. The aim is 500."""

CHOICE = """\
BBRCV, 5 folds and 40 values of alpha, over one fit of BBR; the aim is 1.5."""


def ours(data: DataSet, n_threads: int, _: int) -> tuple[Any, Any, Any]:
    """BBR, with the ridge of RidgeClassifier's default."""
    return BBR(2.0 / len(data.y), n_threads=n_threads), data.X, data.y


def ridge(data: DataSet, _: int) -> tuple[Any, Any, Any]:
    """RidgeClassifier with balanced classes."""
    return RidgeClassifier(1.0, class_weight="balanced"), data.X, data.y


def discriminant(data: DataSet, options: dict[str, Any], _: int) -> tuple[Any, Any, Any]:
    """Linear discriminant analysis."""
    return LinearDiscriminantAnalysis(**options), data.X, data.y


def beside_peers(data: DataSet, n_threads: int, options: Options) -> list[str]:
    """One data set."""
    contenders: dict[str, Any] = {
        "ours": partial(ours, data, n_threads),
        "ridge": partial(ridge, data),
    }
    if not sp.issparse(data.X):
        contenders["svd"] = partial(discriminant, data, {})
        contenders["lsqr"] = partial(discriminant, data, {"solver": "lsqr", "priors": [0.5, 0.5]})
    repeats = options.repeats if len(data.y) > 100_000 else 5 * options.repeats
    with threadpool_limits(n_threads):
        timed = race(contenders, repeats, CELL_BUDGET)
    options.tell(f"squared: {data.name}, threads {n_threads}")
    fitted, peer = timed["ours"].fitted[-1], timed["ridge"].fitted[-1]
    w, v = fitted.coef_[0], np.ravel(peer.coef_)
    angle = 1.0 - float(w @ v) / float(np.linalg.norm(w) * np.linalg.norm(v))
    ratios = [
        tables.ratio(timed[name].median / timed["ours"].median) if name in timed else "-"
        for name in ("ridge", "svd", "lsqr")
    ]
    return [
        data.name,
        f"{data.X.shape[0]} x {data.X.shape[1]}",
        fitted.solver_,
        str(n_threads),
        tables.seconds(timed["ours"].median),
        *ratios,
        tables.gap(max(angle, 0.0)),
        tables.gap(max(fitted.certificate_.relative_gap, 0.0)),
    ]


def medians(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The median seconds of calls that take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - began)
    return {name: median(times) for name, times in seconds.items()}


def beside_blas(n: int, d: int, options: Options) -> list[str]:
    """One shape."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    group = rng.integers(0, 2, n).astype(np.int32)
    rows, columns = Matrix.dense(X), Matrix.dense(np.asfortranarray(X))
    timed = medians(
        {
            "blas": lambda: dsyrk(1.0, X.T, lower=1),
            "ours": lambda: group_moments(rows, group, 2, None, 1),
            "by columns": lambda: group_moments(columns, group, 2, None, 1),
        },
        options.repeats,
    )
    options.tell(f"squared: kernel {n} x {d}")
    return [
        f"{n} x {d}",
        tables.seconds(timed["ours"]),
        tables.ratio(timed["blas"] / timed["ours"]),
        tables.ratio(timed["blas"] / timed["by columns"]),
        f"{n * d * (d + 1) / timed['ours'] / 1e9:.1f}",
    ]


def loop_in_numpy(X: Any, y: Any) -> Any:
    """Algorithm 1, one positive row against all negatives at a time."""
    second, first = np.zeros((X.shape[1],) * 2), np.zeros(X.shape[1])
    below = X[y == 0]
    for row in X[y == 1]:
        psi = row - below
        first += psi.sum(axis=0)
        second += psi.T @ psi
    return second, first


def beside_pairs(d: int, options: Options) -> list[str]:
    """1000 positives and 1000 negatives of d features."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, d)), np.repeat([1, 0], 1000)
    matrix, group = Matrix.dense(X), y.astype(np.int32)
    i, j = np.repeat(np.arange(1000), 1000), np.tile(np.arange(1000, 2000), 1000)

    def many() -> None:  # one call is too short to time
        for _ in range(100):
            group_moments(matrix, group, 2, None, 1)

    timed = medians(
        {
            "ours": many,
            "pairs": lambda: pair_moments(matrix, i, j, None, 1),
            "numpy": lambda: loop_in_numpy(X, y),
        },
        options.repeats,
    )
    options.tell(f"squared: pairs, {d} features")
    own = timed["ours"] / 100
    return [
        str(d),
        f"{1e6 * own:.0f}",
        f"{timed['pairs'] / own:.0f}",
        f"{timed['numpy'] / own:.0f}",
    ]


def choice_of_alpha(data: DataSet, options: Options) -> list[str]:
    """BBRCV beside one fit."""
    contenders: dict[str, Any] = {
        "one": partial(ours, data, 1),
        "all": lambda _: (BBRCV(n_threads=1), data.X, data.y),
    }
    timed = race(contenders, options.repeats, CELL_BUDGET)
    options.tell(f"squared: choice of alpha, {data.name}")
    return [
        data.name,
        tables.seconds(timed["one"].median),
        tables.ratio(timed["all"].median / timed["one"].median),
        f"{timed['all'].fitted[-1].alpha_:.2g}",
    ]


def report(options: Options) -> str:
    """Measure everything and write the section."""
    names = options.names or (["spambase", "german"] if options.quick else SETS)
    sources = choose(names, quick=False)
    sets = [data for source in sources if (data := source.load(options.folder)) is not None]
    shapes = QUICK_SHAPES if options.quick else SHAPES
    heads = ["data", "rows x columns", "solver", "threads", "seconds", "Ridge", "LDA svd"]
    heads += ["LDA lsqr", "1 - cosine", "gap"]
    threads = sorted({1, os.cpu_count() or 1})
    return "\n\n".join(
        [
            "## BBR and its peers",
            PEERS,
            tables.table(heads, [beside_peers(data, n, options) for data in sets for n in threads]),
            "## The kernel and BLAS",
            KERNEL,
            tables.table(
                ["shape", "seconds", "DSYRK over ours", "the same, X by columns", "GF/s"],
                [beside_blas(n, d, options) for n, d in shapes],
            ),
            "## Rows and pairs",
            LOOP,
            tables.table(
                ["features", "microseconds", "compiled pairs over ours", "NumPy's loop over ours"],
                [beside_pairs(d, options) for d in (10, 50)],
            ),
            "## The choice of alpha",
            CHOICE,
            tables.table(
                ["data", "one fit, seconds", "BBRCV over it", "alpha"],
                [choice_of_alpha(data, options) for data in sets if not sp.issparse(data.X)],
            ),
        ]
    )
