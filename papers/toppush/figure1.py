"""Figure 1: seconds of TopPush against the number of rows, for five lambdas."""

from __future__ import annotations

from argparse import Namespace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import toprank
from common.fits import fit_watched
from common.pages import table, write_page
from common.rows import Row, chosen, values_of
from common.tasks import Task, results_of
from figures import draw_seconds
from printed import FIGURE_1, SIZES
from remarks import FIGURE, FIGURE_HOLDS
from systems import BY_CHANGE, EXACT, RELATIVE
from toprank import TopPush
from toprank.datasets import make_sparse_text_like

#: Nonzeros of a row of url, on average.
WORDS = 115
ROWS = tuple(round(10.0 ** (power / 2)) for power in range(4, 11))
#: The most steps of the paper's method, which may need thousands.
STEPS = 2000
SOLVERS: dict[str, dict[str, Any]] = {
    EXACT: {},
    BY_CHANGE: {"solver": "paper", "stopping": "change", "max_iter": STEPS},
    RELATIVE: {"solver": "paper", "stopping": "relative", "max_iter": STEPS},
}
#: The most rows by the printed rule, whose steps grow with the rows.
MOST_BY_CHANGE = ROWS[-2]
#: Columns of the quick form: with all of url's even a small matrix takes a second to draw.
NARROW = 20_000


def measure(args: Namespace) -> list[Row]:
    """A row for a size, a lambda and a way of solving; each is kept."""
    tasks = []
    for n_rows in ROWS[:2] if args.quick else ROWS:
        for system, how in SOLVERS.items():
            if system == BY_CHANGE and n_rows > MOST_BY_CHANGE:
                continue
            for alpha in FIGURE_1:
                shape = (n_rows, NARROW if args.quick else SIZES["url"][2], args.seed)
                matters = {"shape": shape, "alpha": alpha, "system": system, "how": how}
                work = partial(seconds_of, shape, system, alpha)
                label = f"figure1 {system} {n_rows} {alpha:g}"
                tasks.append(Task(label, work, matters | {"toprank": toprank.__version__}))
    return results_of(tasks, args.out / "cache")


@lru_cache(maxsize=1)
def made_data(n_rows: int, n_columns: int, seed: int) -> tuple[Any, np.ndarray]:
    """Rows of the url set's shape: its width, its nonzeros a row, its share of positives."""
    m, n, _ = SIZES["url"]
    return make_sparse_text_like(
        n_rows, n_columns, words_per_row=WORDS, positive_fraction=m / (m + n), random_state=seed
    )


def seconds_of(shape: tuple[int, int, int], system: str, alpha: float) -> Row:
    """CPU seconds of a cold fit."""
    X, y = made_data(*shape)
    ranker = TopPush(alpha, n_threads=1, random_state=0, **SOLVERS[system])
    with threadpool_limits(1):
        fit = fit_watched(ranker, X, y)
    return {
        "system": system,
        "n": shape[0],
        "alpha": alpha,
        "seconds": fit.seconds,
        "steps": ranker.n_iter_,
        "gap": ranker.certificate_.relative_gap,
        "short": int(fit.short),
    }


def report(rows: list[Row], args: Namespace) -> None:
    """The page and the figure."""
    draw_seconds(rows, args.out / "figure1")
    write_page(
        args.out / "figure1.md",
        "# Figure 1 made again",
        FIGURE,
        _seconds(rows),
        "![Seconds against rows](figure1.svg)",
        "## How the seconds grow",
        _growth(rows),
        *([] if args.quick else ["## What holds", FIGURE_HOLDS]),
    )


def _seconds(rows: list[Row]) -> str:
    lines = []
    for n_rows in values_of(rows, "n"):
        for alpha, printed in FIGURE_1.items():
            cells = []
            for system in SOLVERS:
                own = chosen(rows, system=system, n=n_rows, alpha=alpha)
                cells += _cells(own[0]) if own else ["", "", ""]
            paper = f"*{printed[ROWS.index(n_rows)]:g}*"
            lines.append([str(n_rows), f"{alpha:g}", *cells, paper])
    header = [f"{s}: {what}" for s in SOLVERS for what in ("seconds", "steps", "gap")]
    return table(["rows", "lambda", *header, "*paper, url: seconds*"], lines)


def _cells(row: Row) -> list[str]:
    steps = f"{row['steps']}{' (cut off)' if row['short'] else ''}"
    return [f"{row['seconds']:.2g}", steps, f"{row['gap']:.0e}"]


def _growth(rows: list[Row]) -> str:
    """Slopes of log seconds against log rows: 1 is linear."""
    lines = []
    for alpha, printed in FIGURE_1.items():
        cells = []
        for system in SOLVERS:
            own = chosen(rows, system=system, alpha=alpha)
            curve = [row["n"] for row in own], [row["seconds"] for row in own]
            cells += [_slope(*curve), _slope(*(values[-3:] for values in curve))]
        cells += [_slope(ROWS, printed), _slope(ROWS[-3:], printed[-3:])]
        lines.append([f"{alpha:g}", *cells])
    header = [f"{s}{ends}" for s in (*SOLVERS, "*paper*") for ends in ("", ", last three sizes")]
    return table(["lambda", *header], lines)


def _slope(sizes: Any, seconds: Any) -> str:
    return f"{np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-4)), 1)[0]:.2f}"
