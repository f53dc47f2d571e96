"""Figures 1 and 2: AUC and rejected pairs while the chosen pool grows."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from contenders import contender, names_in, seed_of
from figures import draw_aucs, draw_rejected
from pages import Row, page, read_csv, table
from printed import SAMPLED
from remarks import CURVES
from sets import SOURCES, parts

POOLS = 3
SHOWN = (100, 500, 1000, 2000, 4000, 8000)


def measure(args: Namespace) -> list[Row]:
    """Test AUC and proposals of every round, means over folds and pools."""
    rows, began = [], time.monotonic()
    for name in args.sets:
        runs: dict[str, list[np.ndarray]] = {strategy: [] for strategy in SAMPLED}
        for part in parts(args.data, name, folds=args.folds):
            for strategy in SAMPLED:
                for pool in range(min(POOLS, args.pools or POOLS, SOURCES[name].pools)):
                    ranker = contender(strategy, seed_of(args.seed, part.fold, pool))
                    ranker.fit(part.X, part.y, eval_set=(part.X_test, part.y_test))
                    runs[strategy].append(ranker.history_)
        for strategy, histories in runs.items():
            rows += _means(name, strategy, histories)
        print(f"{name}: done after {time.monotonic() - began:.0f} s", flush=True)
    return rows


def _means(name: str, strategy: str, histories: Sequence[np.ndarray]) -> list[Row]:
    """A row a size of the pool; a run that ended early counts as long as it ran."""
    rows = []
    for size in np.unique(np.concatenate([history["n_pairs"] for history in histories])):
        places = [(history, np.flatnonzero(history["n_pairs"] == size)) for history in histories]
        here = [(history, int(at[0])) for history, at in places if len(at)]
        accepted = [np.diff(history["n_pairs"], prepend=0)[at] for history, at in here]
        proposed = [history["proposals"][at] for history, at in here]
        rows.append(
            {
                "set": name,
                "method": strategy,
                "n_pairs": int(size),
                "runs": len(here),
                "auc": float(np.mean([history["auc"][at] for history, at in here])),
                "rejected": float(np.sum(proposed) / np.sum(accepted) - 1.0),
            }
        )
    return rows


def report(rows: Sequence[Row], args: Namespace) -> None:
    """Write curves.md, figure1 and figure2."""
    beside = args.out / "compare.csv"
    draw_aucs(rows, read_csv(beside) if beside.exists() else [], args.out)
    draw_rejected(rows, args.out)
    text = page(
        "# Figures 1 and 2 made again",
        CURVES,
        "## Figure 1: test AUC against the size of the chosen pool",
        "![Test AUC against the size of the chosen pool](figure1.png)",
        _at(rows, "auc", "{:.4f}"),
        "## Figure 2: rejected pairs for each accepted one",
        "![Rejected pairs for each accepted one](figure2.png)",
        _at(rows, "rejected", "{:.1f}"),
    )
    (args.out / "curves.md").write_text(text, encoding="utf-8")


def _at(rows: Sequence[Row], what: str, form: str) -> str:
    lines = []
    for name in names_in(rows):
        for strategy in SAMPLED:
            own = {
                r["n_pairs"]: r[what] for r in rows if (r["set"], r["method"]) == (name, strategy)
            }
            cells = [form.format(own[size]) if size in own else "-" for size in SHOWN]
            lines.append([f"{name}, {strategy.lower()}", *cells])
    return table(["pairs", *map(str, SHOWN)], lines)
