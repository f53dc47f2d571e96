"""Figures 1 and 2: AUC and rejected pairs while the chosen pool grows."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import numpy as np

import contenders
from common.pages import table, write_page
from common.rows import Row, read_rows
from common.tasks import watched
from contenders import OPTIONS, TWICE, contender, most_pools, names_in, seed_of, sets_of
from figures import draw_aucs, draw_rejected
from printed import SAMPLED
from remarks import CURVES, REJECTED
from sets import parts

POOLS, FEWER_FOLDS = 2, 3
#: Sizes of the pool at which the AUC is measured, in hundreds.
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80)
SHOWN = (1, 5, 10, 20, 40, 80)
ARGUMENTS = OPTIONS


def measure(args: Namespace) -> list[Row]:
    """Test AUC at some sizes of the pool, rejections of every round; means over folds and pools."""
    rows = []
    for name in watched(sets_of(args)):
        whole = list(parts(args.data, name, folds=1 if args.quick else FEWER_FOLDS))
        for strategy in SAMPLED:
            aucs: dict[int, list[float]] = {size: [] for size in _sizes()}
            histories = []
            for part in whole:
                for pool in range(most_pools(args, name, POOLS)):
                    for size in aucs:
                        seed = seed_of(args.seed, part.fold, pool)
                        ranker = contender(strategy, seed, times=TWICE, budget=size)
                        ranker.fit(part.X, part.y)
                        aucs[size].append(ranker.score(part.X_test, part.y_test))
                    histories.append(ranker.rounds_)
            rows += _means(name, strategy, aucs, histories)
    return rows


def _sizes() -> list[int]:
    """Whole batches, the last of them the whole budget."""
    sizes = [size * contenders.BATCH for size in SIZES]
    return [*(size for size in sizes if size < contenders.BUDGET), contenders.BUDGET]


def _means(
    name: str, strategy: str, aucs: dict[int, list[float]], histories: Sequence[np.ndarray]
) -> list[Row]:
    """A row a round; a run that ended early counts as long as it ran."""
    rows = []
    for size in np.unique(np.concatenate([history["n_pairs"] for history in histories])):
        places = [(history, np.flatnonzero(history["n_pairs"] == size)) for history in histories]
        here = [(history, int(at[0])) for history, at in places if len(at)]
        accepted = [np.diff(history["n_pairs"], prepend=0)[at] for history, at in here]
        proposed = [history["proposals"][at] for history, at in here]
        # What plain rejection would have had to propose for each accepted pair.
        plain = [1.0 / history["acceptance"][at] for history, at in here]
        rows.append(
            {
                "set": name,
                "method": strategy,
                "n_pairs": int(size),
                "runs": len(here),
                "auc": float(np.mean(aucs[size])) if size in aucs else "",
                "rejected": float(np.mean(plain) - 1.0),
                "rejected_here": float(np.sum(proposed) / np.sum(accepted) - 1.0),
            }
        )
    return rows


def report(rows: Sequence[Row], args: Namespace) -> None:
    """Write curves.md, figure1 and figure2."""
    beside = read_rows(args.out / "compare.csv") if (args.out / "compare.csv").exists() else []
    # Levels of the stated total weight, from the folds that the curves are from.
    beside = [row for row in beside if row["times"] == 1 and row["fold"] < FEWER_FOLDS]
    draw_aucs(rows, beside, args.out)
    draw_rejected(rows, args.out)
    write_page(
        args.out / "curves.md",
        "# Figures 1 and 2 made again",
        CURVES,
        "## Figure 1: test AUC against the size of the chosen pool",
        "![Test AUC against the size of the chosen pool](figure1.png)",
        _at(rows, "auc", "{:.4f}"),
        "## Figure 2: rejected pairs for each accepted one",
        REJECTED,
        "![Rejected pairs for each accepted one](figure2.png)",
        _at(rows, "rejected", "{:.1f}"),
    )


def _at(rows: Sequence[Row], what: str, form: str) -> str:
    lines = []
    for name in names_in(rows):
        for strategy in SAMPLED:
            own = {
                r["n_pairs"]: r[what] for r in rows if (r["set"], r["method"]) == (name, strategy)
            }
            sizes = [size * contenders.BATCH for size in SHOWN]
            cells = [form.format(own[size]) if own.get(size, "") != "" else "-" for size in sizes]
            lines.append([f"{name}, {strategy.lower()}", *cells])
    return table(["pairs", *map(str, sizes)], lines)
