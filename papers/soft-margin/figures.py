"""Figures 1 and 2; AUC by both rules for ties; seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cells import at
from common.figures import drawn
from common.rows import Row, chosen, values_of
from contenders import EPSILONS, LARGER, REDUCTION
from printed import TABLE_5, figure

TANGENTS = ("#c8553d", "#b08b2e")
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
                [seconds[column] / 5.0 for seconds in TABLE_5.values()],
                color=COLOURS[name],
                ls=":",
                marker="s",
                label=f"the paper's {name}, a fifth",
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("rows")
        axis.set_ylabel("CPU seconds")
        plot.legend(loc="outside right upper", frameon=False)


def draw_optimum(rows: Sequence[Row], path: Path) -> None:
    """Figure 1: the optimum of (7) over nu+, a panel a data set."""
    names = values_of(rows, "r")
    with drawn(path, (3.4 * len(names) + 0.4, 3.0), STYLE) as plot:
        axes = plot.subplots(1, len(names), squeeze=False)[0]
        for axis, r in zip(axes, names, strict=True):
            own = chosen(rows, r=r)
            _curve(axis, chosen(own, kind="curve"), color="#222222", label="optimum of (7)")
            rounds = chosen(own, kind="round")
            _curve(
                axis, rounds[:1], color=COLOURS[REDUCTION], marker="s", ls="", label="Corollary 4"
            )
            look = {"color": COLOURS[REDUCTION], "marker": "o", "ls": ""}
            _curve(axis, rounds[-1:], label="after the rounds", **look)
            (pairs,) = chosen(own, kind="LP-Pair")
            axis.axhline(pairs["gamma"], color=COLOURS["LP-Pair"], ls=":", label="LP-Pair")
            axis.set_title(f"r = {r}")
            axis.set_xlabel("nu+")
        axes[0].set_ylabel("gamma")
        handles, labels = axes[0].get_legend_handles_labels()
        plot.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def draw_rounds(rows: Sequence[Row], path: Path) -> None:
    """Figure 2: caps of the positives and their tangents; what (9) makes of them; the rounds."""
    positives = rows[0]["positives"]
    centers = values_of(chosen(rows, kind="(9)"), "c")
    with drawn(path, (9.0, 3.4), STYLE) as plot:
        caps, optimum = plot.subplots(1, 2)
        curve, rounds = chosen(rows, kind="curve"), chosen(rows, kind="round")
        nu = np.array([row["share"] for row in curve]) * positives
        caps.plot(nu, 1.0 / nu, color="#222222", label="1 / nu+")
        _curve(optimum, curve, color="#222222", label="optimum of (7)")
        for k, c in enumerate(centers, start=1):
            look = {"color": TANGENTS[k - 1], "ls": "--"}
            center = c * positives
            tangent = 2.0 / center - nu / center**2
            seen = tangent > 0
            caps.plot(nu[seen], tangent[seen], label=f"its tangent at nu{k}", **look)
            caps.plot([center], [1.0 / center], color=look["color"], marker="o")
            of_c = [row for row in rows if row.get("c") == c]
            _curve(optimum, of_c, label=f"optimum of (9), nu_c = nu{k}", **look)
        _curve(optimum, rounds, color="#222222", marker="o", ls="", label="rounds")
        for k, row in enumerate(rounds[:3], start=1):
            place = (row["share"] * positives, row["gamma"])
            optimum.annotate(f"nu{k}", place, (0, -11), textcoords="offset points", ha="center")
        # (9) far from its center is of no interest.
        most, least = max(row["gamma"] for row in curve), min(row["gamma"] for row in rounds)
        optimum.set_ylim(least - 0.15 * (most - least), most + 0.05 * (most - least))
        for axis, what in ((caps, "cap of a positive's weight"), (optimum, "gamma")):
            axis.set_xlabel("nu+")
            axis.set_ylabel(what)
            axis.legend(frameon=False)


def _curve(axis: Any, rows: Sequence[Row], **look: Any) -> None:
    x = [row["share"] * row["positives"] for row in rows]
    axis.plot(x, [row["gamma"] for row in rows], **look)
