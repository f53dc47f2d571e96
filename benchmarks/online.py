"""The online methods beside the exact minimum of the pairwise squared loss, on a9a."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import tables
from data import from_file, scaled
from options import Options
from toprank import BBR, OAM, OPAUC, SPAM, AdaOAM
from toprank.metrics import auc

SEEDS = 5
ALPHAS = (1e-4, 1e-3, 1e-2)
SIZES = tuple(10.0**k for k in range(-7, 0))
#: Each with the passes that were tried: one, and those its paper used where we know of them.
CONTENDERS: dict[str, tuple[type, dict[str, tuple[Any, ...]], tuple[int, ...]]] = {
    "OAM, sequential": (OAM, {"C": SIZES, "update": ("sequential",)}, (1, 5)),
    "OAM, gradient": (OAM, {"C": SIZES, "update": ("gradient",)}, (1, 5)),
    "OPAUC": (OPAUC, {"alpha": ALPHAS, "learning_rate": ("auto", 1.0, 0.1, 0.01, 0.001)}, (1, 5)),
    "AdaOAM": (AdaOAM, {"alpha": ALPHAS, "learning_rate": (1.0, 0.1, 0.01)}, (1, 5)),
    "SPAM": (SPAM, {"alpha": ALPHAS, "learning_rate": (1.0, 10.0, 100.0, 1000.0)}, (1, 5, 15)),
}

#: In place of what holds of the other sections.
CAVEATS = """\
* One set, one split for tuning: the differences in the fourth digit say nothing.
* The machine is shared and noisy: compare seconds within the table only."""

INTRODUCTION = f"""\
a9a, rows of length 1, the official test part. Parameters are chosen by the AUC on a fifth of the
training rows, then the fit is made on all of them with {SEEDS} seeds. The first line is the exact
minimum of alpha/2 |w|^2 + 1/2 mean (1 - w.(x_i - x_j))^2, w = (Sigma + alpha I)^-1 mu, by a dense
solve: what OPAUC, AdaOAM and SPAM tend to. OAM has the hinge. OPAUC and AdaOAM read the data once
by their titles or abstracts; how often the authors of OAM did we do not know. 15 passes is what a
demonstration in a copy of SPAM's published programs is set to. Seconds are those of a whole fit and
the scoring of the test rows."""


def exact(X: Any, y: np.ndarray, alpha: float) -> np.ndarray:
    """The minimum that three of the methods tend to."""
    return np.asarray(BBR(alpha).fit(X, y).coef_[0])


def held_out(ranker: Any, parts: list[Any]) -> float:
    """The AUC on rows held out; zero if the steps overflow."""
    X, X_out, y, y_out = parts
    try:
        return float(ranker.fit(X, y).score(X_out, y_out))
    except ValueError:
        return 0.0


def report(options: Options) -> str:
    """Tune, fit, and write the section."""
    raw = [from_file(name)(options.folder) for name in ("a9a", "a9a_t")]
    if raw[0] is None or raw[1] is None:
        return "## The online methods\n\na9a and its test part are not here."
    (X, y), (X_new, y_new) = ((scaled(X), y) for X, y in raw)
    parts = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    found = {a: auc(parts[3], parts[1] @ exact(parts[0], parts[2], a)) for a in ALPHAS}
    best = max(ALPHAS, key=found.__getitem__)
    reached = auc(y_new, X_new @ exact(X, y, best))
    rows = [["exact minimum", "", f"alpha={best:g}", f"{reached:.4f}", "", ""]]
    for name, (estimator, grid, passes) in CONTENDERS.items():
        points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        for n_passes in passes:
            made = {"max_iter": n_passes, "n_threads": 1}
            scores = [held_out(estimator(**p, **made, random_state=0), parts) for p in points]
            chosen = points[int(np.argmax(scores))]
            began, test = time.perf_counter(), []
            for seed in range(SEEDS):
                ranker = estimator(**chosen, **made, random_state=seed).fit(X, y)
                test.append(ranker.score(X_new, y_new))
            spent = (time.perf_counter() - began) / SEEDS
            told = ", ".join(f"{k}={v}" for k, v in chosen.items() if k != "update")
            mean, spread = f"{np.mean(test):.4f}", f"{np.std(test, ddof=1):.4f}"
            rows.append([name, str(n_passes), told, mean, spread, tables.seconds(spent)])
            options.tell(f"online: {name}, {n_passes} passes")
    heads = ["method", "passes", "chosen", "test AUC", "its deviation over seeds", "s"]
    return "\n\n".join(["## The online methods", INTRODUCTION, tables.table(heads, rows)])
