"""Figure 1, drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from common.figures import drawn
from common.rows import Row, chosen, values_of
from printed import FIGURE_1

COLOURS = dict(zip(FIGURE_1, ("#20639b", "#3c8d5a", "#8a4f9e", "#b08b2e", "#c8553d"), strict=True))
PRINTED = "paper, url"


def draw_seconds(rows: Sequence[Row], path: Path) -> None:
    """A panel for each way of solving and for the printed figure, a curve a lambda."""
    systems = values_of(rows, "system")
    sizes = values_of(rows, "n")
    with drawn(path, (9.6, 3.4), {"axes.grid": True, "grid.color": "#e6e6e6"}) as figure:
        axes = figure.subplots(1, len(systems) + 1, sharex=True)
        for axis, system in zip(axes, [*systems, PRINTED], strict=True):
            for alpha, printed in FIGURE_1.items():
                own = [row["seconds"] for row in chosen(rows, system=system, alpha=alpha)]
                y = list(printed[: len(sizes)]) if system == PRINTED else own  # of the least sizes
                look = {"color": COLOURS[alpha], "marker": "o", "markersize": 3}
                axis.loglog(sizes[: len(y)], y, label=f"lambda = {alpha:g}", linewidth=1.4, **look)
            middle = y[len(y) // 2] / sizes[len(y) // 2]
            axis.loglog(sizes, [middle * n for n in sizes], "k--", linewidth=0.9, label="linear")
            axis.minorticks_off()
            axis.set_title(system)
            axis.set_xlabel("rows")
        axes[0].set_ylabel("seconds")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=6, frameon=False)
