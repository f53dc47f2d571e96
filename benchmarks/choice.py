"""Which solver: Newton's method, dual descent, and what "auto" makes of the two."""

from __future__ import annotations

from functools import partial
from typing import Any

import tables
from data import OTHER, DataSet, Source, from_call, from_file
from options import Options
from timing import Timed, race
from toprank import TopPush
from toprank.datasets import make_sparse_text_like

ALPHAS = (1e-1, 1e-3, 1e-5)
SOLVERS = ("newton", "dual-descent", "auto")
LOSSES = ("squared_hinge", "logistic", "exponential")
#: Epochs after which dual descent is called too slow for a cell.
MOST_ITERATIONS = 1000
BUDGET = 10.0

#: Shapes on both sides of the border between the solvers.
BORDER = [
    *(Source(name, OTHER, from_file(name)) for name in ("a9a", "w8a", "protein-val", "sms-spam")),
    *(
        Source(
            f"text-{columns}",
            OTHER,
            from_call(make_sparse_text_like, 20_000, columns, words_per_row=50, random_state=0),
        )
        for columns in (500, 1000)
    ),
]

INTRODUCTION = f"""\
Seconds of whole fits to a gap of 1e-4, medians. `"auto"` chooses by shape and, between the two,
begins with dual descent and hands over by the work it predicts for itself: "ended by" says who
finished. "short" marks a fit that did not get there in {MOST_ITERATIONS} iterations. "auto / best"
is the time of `"auto"` over the faster of the two."""


def contender(data: DataSet, alpha: float, loss: str, solver: str, repeat: int) -> Any:
    """A fit of one solver."""
    ranker = TopPush(
        alpha,
        loss=loss,
        solver=solver,
        max_iter=MOST_ITERATIONS,
        n_threads=1,
        random_state=repeat,
    )
    return ranker, data.X, data.y


def row(data: DataSet, alpha: float, loss: str, timed: dict[str, Timed]) -> list[str]:
    """One line of the table."""
    both = [timed[name] for name in SOLVERS[:2]]
    reached = [one.median for one in both if not one.stopped_short]
    auto = timed["auto"]
    return [
        data.name,
        loss,
        tables.exponent(alpha),
        *(tables.seconds(one.median) + (" short" if one.stopped_short else "") for one in both),
        tables.seconds(auto.median),
        auto.fitted[-1].solver_,
        tables.ratio(auto.median / min(reached)) if reached else "",
        "trivial" if auto.fitted[-1].trivial_ else "",
    ]


def report(options: Options) -> str:
    """Race the solvers on every shape and write the section."""
    rows = []
    for source in BORDER:
        data = source.load(options.folder)
        if data is None:
            continue
        for loss in LOSSES if data.name in ("w8a", "sms-spam") else LOSSES[:1]:
            for alpha in ALPHAS:
                contenders = {name: partial(contender, data, alpha, loss, name) for name in SOLVERS}
                timed = race(contenders, min(options.repeats, 3), BUDGET)
                rows.append(row(data, alpha, loss, timed))
                options.tell(f"choice: {data.name} {loss} alpha {alpha:g}")
    heads = [
        "data",
        "loss",
        "alpha",
        "newton s",
        "dual-descent s",
        "auto s",
        "ended by",
        "auto / best",
        "",
    ]
    return f"## Which solver\n\n{INTRODUCTION}\n\n{tables.table(heads, rows)}"
