"""LogExpPush and LogSumExpPush beside scikit-learn's fastest logistic regression.

`python benchmarks/exponential_negatives.py --data FOLDER --out benchmarks/EXPONENTIAL_NEGATIVES.md`
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import tables
from few_passes import ALPHAS, TOLERANCE, cpu, fastest, load, peer
from machine import describe
from toprank import LogExpPush, LogSumExpPush

SETS = ("bank", "magic", "a9a")
OURS = {
    "LogExpPush, p = 4": lambda **common: LogExpPush(p=4, **common),
    "LogExpPush, p = 16": lambda **common: LogExpPush(p=16, **common),
    "LogSumExpPush": lambda **common: LogSumExpPush(**common),
}
HEADS = ["set", "alpha", "fastest of theirs", "theirs, ms", *OURS, "certified"]

INTRODUCTION = """\
Whole fits with all checks on rows of length one in float32, one thread, to a certified relative gap
of 1e-4, beside scikit-learn's `LogisticRegression` at C = 1 / (alpha N): the fastest of its solvers
at its loosest `tol`, by decades, that ends within the same gap of its own problem, which is another
one than ours. CPU milliseconds, the least of repeats that take turns; the columns of ours are our
time over theirs and, in brackets, our passes over the rows. "certified" is the number of fits
whose certificate holds."""


def cell(
    name: str, X: Any, y: Any, alpha: float, repeats: int
) -> tuple[list[str], dict[str, float]] | None:
    """One row of the table, and its ratios."""
    forms = {"f4": X.astype(np.float32), "f8": X.astype(np.float64)}
    theirs = fastest(forms, y, alpha)
    if theirs is None:
        return None
    solver, kind, tol = theirs
    common = {"alpha": alpha, "tol": TOLERANCE, "n_threads": 1, "random_state": 0}
    best, least, passes, held = np.inf, dict.fromkeys(OURS, np.inf), {}, {}
    for _ in range(repeats):
        best = min(best, cpu(lambda: peer(solver, alpha, len(y), tol).fit(forms[kind], y))[0])
        for who, make in OURS.items():
            seconds, fit = cpu(lambda make=make: make(**common).fit(forms["f4"], y))
            least[who] = min(least[who], seconds)
            passes[who] = float(fit.history_["passes"][-1])
            held[who] = fit.certificate_.holds(TOLERANCE)
    ratios = {who: seconds / best for who, seconds in least.items()}
    shown = [f"{tables.ratio(ratios[who])} ({passes[who]:.0f})" for who in OURS]
    row = [name, tables.exponent(alpha), f"{solver} {kind}", f"{1e3 * best:.1f}", *shown]
    return [*row, f"{sum(held.values())} of {len(held)}"], ratios


def main() -> None:
    """Race, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, ratios = [], []
    for name in asked.sets.split(","):
        found = load(name, asked.data)
        for alpha in ALPHAS if found is not None else ():
            told = cell(name, *found, alpha, asked.repeats)
            print(name, alpha, told and told[0], file=sys.stderr, flush=True)
            if told is not None:
                rows.append(told[0])
                ratios.append(told[1])
    lines = ["# Exponential negatives\n", describe(), "", INTRODUCTION, ""]
    lines += [tables.table(HEADS, rows), ""]
    for who in OURS:
        values = [one[who] for one in ratios]
        mean = tables.geometric_mean(values)
        lines.append(f"* {who}: geometric mean {mean:.2f}, worst {max(values):.2f}")
    asked.out.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
