"""Figure 2: seconds of a fit against the number of rows, on skin."""

from __future__ import annotations

import time
import warnings
from argparse import Namespace

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from common.data import DATA, at_hand
from common.figures import drawn
from common.pages import table, write_page
from common.rows import Row, chosen, values_of
from common.tasks import watched
from study_data import SOURCES, load
from study_split import EARLY, EARLY_RECT, methods
from toprank.exceptions import TrivialSolutionWarning

ARGUMENTS = (DATA,)
SHARES = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
#: The paper does not say which lambda its figure has.
LAMBDA = 2.0**-10
SHOWN = {"TopPush": "#20639b", "RectPush": "#c8553d", EARLY: "#20639b", EARLY_RECT: "#c8553d"}

SAYS = """
Made by `python papers/rectpush/run.py growth`. CPU seconds of one cold fit on one thread at
lambda = 2^-10, on parts of skin drawn at random; the paper does not give its lambda. The early
stopped ones end by the rule of the TopPush authors' program. The paper's other set, kddcup98,
is not at hand.
"""

HOLDS = """
The paper: "for both methods, the scalability is empirically linear in the number of instances".
Here a fit to ten times the rows takes {exact}; by gradient steps {early}.
By gradient steps TopPush takes longer than RectPush on skin, as in the paper's Table 5.
"""


def measure(args: Namespace) -> list[Row]:
    """A row for a size and a method."""
    at_hand(["skin"], args.data, lambda name: SOURCES[name].file)
    X, y = load(args.data, "skin", args.out / "cache")
    order = np.random.default_rng(args.seed).permutation(len(y))
    rows: list[Row] = []
    for share in watched(SHARES[::5] if args.quick else SHARES, "{:.0%} of the rows".format):
        some = order[: round(share * len(y))]
        for name in SHOWN:
            ranker = methods(4.0, early=True)[name].make(LAMBDA, len(some))
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", TrivialSolutionWarning)
                began = time.process_time()
                ranker.fit(X[some], y[some])
                seconds = time.process_time() - began
            rows.append({"n": len(some), "method": name, "s": seconds, "steps": ranker.n_iter_})
    return rows


def report(rows: list[Row], args: Namespace) -> None:
    """The page and the figure."""
    with drawn(args.out / "figure2", (6.4, 3.6), {"lines.linewidth": 1.3}) as plot:
        axis = plot.subplots()
        for name, colour in SHOWN.items():
            own = chosen(rows, method=name)
            look = {"color": colour, "ls": "--" if "early" in name else "-", "marker": "o"}
            axis.plot([row["n"] for row in own], [row["s"] for row in own], label=name, **look)
        axis.set_xlabel("rows")
        axis.set_ylabel("CPU seconds")
        axis.set_xscale("log")
        axis.set_yscale("log")
        plot.legend(loc="outside right upper", frameon=False)
    lines = [
        [str(size), *(f"{row['s']:.3f} ({row['steps']})" for row in chosen(rows, n=size))]
        for size in values_of(rows, "n")
    ]
    exact, early = (
        " and ".join(f"{_growth(rows, name):.0f} times as long ({name})" for name in names)
        for names in (list(SHOWN)[:2], list(SHOWN)[2:])
    )
    write_page(
        args.out / "growth.md",
        "# Figure 2: seconds against rows",
        SAYS,
        "![Seconds against rows](figure2.svg)",
        table(["rows", *SHOWN], lines),
        "Seconds, and in brackets steps.",
        "## What holds",
        HOLDS.format(exact=exact, early=early),
    )


def _growth(rows: list[Row], name: str) -> float:
    first, *_, last = chosen(rows, method=name)
    return float(last["s"] / first["s"])
