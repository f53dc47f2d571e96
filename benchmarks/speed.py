"""Seconds and passes to a certified gap of 1e-4, beside LIBLINEAR on the same data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import tables
from data import NARROW, SOURCES, TEXT, DataSet, choose
from options import Options
from rivals import CONTENDERS, CONTROL, LOGISTIC, OURS, SVC, Maker
from timing import Timed, race
from toprank import TopPush
from toprank.datasets import make_gaussian_mixture

ALPHAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
#: A contender that has taken these seconds in a cell is not repeated again.
CELL_BUDGET = 20.0
#: Aims: the mean ratio over the sets of a family, and the largest of one set or of one cell.
AIMS: dict[str, dict[str, tuple[float, str, float | None]]] = {
    "TopPush": {NARROW: (0.5, "set", 1.5), TEXT: (0.7, "cell", 2.5)},
    "RectPush": {NARROW: (0.7, "set", None), TEXT: (0.5, "cell", None)},
}

INTRODUCTION = """\
Whole `fit` calls, the contenders taking turns within a repeat; medians. "ours / LR" is the ratio of
the medians: below 1, toprank takes less time. "checks" is a fit that only checks its input, the
floor for all. "fits" counts ours and those of LR and SVC: after 20 s in a cell one is not repeated.
"passes" is what the solver read, in products with the whole matrix; the final certificate and
threshold, two or three passes more, are in the seconds.
"gap" is the largest certified relative gap of the repeats; their primal values were computed again
by the benchmark. "short" counts the fits of ours, LR and SVC that warned that they had stopped
short of their tolerance. TopPush and RectPush ran in the same races, against the same fits of LR.
A "trivial" cell has its optimum at w = 0, which toprank has to prove."""


@dataclass(frozen=True)
class Cell:
    """One data set at one alpha, for one of our methods."""

    method: str
    name: str
    family: str
    description: str
    alpha: float
    timed: dict[str, Timed]

    @property
    def fitted(self) -> list[Any]:
        """Our fitted rankers."""
        return self.timed[self.method].fitted

    @property
    def ratio(self) -> float:
        """Our seconds over those of logistic regression."""
        return self.timed[self.method].median / self.timed[LOGISTIC].median

    @property
    def trivial(self) -> bool:
        """Whether the optimum is w = 0."""
        return bool(self.timed[self.method].fitted[-1].trivial_)

    @property
    def gap(self) -> float:
        """The largest certified relative gap of the repeats."""
        return max(
            float(ranker.certificate_.relative_gap) for ranker in self.timed[self.method].fitted
        )

    @property
    def passes(self) -> float:
        """The median of the passes over the data."""
        return median(
            float(ranker.history_["passes"][-1]) for ranker in self.timed[self.method].fitted
        )

    def row(self) -> list[str]:
        """The cell as a row of the long table."""
        solvers = ours, logistic, svc = [self.timed[name] for name in (self.method, LOGISTIC, SVC)]
        return [
            self.name,
            tables.exponent(self.alpha),
            ours.fitted[-1].solver_,
            "trivial" if self.trivial else "",
            f"{self.passes:.1f}",
            tables.seconds(ours.median),
            tables.seconds(logistic.median),
            tables.seconds(svc.median),
            tables.seconds(self.timed[CONTROL].median),
            tables.gap(self.gap),
            tables.ratio(self.ratio),
            "/".join(str(len(result.seconds)) for result in solvers),
            "/".join(str(result.stopped_short) for result in solvers),
        ]


def objective(X: Any, y: np.ndarray, ranker: Any) -> float:
    """The objective at a ranker's weights, of TopPush or RectPush by its class."""
    w, alpha = ranker.coef_[0], ranker.alpha
    s, penalty = X @ w, float(0.5 * alpha * (w @ w))
    b = -s[y == 0].max() if isinstance(ranker, TopPush) else ranker.intercept_[0]
    if b > -s[y == 0].max() + 1e-9 * np.abs(s).max():
        raise AssertionError("a training negative is above the threshold")
    hinges = np.maximum(1.0 - (s[y == 1] + b), 0.0)
    value = penalty + float(np.mean(hinges**2))
    if isinstance(ranker, TopPush):
        return value
    return value + float(np.mean(np.maximum(1.0 + s[y == 0] + b, 0.0) ** 2))


def check_primal(data: DataSet, ranker: Any) -> None:
    """Insist that the certificate's primal value is the objective at the weights."""
    value = objective(data.X, data.y, ranker)
    if not np.isclose(value, ranker.certificate_.primal, rtol=1e-9, atol=0):
        raise AssertionError(
            f"{data.name}, alpha {ranker.alpha:g}: the certificate says "
            f"{ranker.certificate_.primal!r}, the weights {value!r}"
        )


def enter(make: Maker, data: DataSet, alpha: float, repeat: int) -> tuple[Any, Any, Any]:
    """A contender's estimator for this repeat, and the data."""
    return make(alpha, len(data.y), repeat), data.X, data.y


def run_set(data: DataSet, options: Options) -> Iterator[Cell]:
    """Race at every alpha; a cell for each of our methods."""
    for alpha in ALPHAS:
        contenders = {name: partial(enter, make, data, alpha) for name, make in CONTENDERS.items()}
        timed = race(contenders, options.repeats, CELL_BUDGET)
        for method in OURS:
            for ranker in timed[method].fitted:
                check_primal(data, ranker)
            cell = Cell(method, data.name, data.family, data.description, alpha, timed)
            options.tell(f"speed: {method} {data.name} alpha {alpha:g}: / LR {cell.ratio:.2f}")
            yield cell


def set_table(by_set: dict[str, list[Cell]]) -> str:
    """A row a data set: the geometric mean over its alphas."""
    return tables.table(
        ["data", "family", "what", "ours / LR", "least", "most", "ours / SVC", "passes"],
        [
            [
                name,
                cells[0].family,
                cells[0].description,
                tables.ratio(tables.geometric_mean(cell.ratio for cell in cells)),
                tables.ratio(min(cell.ratio for cell in cells)),
                tables.ratio(max(cell.ratio for cell in cells)),
                tables.ratio(
                    tables.geometric_mean(
                        cell.timed[cell.method].median / cell.timed[SVC].median for cell in cells
                    )
                ),
                f"{min(cell.passes for cell in cells):.0f} to "
                f"{max(cell.passes for cell in cells):.0f}",
            ]
            for name, cells in by_set.items()
        ],
    )


def aim_table(by_set: dict[str, list[Cell]]) -> str:
    """The aims of each family beside what was reached."""
    rows = []
    method = next(iter(by_set.values()))[0].method
    for family, (mean_aim, what, most_aim) in AIMS[method].items():
        sets = [cells for cells in by_set.values() if cells[0].family == family]
        if not sets:
            continue
        cells = [cell for one in sets for cell in one]
        mean = tables.geometric_mean(cell.ratio for cell in cells)
        means = [tables.geometric_mean(cell.ratio for cell in one) for one in sets]
        most = max(means) if what == "set" else max(cell.ratio for cell in cells)
        known = sum(source.family == family for source in SOURCES)
        label = f"{family} ({len(sets)} of {known} sets)"
        rows.append(_aim(f"{label}: geometric mean", mean, mean_aim))
        if most_aim is None:
            rows.append([f"{label}: largest {what}", "", tables.ratio(most), ""])
        else:
            rows.append(_aim(f"{label}: no {what} above", most, most_aim))
        hard = [cell.ratio for cell in cells if not cell.trivial]
        if hard and len(hard) < len(cells):
            reached = tables.ratio(tables.geometric_mean(hard))
            rows.append([f"{label}: without {len(cells) - len(hard)} trivial cells", "", reached])
            rows[-1].append("")
    gaps = max(cell.gap for one in by_set.values() for cell in one)
    rows.append(["all sets: certified gap", "1e-04", tables.gap(gaps)])
    rows[-1].append(tables.verdict(gaps <= 1e-4))
    return tables.table(["ours / LR", "aim", "measured", ""], rows)


def _aim(label: str, value: float, aim: float) -> list[str]:
    return [label, f"{aim:g}", tables.ratio(value), tables.verdict(value <= aim)]


def warm_up() -> None:
    """Fit everybody once to a little data, so that nobody's first cell pays for loading code."""
    X, y = make_gaussian_mixture(200, 5, separation=5.0, random_state=0)
    for make in CONTENDERS.values():
        make(1e-1, len(y), 0).fit(X, y)


def report(options: Options) -> str:
    """Run every set and write the section."""
    warm_up()
    by_set: dict[str, list[Cell]] = {}
    for source in choose(options.names, quick=options.quick):
        data = source.load(options.folder)
        if data is None:
            options.tell(f"speed: {source.name} is not here")
        else:
            by_set[data.name] = list(run_set(data, options))
    if not by_set:
        return "## Speed\n\nNone of the data sets asked for is here."
    parts = ["## Speed", INTRODUCTION]
    for method in OURS:
        mine = {
            name: [cell for cell in cells if cell.method == method]
            for name, cells in by_set.items()
        }
        parts += [f"### {method}: aims", aim_table(mine)]
        parts += [f"### {method}: sets, geometric means over the alphas", set_table(mine)]
        parts += [f"### {method}: cells", cell_table(mine)]
    return "\n\n".join(parts)


def cell_table(by_set: dict[str, list[Cell]]) -> str:
    """A row a cell."""
    heads = ["data", "alpha", "solver", "", "passes", "ours s", "LR s", "SVC s", "checks s"]
    return tables.table(
        [*heads, "gap", "ours / LR", "fits", "short"],
        [cell.row() for cells in by_set.values() for cell in cells],
    )
