"""TopPush beside LIBLINEAR on one-hot integers, where w = 0 is almost, or just, the optimum.

    python benchmarks/almost_trivial.py > benchmarks/ALMOST_TRIVIAL.md

The tables are made, of the shape of an insurer's customers: columns of a few integers, tied
together by a few hidden traits, each integer a column of its own, and labels that hang on them
weakly.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

# Before anything loads a BLAS: one thread for everybody.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import tables
from machine import describe
from toprank import TopPush

ALPHAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
REPEATS = 2
#: Below this alpha LIBLINEAR's dual method takes many times as long as its others.
DUAL = 1e-2
AIM = 3.0
#: Name, seed, rows, columns of integers, columns in all, share of positives, and the deviation of
#: the part of the label that hangs on the columns, in units of a logistic's scale.
SHAPES = (
    ("customers", 0, 9_822, 85, 565, 0.06, 0.6),
    ("customers", 1, 9_822, 85, 565, 0.06, 0.6),
    ("customers", 2, 9_822, 85, 565, 0.06, 0.6),
    ("customers", 3, 9_822, 85, 565, 0.06, 0.6),
    ("strong signal", 4, 9_822, 85, 565, 0.06, 2.0),
    ("small", 5, 3_000, 40, 250, 0.06, 0.6),
    ("wide", 6, 6_000, 100, 1_000, 0.06, 0.6),
    ("many rows", 7, 40_000, 60, 400, 0.02, 0.6),
    ("rare positives", 8, 9_822, 85, 565, 0.01, 0.6),
    ("even classes", 9, 9_822, 85, 565, 0.4, 1.0),
)
#: Hidden traits that tie the columns together.
TRAITS = 8
#: How much of a column is its own.
NOISE = 0.7
#: The share of one-hot columns that it hangs on.
TELLING = 0.2

INTRODUCTION = f"""\
Whole fits with all checks, one thread, rows as they are: TopPush to a certified relative gap of
1e-4 with w = 0 proven where it is the optimum, and the fastest of scikit-learn's LinearSVC
(primal, and dual where alpha is large) and LogisticRegression by LIBLINEAR, with their default
`tol`, at C = 1 / (alpha N).
CPU milliseconds, the least of {REPEATS} turns."""


def made(
    seed: int, n: int, columns: int, levels: int, share: float, signal: float
) -> tuple[Any, Any]:
    """One-hot rows, and labels 0 and 1."""
    rng = np.random.default_rng(seed)
    sizes = 2 + rng.multinomial(levels - 2 * columns, rng.dirichlet(np.full(columns, 4.0)))
    traits = rng.normal(size=(n, TRAITS))
    codes = np.empty((n, columns), dtype=np.int64)
    for k, size in enumerate(sizes):
        z = traits @ rng.normal(size=TRAITS) / np.sqrt(TRAITS) + NOISE * rng.normal(size=n)
        shares = rng.dirichlet(np.full(size, 0.6))
        codes[:, k] = np.searchsorted(np.quantile(z, np.cumsum(shares)[:-1]), z)
    codes += np.cumsum(sizes) - sizes
    ends = np.arange(0, n * columns + 1, columns)
    X = sparse.csr_matrix((np.ones(n * columns), codes.ravel(), ends), shape=(n, levels))
    z = X @ (rng.normal(size=levels) * (rng.random(levels) < TELLING))
    z = signal * (z - z.mean()) / z.std() + rng.logistic(size=n)
    return X, (z > np.quantile(z, 1.0 - share)).astype(int)


def contenders(alpha: float, n: int) -> dict[str, Callable[[], Any]]:
    """Who takes turns."""
    C = 1.0 / (alpha * n)
    return {
        "TopPush": lambda: TopPush(alpha, n_threads=1, random_state=0),
        "LinearSVC primal": lambda: LinearSVC(C=C, dual=False),
        "logistic": lambda: LogisticRegression(C=C, solver="liblinear"),
        **(
            {"LinearSVC dual": lambda: LinearSVC(C=C, dual=True, random_state=0)}
            if alpha >= DUAL
            else {}
        ),
    }


def cell(shape: tuple[Any, ...], X: Any, y: Any, alpha: float) -> tuple[list[str], float]:
    """One row of the table, and its ratio."""
    best: dict[str, float] = {}
    for _ in range(REPEATS):
        for who, make in contenders(alpha, len(y)).items():
            began = time.process_time()
            fit = make().fit(X, y)
            best[who] = min(best.get(who, np.inf), time.process_time() - began)
            if who == "TopPush":
                ours = fit
    theirs = min(set(best) - {"TopPush"}, key=best.__getitem__)
    ratio = best["TopPush"] / best[theirs]
    row = [shape[0], str(shape[1]), f"{X.shape[0]} x {X.shape[1]}", tables.exponent(alpha), theirs]
    row += [f"{1e3 * best[theirs]:.0f}", f"{1e3 * best['TopPush']:.0f}", tables.ratio(ratio)]
    row += ["yes" if ours.trivial_ else "no", "yes" if ours.certificate_.holds(1e-4) else "no"]
    return [*row, ours.solver_], ratio


def main() -> None:
    """Race, and print the page."""
    warnings.simplefilter("ignore")
    rows, ratios = [], []
    for shape in SHAPES:
        X, y = made(*shape[1:])
        for alpha in ALPHAS:
            told, ratio = cell(shape, X, y, alpha)
            rows.append(told)
            ratios.append(ratio)
    heads = ["table", "seed", "shape", "alpha", "fastest of theirs", "theirs, ms", "TopPush, ms"]
    heads += ["ratio", "trivial", "certified", "solver"]
    above = sum(ratio > AIM for ratio in ratios)
    print(
        "# Almost trivial\n", describe(), "", INTRODUCTION, "", tables.table(heads, rows), sep="\n"
    )
    print(
        f"\nGeometric mean {tables.geometric_mean(ratios):.2f}, worst {max(ratios):.2f}; ", end=""
    )
    print(f"{above} of {len(ratios)} above the aim of {AIM:.0f}.")


if __name__ == "__main__":
    main()
