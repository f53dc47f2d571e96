"""Figure 1 of the paper, drawn again."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from common.figures import drawn
from experiments import Array

COLOURS = {
    "TopPush": "#c8553d",
    "RectPush": "#20639b",
    "TopPush, SLSQP": "#c8553d",
    "eta itself": "#777777",
}
LABELS = {
    "TopPush, SLSQP": "TopPush by SLSQP, stopped short",
    "eta itself": "the best there is (score eta)",
}
DASHES = {"TopPush, SLSQP": (0, (2, 1.5)), "eta itself": (0, (5, 2))}
STYLE = {
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "axes.titlesize": 9.5,
}
#: A title, a label, and for every curve its means and their standard errors.
Panel = tuple[str, str, dict[str, tuple[Array, Array]]]


def draw(
    path: Path, population: list[Panel], sample: list[Panel], widths: Array, sizes: Array
) -> None:
    """Three panels over W, two over the sample size."""
    with drawn(path, (9.6, 5.6), STYLE) as figure:
        axes = figure.subplots(2, 3)
        for axis, panel in zip(axes[0], population, strict=True):
            _panel(axis, panel, widths)
            axis.set_xscale("log", base=4)
            axis.set_xticks(widths)
            axis.set_xlabel("W, the length of $w^*$")
        for axis, panel in zip(axes[1, :2], sample, strict=True):
            _panel(axis, panel, sizes)
            axis.set_xscale("log", base=2)
            axis.set_xticks(sizes[::2])
            axis.set_xlabel("N, rows of the sample (W = 1)")
        # Linear below 0.02: TopPush's excess is zero, RectPush's settles not far above it.
        axes[1, 1].set_yscale("symlog", linthresh=0.02, linscale=0.5)
        axes[1, 1].set_ylim(bottom=-0.004)
        axes[1, 1].set_yticks([0.0, 0.02, 0.1, 0.5, 1.0], ["0", "0.02", "0.1", "0.5", "1"])
        _legend(axes[1, 2], [*population, *sample])


def _panel(axis: Axes, panel: Panel, x: Array) -> None:
    title, label, curves = panel
    for name, (mean, error) in curves.items():
        plain = name not in DASHES
        axis.plot(
            x,
            mean,
            color=COLOURS[name],
            linestyle=DASHES.get(name, "-"),
            marker="o" if plain else None,
            markersize=3.5,
            linewidth=1.6 if plain else 1.2,
        )
        axis.fill_between(x, mean - error, mean + error, color=COLOURS[name], alpha=0.18, lw=0)
    axis.set_title(title)
    axis.set_ylabel(label)


def _legend(axis: Axes, panels: list[Panel]) -> None:
    axis.set_axis_off()
    names = dict.fromkeys(name for _, _, curves in panels for name in curves)
    for name in names:
        axis.plot(
            [],
            [],
            color=COLOURS[name],
            linestyle=DASHES.get(name, "-"),
            label=LABELS.get(name, name),
        )
    axis.legend(loc="center left", frameon=False, title="Mean; the band is one standard error")
