"""Passes over the data: toprank's solvers beside the TopPush paper's own algorithm."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning

import tables
from data import DataSet, choose
from options import Options
from rivals import TOLERANCE
from toprank import TopPush
from toprank.exceptions import TrivialSolutionWarning

ALPHAS = (1e-1, 1e-3, 1e-5)
SETS = ["spambase", "german", "gaussian-5k", "text-20k", "sms-spam", "reuters-acq", "w8a"]
QUICK_SETS = ["spambase", "gaussian-5k", "text-5k"]
#: The paper's algorithm may take this many seconds and iterations in a cell.
SECONDS, QUICK_SECONDS, ITERATIONS = 15.0, 2.0, 100_000
#: Iterations whose time tells how many fit into the seconds; the first of them search for a step.
TRIAL = 60
AIM = 28.0

INTRODUCTION = """\
The paper's algorithm (accelerated gradient on the dual, as corrected in `solver="paper"`) to the
same certified relative gap of 1e-4, within {seconds:g} s a cell. Where it did not get there the
table says how far it came, and the ratio is of the passes it had made by then."""


@dataclass(frozen=True)
class Comparison:
    """One data set at one alpha."""

    name: str
    alpha: float
    ours: TopPush
    paper: TopPush

    @property
    def reached(self) -> bool:
        """Whether the paper's algorithm got to the gap."""
        return bool(self.paper.certificate_.holds(TOLERANCE))

    @property
    def ratio(self) -> float:
        """Its passes over ours."""
        return float(self.paper.history_["passes"][-1] / self.ours.history_["passes"][-1])

    def row(self) -> list[str]:
        """The comparison as a row of the table."""
        short = (
            f"not reached (gap {tables.gap(self.paper.certificate_.relative_gap)} "
            f"after {self.paper.n_iter_} iterations)"
        )
        return [
            self.name,
            tables.exponent(self.alpha),
            "trivial" if self.ours.trivial_ else "",
            f"{self.ours.history_['passes'][-1]:.1f}",
            f"{self.paper.history_['passes'][-1]:.0f}" if self.reached else short,
            ("" if self.reached else "above ") + f"{self.ratio:.0f}",
        ]


def compare(data: DataSet, alpha: float, limit: float) -> Comparison:
    """Fit both; the paper's algorithm for at most about `limit` seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        ours = TopPush(alpha, tol=TOLERANCE, n_threads=1, random_state=0).fit(data.X, data.y)
        paper = TopPush(alpha, tol=TOLERANCE, solver="paper", max_iter=TRIAL, n_threads=1)
        paper.fit(data.X, data.y)
        if not paper.certificate_.holds(TOLERANCE):
            ticks = paper.history_["seconds"][TRIAL // 2 :]
            pace = (ticks[-1] - ticks[0]) / (len(ticks) - 1)
            paper.set_params(max_iter=max(TRIAL, min(ITERATIONS, int(limit / pace))))
            paper.fit(data.X, data.y)
    return Comparison(data.name, alpha, ours, paper)


def report(options: Options) -> str:
    """Compare on every set and write the section."""
    limit = QUICK_SECONDS if options.quick else SECONDS
    names = options.names or (QUICK_SETS if options.quick else SETS)
    comparisons = []
    for source in choose(names, quick=False):
        data = source.load(options.folder)
        if data is None:
            continue
        for alpha in ALPHAS:
            comparisons.append(compare(data, alpha, limit))
            options.tell(f"paper: {source.name} alpha {alpha:g}: {comparisons[-1].ratio:.0f} times")
    least = min((one.ratio for one in comparisons if one.reached), default=None)
    measured = "never reached" if least is None else tables.ratio(least)
    outcome = "" if least is None else tables.verdict(least >= AIM)
    rows = [one.row() for one in comparisons]
    return "\n\n".join(
        [
            "## Passes beside the paper's algorithm",
            INTRODUCTION.format(seconds=limit),
            tables.table(
                ["aim", "at least", "measured", ""],
                [["fewest times more passes, where it got there", f"{AIM:g}", measured, outcome]],
            ),
            tables.table(
                ["data", "alpha", "", "our passes", "the paper's passes", "paper / ours"], rows
            ),
        ]
    )
