"""RankSVM on all pairs beside LIBLINEAR's support vector machine on points."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import tables
from data import DataSet, choose
from options import Options
from rivals import hinge_svc
from timing import race
from toprank import RankSVM

#: The total weight of the loss in the active sampling paper, 800, and a tenth and ten times it.
ALPHAS = (1.25e-2, 1.25e-3, 1.25e-4)
TOLERANCE = 1e-3
CELL_BUDGET = 20.0
#: What RankSVM may take at the paper's weight, in times of the machine on points.
AIMS = {
    **dict.fromkeys(["letter", "ijcnn1", "shuttle", "bank"], 1.0),
    "covtype": 0.3,
    **dict.fromkeys(["a9a", "w8a", "reuters-acq", "news20-forsale"], 2.0),
}
SETS = [*AIMS, "farm-ads"]
QUICK_SETS = ["spambase", "german", "gaussian-5k"]
#: Where steps get short, and dual descent on the pairs near the margin ends the fit.
NEAR_SEPARABLE = ["farm-ads", "rcv1-small"]

INTRODUCTION = """\
RankSVM on all pairs, hinge and squared hinge, to a certified gap of 1e-3, beside
`LinearSVC(loss="hinge", class_weight="balanced", fit_intercept=False)`: the hinge on points, with
the same total weight 1 / alpha. LIBLINEAR stops at its own default, `tol=0.1`, and in the last
column at scikit-learn's, 1e-4. Medians of whole fits; ratios are our time over LIBLINEAR's at
`tol=0.1`. The aim is for the hinge at alpha = 1/800, the weight of the active sampling paper."""

CAVEATS = """\
* Different problems: RankSVM's hinge is on the m n pairs, LIBLINEAR's on the N rows. Different
  stopping rules: ours bounds the distance to the optimum, LIBLINEAR's the range of the dual's
  gradients. The ratio says what someone pays who ranks by all pairs where a LinearSVC was.
* LIBLINEAR is given what it likes: float64, C-ordered or CSR with sorted int32 indices, rows of
  length 1. Its times contain scikit-learn's checks and the copy into its own format; ours contain
  our checks, every gap check, the final certificate and the threshold.
* The machine is shared and noisy: compare within a row, never seconds of one run with another's."""

FINISHER = """\
Where the classes are all but separable the hinge rests on single pairs, and Newton's steps get
short. `solver="auto"` then lists the pairs near the margin and ends by dual coordinate descent on
them; "newton" goes on alone, at most 300 steps. Rows as they are in the files, not of length 1:
that makes it harder."""


def ours(data: DataSet, alpha: float, options: dict[str, Any], repeat: int) -> tuple[Any, Any, Any]:
    """RankSVM for this repeat, and the data."""
    ranker = RankSVM(alpha, **{"tol": TOLERANCE, **options}, n_threads=1, random_state=repeat)
    return ranker, data.X, data.y


def theirs(data: DataSet, alpha: float, tol: float, repeat: int) -> tuple[Any, Any, Any]:
    """LinearSVC for this repeat, and the data."""
    return hinge_svc(alpha, len(data.y), repeat, tol), data.X, data.y


def row_of(data: DataSet, alpha: float, repeats: int) -> list[str]:
    """One data set at one alpha."""
    contenders = {
        "hinge": partial(ours, data, alpha, {}),
        "square": partial(ours, data, alpha, {"loss": "squared_hinge"}),
        "points": partial(theirs, data, alpha, 0.1),
        "tight": partial(theirs, data, alpha, 1e-4),
    }
    timed = race(contenders, repeats, CELL_BUDGET)
    base = timed["points"].median
    ratio = timed["hinge"].median / base
    hinge = timed["hinge"].fitted
    aim = AIMS.get(data.name) if alpha == ALPHAS[1] else None
    return [
        data.name,
        tables.exponent(alpha) if alpha != ALPHAS[1] else "1/800",
        tables.seconds(timed["hinge"].median),
        tables.seconds(base),
        tables.ratio(ratio),
        tables.ratio(timed["square"].median / base),
        tables.ratio(timed["tight"].median / base),
        f"{median(fit.history_['passes'][-1] for fit in hinge):.0f}",
        tables.gap(max(fit.certificate_.relative_gap for fit in hinge)),
        str(timed["hinge"].stopped_short + timed["square"].stopped_short),
        f"{aim:g}: {tables.verdict(ratio <= aim)}" if aim else "",
    ]


def finisher_row(data: DataSet, alpha: float, tol: float, repeats: int) -> list[str]:
    """One near-separable data set: with the finisher, and without."""
    contenders = {
        "auto": partial(ours, data, alpha, {"tol": tol, "max_iter": 300}),
        "newton": partial(ours, data, alpha, {"tol": tol, "max_iter": 300, "solver": "newton"}),
    }
    timed = race(contenders, repeats, CELL_BUDGET)
    gaps = {
        name: max(fit.certificate_.relative_gap for fit in one.fitted)
        for name, one in timed.items()
    }
    return [
        data.name,
        tables.exponent(alpha),
        tables.exponent(tol),
        tables.seconds(timed["auto"].median),
        timed["auto"].fitted[0].solver_,
        tables.gap(gaps["auto"]),
        tables.seconds(timed["newton"].median),
        tables.gap(gaps["newton"]),
        tables.ratio(timed["auto"].median / timed["newton"].median),
    ]


def report(options: Options) -> str:
    """Race on every set and write the section."""
    rows, finished = [], []
    names = options.names or (QUICK_SETS if options.quick else SETS)
    for source in choose(list(dict.fromkeys([*names, *NEAR_SEPARABLE])), quick=options.quick):
        data = source.load(options.folder)
        if data is None:
            options.tell(f"pairs: {source.name} is not here")
            continue
        if source.name in names:
            rows += [row_of(data, alpha, options.repeats) for alpha in ALPHAS]
            options.tell(f"pairs: {data.name}, ours / LIBLINEAR {rows[-2][4]}")
        if source.name in NEAR_SEPARABLE and not options.quick:
            raw = source.read(options.folder)
            assert raw is not None
            data = replace(data, X=raw[0].astype(np.float64))
            for alpha, tol in ((ALPHAS[1], 1e-3), (ALPHAS[1], 1e-4), (ALPHAS[2], 1e-3)):
                finished.append(finisher_row(data, alpha, tol, min(options.repeats, 2)))
    if not rows:
        return "## All pairs\n\nNone of the data sets asked for is here."
    heads = ["data", "alpha", "hinge s", "LIBLINEAR s", "hinge / L", "square / L", "L 1e-4 / L"]
    parts = ["## All pairs", INTRODUCTION]
    parts.append(tables.table([*heads, "passes", "gap", "short", "aim"], rows))
    if finished:
        heads = ["data", "alpha", "tol", "auto s", "ended by", "gap", "newton s", "gap", "ratio"]
        parts += ["### The finisher", FINISHER, tables.table(heads, finished)]
    return "\n\n".join(parts)
