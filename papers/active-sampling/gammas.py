"""Table 5 and Figure 3: the share of pairs, gamma, in active sampling of pairs and points."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from common.pages import table, write_page
from common.rows import Row
from contenders import OPTIONS, TWICE, measure_all, names_in, per_pool, sets_of
from figures import draw_gammas
from printed import TABLE_5
from remarks import GAMMA
from significance import greater

STRATEGIES = ("Soft-Close", "Soft-Correct")
SHARES = tuple(round(0.1 * k, 1) for k in range(1, 11))
WEIGHTED = ("paper", "rate")
POOLS, FEWER_FOLDS = 3, 3
ARGUMENTS = OPTIONS


def measure(args: Namespace) -> list[Row]:
    """Every gamma, strategy and weighting, and all pairs and points to compare with."""
    jobs = [
        (
            {"method": method, "gamma": gamma, "weighting": weighting},
            method,
            {"gamma": gamma, "weighting": weighting, "times": TWICE},
            POOLS,
        )
        for method in STRATEGIES
        for weighting in WEIGHTED
        for gamma in ("uniform", *SHARES)
    ]
    jobs += [({"method": m, "gamma": "", "weighting": ""}, m, {}, 1) for m in ("ERankSVM", "WSVM")]
    return measure_all(args, jobs, sets_of(args), folds=FEWER_FOLDS)


def report(rows: Sequence[Row], args: Namespace) -> None:
    """Write gamma.md and figure3."""
    draw_gammas(rows, args.out)
    write_page(
        args.out / "gamma.md",
        "# Table 5 and Figure 3 made again",
        GAMMA,
        "![AUC against gamma](figure3.png)",
        "## Table 5: the best gamma",
        _best(rows),
        "## AUC by gamma",
        *(_aucs(rows, weighting) for weighting in WEIGHTED),
    )


def _best(rows: Sequence[Row]) -> str:
    lines = []
    for name in names_in(rows):
        every = per_pool(rows, set=name, method="ERankSVM")
        cells = [name]
        for k, method in enumerate(STRATEGIES):
            for weighting in WEIGHTED:
                found = _found(rows, name, method, weighting)
                best = max(round(one.mean(), 4) for one in found.values())
                named = [g for g, one in found.items() if round(one.mean(), 4) == best]
                sure = any(greater(found[g], every) for g in named)
                text = ", ".join(f"{g:g}" if isinstance(g, float) else str(g) for g in named)
                cells.append(f"**{text}**" if sure else text)
            printed = TABLE_5[name][k]
            cells.append(f"***{printed[:-1]}***" if printed.endswith("!") else f"*{printed}*")
        lines.append(cells)
    header = [f"{m.lower()}, {w}" for m in STRATEGIES for w in (*WEIGHTED, "*paper's table*")]
    note = "Bold: significantly above RankSVM on all pairs, by a one-sided t-test at 95 %."
    return table(["", *header], lines) + "\n\n" + note


def _aucs(rows: Sequence[Row], weighting: str) -> str:
    shares = ("uniform", *SHARES)
    lines = []
    for name in names_in(rows):
        for method in STRATEGIES:
            found = _found(rows, name, method, weighting)
            lines.append([f"{name}, {method.lower()}", *(f"{found[g].mean():.4f}" for g in shares)])
    return f"Weights: {weighting}\n\n" + table(["", *map(str, shares)], lines)


def _found(rows: Sequence[Row], name: str, method: str, weighting: str) -> dict[object, np.ndarray]:
    return {
        gamma: per_pool(rows, set=name, method=method, weighting=weighting, gamma=gamma)
        for gamma in ("uniform", *SHARES)
    }
