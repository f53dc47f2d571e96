"""A path of nine alphas, each fit begun where the last one ended, beside nine cold fits."""

from __future__ import annotations

import time
import warnings
from statistics import median
from typing import Any

import numpy as np

import tables
from data import DataSet, choose
from options import Options
from rivals import TOLERANCE
from toprank import RectPush, TopPush
from toprank.exceptions import TrivialSolutionWarning

ALPHAS = np.geomspace(1e-1, 1e-5, 9)
SETS = ["spambase", "a9a", "ijcnn1", "w8a", "letter", "gaussian-60k", "reuters-acq", "sms-spam"]
QUICK_SETS = ["spambase", "gaussian-5k", "text-5k"]
#: What a warm path may cost beside cold fits.
AIM = 0.6

INTRODUCTION = """\
Nine fits with `warm_start=True`, alpha falling from 1e-1 to 1e-5, beside nine fits that start from
nothing, taking turns; every fit to a certified gap of 1e-4. "time" is the median of the ratios of
the repeats, warm over cold; "passes" the ratio of what was read."""


def walk(make: type[Any], data: DataSet, *, warm: bool, seed: int) -> tuple[float, float]:
    """Seconds and passes of the nine fits."""
    ranker = make(tol=TOLERANCE, n_threads=1, random_state=seed, warm_start=warm)
    passes = 0.0
    began = time.perf_counter()
    for alpha in ALPHAS:
        ranker.set_params(alpha=alpha).fit(data.X, data.y)
        passes += float(ranker.history_["passes"][-1])
    return time.perf_counter() - began, passes


def row(make: type[Any], data: DataSet, repeats: int) -> tuple[list[str], float]:
    """The line of a method and a set, and its ratio of times."""
    times, passes = [], []
    for repeat in range(repeats):
        order = (True, False) if repeat % 2 else (False, True)
        seen = {warm: walk(make, data, warm=warm, seed=repeat) for warm in order}
        times.append(seen[True][0] / seen[False][0])
        passes.append(seen[True][1] / seen[False][1])
    ratio = median(times)
    return [
        data.name,
        make.__name__,
        tables.ratio(ratio),
        tables.ratio(min(times)),
        tables.ratio(max(times)),
        tables.ratio(median(passes)),
        tables.verdict(ratio <= AIM),
    ], ratio


def report(options: Options) -> str:
    """Walk every set both ways and write the section."""
    names = options.names or (QUICK_SETS if options.quick else SETS)
    rows, ratios = [], []
    for source in choose(names, quick=options.quick):
        data = source.load(options.folder)
        if data is None:
            options.tell(f"path: {source.name} is not here")
            continue
        for make in (RectPush, TopPush):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TrivialSolutionWarning)
                line, ratio = row(make, data, options.repeats)
            rows.append(line)
            ratios.append(ratio)
            options.tell(f"path: {data.name} {make.__name__}: warm / cold {ratio:.2f}")
    if not rows:
        return "## Warm paths\n\nNone of the data sets asked for is here."
    heads = ["data", "method", "time", "least", "most", "passes", f"aim {AIM:g}"]
    mean = f"Geometric mean of the times: {tables.ratio(tables.geometric_mean(ratios))}."
    return "\n\n".join(["## Warm paths", INTRODUCTION, tables.table(heads, rows), mean])
