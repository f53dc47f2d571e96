"""AUC by both rules for ties, and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cells import at
from common.figures import drawn
from common.rows import Row, chosen
from contenders import EPSILONS, LARGER, REDUCTION
from printed import TABLE_5, figure

COLOURS = {"LP-Pair": "#20639b", REDUCTION: "#c8553d"}
STYLE = {"lines.linewidth": 1.3, "lines.markersize": 3}


def draw_ties(cells: Sequence[Any], path: Path) -> None:
    """A panel a data set: solid lines count ties one half, dashed ones as in order."""
    epsilons = [*EPSILONS, LARGER]
    n_columns = min(3, len(cells))
    with drawn(path, (9.6, 2.5 * -(-len(cells) // n_columns)), STYLE) as plot:
        grid = plot.subplots(-(-len(cells) // n_columns), n_columns, squeeze=False, sharey=True)
        for axis, cell in zip(grid.flat, cells, strict=False):
            for method, theirs in (("LP-Pair", "LP-Pair"), (REDUCTION, "ours")):
                look = {"color": COLOURS[method], "marker": "o"}
                for rule, dashes in (("half", "-"), ("one", "--")):
                    aucs = [at(cell.rows, rule, method, f"{e:g}") for e in epsilons]
                    axis.plot(epsilons, aucs, ls=dashes, label=f"{method}, ties {rule}", **look)
                axis.axhline(
                    figure(cell.line, theirs),
                    color=COLOURS[method],
                    lw=0.8,
                    ls=":",
                    label=f"{method}, printed",
                )
            axis.axhline(
                at(cell.rows, "half", "label", ""), color="#8a8a8a", lw=0.8, label="true label"
            )
            axis.set_title(f"noise {cell.noise:.0%}, r = {cell.r}")
            axis.set_xlabel("epsilon")
        grid[0, 0].set_ylabel("test AUC")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        plot.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def draw_times(rows: Sequence[Row], path: Path) -> None:
    """Seconds against rows, both on a logarithmic scale."""
    looks = {"LP-Pair 1e-6": ("#20639b", "-"), "reduction, corollary": ("#c8553d", "-")}
    looks |= {"reduction, paper": ("#d08ca0", "-"), "reduction, search": ("#b08b2e", "-")}
    looks |= {"HiGHS, all pairs": ("#20639b", "--"), "HiGHS, (7)": ("#c8553d", "--")}
    with drawn(path, (6.4, 4.2), STYLE) as plot:
        axis = plot.subplots()
        for method, (colour, dashes) in looks.items():
            own = chosen(rows, method=method)
            axis.plot(
                [row["m"] for row in own],
                [row["s"] for row in own],
                color=colour,
                ls=dashes,
                marker="o",
                label=method,
            )
        for column, name in enumerate(("LP-Pair", REDUCTION)):
            axis.plot(
                list(TABLE_5),
                [seconds[column] for seconds in TABLE_5.values()],
                color=COLOURS[name],
                ls=":",
                marker="s",
                label=f"the paper's {name}",
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("rows")
        axis.set_ylabel("CPU seconds")
        plot.legend(loc="outside right upper", frameon=False)
