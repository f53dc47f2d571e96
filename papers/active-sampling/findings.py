"""Beside the tables: weights of the chosen pairs, a larger C on all pairs, ranges of columns."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from common.pages import table, write_page
from common.rows import Row
from contenders import OPTIONS, TWICE, measure_all, names_in, per_pool, sets_of
from printed import TABLE_2
from remarks import LARGER_C, RANGES, WEIGHTINGS
from sets import SOURCES

STRATEGIES = ("Soft-Close", "Soft-Correct")
#: As printed, corrected by the acceptance rate of the round, and not at all.
WEIGHTED = ("paper", "rate", "none")
FACTORS = (1, TWICE, 10, 100)
POOLS = 5
#: Ranges that columns may have been brought to.
COLUMNS = {"-1 to 1": (-1.0, 1.0), "0 to 1": (0.0, 1.0)}
EXACT = ("WSVM", "ERankSVM")
ARGUMENTS = OPTIONS


def measure(args: Namespace) -> list[Row]:
    """Both strategies with each weighting; all pairs with C times each factor; both ranges."""

    def said(method: str, weighting: str = "", factor: int = 1, columns: str = "own") -> Row:
        return {"method": method, "weighting": weighting, "factor": factor, "columns": columns}

    jobs = [
        (said(method, weighting), method, {"weighting": weighting}, POOLS)
        for method in STRATEGIES
        for weighting in WEIGHTED
    ]
    jobs += [
        (said("ERankSVM", factor=factor), "ERankSVM", {"times": factor}, 1) for factor in FACTORS
    ]
    names = sets_of(args)
    rows = measure_all(args, jobs, names)
    scaled = [name for name in names if SOURCES[name].columns is not None]
    for title, columns in COLUMNS.items() if scaled else ():
        jobs = [(said(method, columns=title), method, {}, 1) for method in EXACT]
        rows += measure_all(args, jobs, scaled, columns=columns)
    return rows


def report(rows: Sequence[Row], args: Namespace) -> None:
    """Write findings.md."""
    own = [row for row in rows if row["columns"] == "own"]
    write_page(
        args.out / "findings.md",
        "# Beside the tables",
        "## Weights of the chosen pairs",
        WEIGHTINGS,
        _weightings(own),
        "## A larger C on all pairs",
        LARGER_C,
        _factors(own),
        "## The range of the columns",
        RANGES,
        _ranges(rows),
    )


def _weightings(rows: Sequence[Row]) -> str:
    lines = []
    for name in names_in(rows):
        cells = []
        for method in STRATEGIES:
            found = [per_pool(rows, set=name, method=method, weighting=w) for w in WEIGHTED]
            means = [f"{one.mean():.4f}" for one in found]
            cells += [f"**{mean}**" if mean == max(means) else mean for mean in means]
        lines.append([name, str(len(found[0])), *cells])
    header = [f"{method.lower()}, {w}" for method in STRATEGIES for w in WEIGHTED]
    return table(["", "pools", *header], lines)


def _factors(rows: Sequence[Row]) -> str:
    lines = []
    for name in names_in(rows):
        means = [per_pool(rows, set=name, method="ERankSVM", factor=f).mean() for f in FACTORS]
        soft = per_pool(rows, set=name, method="Soft-Correct", weighting="paper").mean()
        gains = (soft - means[0], max(means) - means[0])
        cells = [f"{figure:.4f}" for figure in (*means, soft)]
        lines.append([name, *cells, *(f"{gain:+.4f}" for gain in gains)])
    header = [*(f"all pairs, C x {f}" for f in FACTORS), "soft-correct, C x 1"]
    return table(["", *header, "soft-correct gains", "a larger C gains"], lines)


def _ranges(rows: Sequence[Row]) -> str:
    lines = []
    for name in names_in([row for row in rows if row["columns"] in COLUMNS]):
        cells = []
        for method in EXACT:
            for title in COLUMNS:
                auc = per_pool(rows, set=name, method=method, columns=title).mean()
                cells.append(f"{auc:.4f}")
            cells.append(f"*{TABLE_2[name][method][0]:.4f}*")
        lines.append([name, *cells])
    header = [f"{method}, {title}" for method in EXACT for title in (*COLUMNS, "*paper*")]
    return table(["", *header], lines)
