"""Figures 1, 2 and 3 of the paper, drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from common.figures import drawn
from common.rows import Row
from contenders import names_in, per_pool
from printed import SAMPLED

COLOURS = {
    "Random": "#8a8a8a",
    "Soft-Close": "#20639b",
    "Soft-Correct": "#c8553d",
    "WSVM": "#3c8d5a",
    "ERankSVM": "#222222",
    "CRR": "#b08b2e",
}
LABELS = {"ERankSVM": "RankSVM, all pairs"}
DASHES = {"WSVM": (0, (5, 2)), "ERankSVM": (0, (1, 1)), "CRR": (0, (5, 1.5, 1, 1.5))}
STYLE = {
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "axes.titlesize": 9.5,
}
COLUMNS = 3
#: Points of a curve that may lie far below the rest, and out of sight.
SETTLED = 4


def draw_aucs(rows: Sequence[Row], beside: Sequence[Row], folder: Path) -> None:
    """Figure 1: a panel a set, a curve a strategy, a level for each method on the whole set."""
    with _panels(names_in(rows), 2.5, folder / "figure1") as (figure, panels):
        for name, axis in panels:
            for strategy in SAMPLED:
                x, y = _curve(rows, name, strategy, "auc")
                look = {"color": COLOURS[strategy], "marker": "o", "markersize": 2.6}
                axis.plot(x, y, linewidth=1.4, label=strategy, **look)
            levels = _levels(axis, beside, name)
            settled = [_curve(rows, name, strategy, "auc")[1][SETTLED:] for strategy in SAMPLED]
            _limits(axis, np.concatenate([*settled, levels]))
            axis.set_xticks([0, 2000, 4000, 6000, 8000])
            axis.set_xlabel("pairs chosen")
        _finish(figure, panels, "test AUC")


def draw_rejected(rows: Sequence[Row], folder: Path) -> None:
    """Figure 2: a panel a set, proposals rejected for each accepted one."""
    with _panels(names_in(rows), 2.3, folder / "figure2") as (figure, panels):
        for name, axis in panels:
            for strategy in SAMPLED[1:]:
                x, y = _curve(rows, name, strategy, "rejected")
                axis.plot(x[1:], y[1:], color=COLOURS[strategy], linewidth=1.5, label=strategy)
            axis.set_ylim(bottom=0)
            axis.set_xticks([0, 2000, 4000, 6000, 8000])
            axis.set_xlabel("pairs chosen")
        _finish(figure, panels, "rejected")


def draw_gammas(rows: Sequence[Row], folder: Path) -> None:
    """Figure 3: a panel a set, AUC against gamma."""
    shares = np.arange(1, 11) / 10
    with _panels(names_in(rows), 2.4, folder / "figure3") as (figure, panels):
        for name, axis in panels:
            shown = []
            for method in SAMPLED[1:]:
                for weighting, line in (("paper", "-"), ("rate", (0, (3, 1.5)))):
                    wanted = {"set": name, "method": method, "weighting": weighting}
                    means = [per_pool(rows, gamma=round(g, 1), **wanted).mean() for g in shares]
                    label = f"{method}, {'as printed' if weighting == 'paper' else 'rate'}"
                    axis.plot(shares, means, color=COLOURS[method], ls=line, lw=1.4, label=label)
                    shown.append(means)
            levels = _levels(axis, rows, name, ("WSVM", "ERankSVM"))
            _limits(axis, np.concatenate([*shown, levels]))
            axis.set_xticks([0.2, 0.4, 0.6, 0.8, 1.0])
            axis.set_xlabel("gamma")
        _finish(figure, panels, "test AUC")


@contextmanager
def _panels(
    names: Sequence[str], height: float, path: Path
) -> Iterator[tuple[Figure, list[tuple[str, Axes]]]]:
    """A figure with a panel a set."""
    n_rows = -(-len(names) // COLUMNS)
    with drawn(path, (9.6, height * n_rows + 0.5), STYLE) as figure:
        axes = figure.subplots(n_rows, COLUMNS, squeeze=False).ravel()
        for axis in axes[len(names) :]:
            axis.set_axis_off()
        for name, axis in zip(names, axes, strict=False):
            axis.set_title(name)
        yield figure, list(zip(names, axes, strict=False))


def _curve(rows: Sequence[Row], name: str, method: str, what: str) -> tuple[np.ndarray, np.ndarray]:
    own = [r for r in rows if (r["set"], r["method"]) == (name, method) and r[what] != ""]
    return np.array([r["n_pairs"] for r in own]), np.array([r[what] for r in own], dtype=float)


def _levels(
    axis: Axes, rows: Sequence[Row], name: str, methods: Sequence[str] = ("WSVM", "ERankSVM", "CRR")
) -> list[float]:
    found = []
    for method in methods:
        values = per_pool(rows, set=name, method=method)
        if len(values):
            found.append(float(values.mean()))
            axis.axhline(
                found[-1],
                color=COLOURS[method],
                linestyle=DASHES[method],
                linewidth=1.1,
                label=LABELS.get(method, method),
            )
    return found


def _limits(axis: Axes, shown: np.ndarray) -> None:
    """Room for what counts: the first rounds may lie far below."""
    least, most = float(shown.min()), float(shown.max())
    room = 0.08 * max(most - least, 1e-4)
    axis.set_ylim(least - room, most + room)


def _finish(figure: Figure, panels: Sequence[tuple[str, Axes]], label: str) -> None:
    for _, axis in panels[::COLUMNS]:
        axis.set_ylabel(label)
    handles, names = panels[0][1].get_legend_handles_labels()
    columns = len(names) if sum(map(len, names)) < 70 else 3
    figure.legend(handles, names, loc="outside upper center", ncols=columns, frameon=False)
