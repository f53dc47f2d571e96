"""Draw case-control-bins.png: bin edges of a skewed column with 1 % positives.

    python docs/pictures/case_control_bins.py

The amounts are simulated. Both classes are lognormal, and the positives lie to the right.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot
from scipy.stats import gaussian_kde

from toprank.features import CaseControlBins

PICTURE = Path(__file__).with_name("case-control-bins.png")
ROWS, POSITIVES = 100_000, 1_000
#: Medians of the amounts, and standard deviations of their logarithms.
NEGATIVE, POSITIVE = (40.0, 0.9), (420.0, 0.35)
LEFT, RIGHT = 2.0, 3000.0
#: Blue and orange of Okabe and Ito, which colour-blind readers can tell apart.
BLUE, ORANGE, DARK = "#0072B2", "#D55E00", "#404040"


def amounts() -> tuple[np.ndarray, np.ndarray]:
    """Return amounts and labels."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [ROWS - POSITIVES, POSITIVES])
    median, spread = (np.where(y == 1, *pair) for pair in zip(POSITIVE, NEGATIVE, strict=True))
    return median * np.exp(spread * rng.normal(size=ROWS)), y


def draw_density(ax: Any, values: np.ndarray, colour: str, text: str, at: float) -> None:
    """Draw the density of a class on the scale of logarithms, with its name above it."""
    grid = np.geomspace(LEFT, RIGHT, 400)
    density = gaussian_kde(np.log(values))(np.log(grid))
    ax.fill_between(grid, density, color=colour, alpha=0.25, linewidth=0)
    ax.plot(grid, density, color=colour, linewidth=1.8)
    ax.text(at, 1.05 * density.max(), text, color=colour, ha="center", va="bottom", fontsize=10)


def draw_edges(ax: Any, edges: np.ndarray, inside: tuple[float, float], name: str) -> None:
    """Draw edges as ticks, and count those among the positives."""
    count = int(np.sum((edges > inside[0]) & (edges < inside[1])))
    ax.vlines(edges, 0.0, 1.0, color=DARK, linewidth=0.6)
    ax.set_ylim(0.0, 1.0)
    ax.set_title(name, loc="left", fontsize=10, color=DARK, pad=4)
    ax.set_title(
        f"{count} of {len(edges)} edges in the shaded range",
        loc="right",
        fontsize=10,
        color=ORANGE,
        pad=4,
    )


def main() -> None:
    """Draw the picture."""
    values, y = amounts()
    positives = values[y == 1]
    inside = tuple(np.quantile(positives, [0.05, 0.95]))
    quantiles = np.unique(np.quantile(values, np.arange(1, 255) / 255))
    case_control = CaseControlBins(120).fit(values[:, None], y).edges_[0]
    figure, (top, middle, bottom) = pyplot.subplots(
        3, 1, figsize=(7.0, 4.4), sharex=True, height_ratios=(5, 1, 1), layout="constrained"
    )
    draw_density(top, values[y == 0], BLUE, f"{ROWS - POSITIVES:,} negatives", NEGATIVE[0])
    draw_density(top, positives, ORANGE, f"{POSITIVES:,} positives", POSITIVE[0])
    top.set_ylabel("density of each class")
    top.set_ylim(0.0, 1.2 * top.dataLim.ymax)
    draw_edges(middle, quantiles, inside, "255 quantile bins of all rows")
    draw_edges(bottom, case_control, inside, "Case-control bins: 120 quantiles of each class")
    for ax in (top, middle, bottom):
        ax.axvspan(*inside, color=ORANGE, alpha=0.10, linewidth=0)
        ax.set_yticks([])
        ax.spines[["top", "right", "left"]].set_visible(False)
    bottom.set_xscale("log")
    bottom.set_xlim(LEFT, RIGHT)
    bottom.set_xticks([3, 10, 30, 100, 300, 1000, 3000])
    bottom.xaxis.set_major_formatter("{x:,.0f}")
    bottom.minorticks_off()
    top.tick_params(bottom=False)
    middle.tick_params(bottom=False)
    bottom.set_xlabel("amount (logarithmic scale); shaded: the middle 90 % of the positives")
    figure.savefig(PICTURE, dpi=200)


if __name__ == "__main__":
    main()
