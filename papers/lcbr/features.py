"""Not in the paper: features of pairs that do not separate, where LCBR is of use."""

from __future__ import annotations

import time
from argparse import Namespace
from itertools import product

import numpy as np

from common.pages import table, write_page
from common.rows import Row, mean
from common.tasks import watched
from remarks import FEATURES, FEATURES_HOLD
from repetitions import REPETITIONS, repetitions_of
from toprank import LCBR
from toprank.theory import practical_pairs

SIZES = (400, 800, 1600, 4800, 16000)
N_ROWS, N_FEATURES = 1600, 12
ARGUMENTS = (REPETITIONS,)


def bounded(X1: np.ndarray, X0: np.ndarray) -> np.ndarray:
    """Differences divided by a distance, and bounded differences: neither separates."""
    apart = X1 - X0
    return np.hstack([apart / (1.0 + np.linalg.norm(apart, axis=1, keepdims=True)), np.tanh(apart)])


def difference(X1: np.ndarray, X0: np.ndarray) -> np.ndarray:
    """What separates."""
    return X1 - X0


KINDS = {"bounded": bounded, "difference": difference}


def measure(args: Namespace) -> list[Row]:
    """A row a fit, with its mean square loss over all pairs beside the least one."""
    rng = np.random.default_rng(args.seed)
    y = np.arange(N_ROWS) % 2
    X = rng.standard_normal((N_ROWS, N_FEATURES)) + 0.35 * y[:, np.newaxis]
    rows = []
    for kind in watched(KINDS):
        features = KINDS[kind]
        began = time.perf_counter()
        every, below = LCBR(0.0, features=features), X[y == 0]
        for above in X[y == 1]:
            every.partial_fit_pairs(features(np.broadcast_to(above, below.shape), below))
        least = 2.0 * every.certificate_.primal
        ms = 1e3 * (time.perf_counter() - began)
        known = {"kind": kind, "draws": "all", "n_pairs": every.n_pairs_}
        rows.append({**known, "excess": 0.0, "ms": ms})
        for sampling, size, repetition in product(
            ("uniform", "matched"), SIZES, range(repetitions_of(args))
        ):
            own = LCBR(0.0, n_pairs=size, sampling=sampling, features=features)
            began = time.perf_counter()
            w = own.set_params(random_state=repetition).fit(X, y).coef_[0]
            ms = 1e3 * (time.perf_counter() - began)
            excess = 2.0 * every._sums.moments.value_and_gradient(w)[0] / least - 1.0
            known = {"kind": kind, "draws": sampling, "n_pairs": size}
            rows.append({**known, "excess": excess, "ms": ms})
    return rows


def report(rows: list[Row], args: Namespace) -> None:
    """The page."""
    lines = []
    for kind, width in (("bounded", 2 * N_FEATURES), ("difference", N_FEATURES)):
        (every,) = (row for row in rows if (row["kind"], row["draws"]) == (kind, "all"))
        for size in SIZES:
            found = [
                f"{100 * mean(rows, 'excess', kind=kind, draws=draws, n_pairs=size):.2f}%"
                for draws in ("uniform", "matched")
            ]
            ms = min(r["ms"] for r in rows if (r["kind"], r["n_pairs"]) == (kind, size))
            law = f"{100 * width / (size - width - 1):.2f}%"
            lines.append([kind, str(size), law, *found, f"{ms:.1f}", f"{every['ms'] / ms:.0f}"])
    write_page(
        args.out / "features.md",
        "# Features of pairs",
        FEATURES.format(rows=N_ROWS // 2, d=N_FEATURES, width=2 * N_FEATURES),
        table(["features", "pairs", "rule", "uniform", "matched", "ms", "all pairs"], lines),
        FEATURES_HOLD.format(rule=practical_pairs(0.01, 2 * N_FEATURES), rows=N_ROWS),
    )
