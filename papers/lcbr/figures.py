"""Figures 1 and 2 of the paper, drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from common.figures import drawn
from common.rows import Row, chosen, mean, values_of

LOOKS = {
    "optimum": {"color": "#222222", "ls": (0, (1, 1))},
    "likelihood ratio": {"color": "#8a8a8a", "ls": (0, (1, 2))},
    "BBR": {"color": "#3c8d5a", "ls": (0, (5, 2))},
    "uniform": {"color": "#c8553d", "marker": "o", "label": "LCBR"},
    "matched": {"color": "#20639b", "marker": "s", "label": "LCBR, matched"},
}
COLOURS = ("#b08b2e", "#7b4fa3", "#4d8fac", "#8a8a8a", "#d08ca0")
STYLE = {
    "lines.linewidth": 1.4,
    "lines.markersize": 3,
    "axes.grid": True,
    "grid.color": "#ececec",
}


def draw_panels(fits: Sequence[Row], times: Sequence[Row], path: Path) -> None:
    """A column a mixture: risk, AUC, milliseconds."""
    with drawn(path, (9.6, 7.6), STYLE) as figure:
        for axes, (components, letters) in zip(
            figure.subplots(3, 3).T, ((1, "adg"), (2, "beh"), (3, "cfi")), strict=True
        ):
            own = chosen(fits, components=components)
            for axis, what, letter in zip(axes[:2], ("risk", "auc"), letters, strict=False):
                _curves(axis, own, what)
                axis.set_title(f"({letter})  K = {components}, sigma = {components + 1}")
            ms = chosen(times, components=components)
            axes[2].plot(*_line(ms, "ms", "LCBR"), **LOOKS["uniform"])
            for name, look in (("all pairs", LOOKS["optimum"]), ("BBR", LOOKS["BBR"])):
                axes[2].axhline(mean(ms, "ms", method=name), **{**look, "label": name})
            axes[2].set_yscale("log")
            axes[2].set_title(f"({letters[2]})")
            axes[2].set_xlabel("pairs")
            axes[2].legend(frameon=False, fontsize=8)
            for axis, label in zip(axes, ("phi-risk", "AUC", "ms, sums only"), strict=True):
                axis.set_ylabel(label if components == 1 else "")
        _legend(figure, axes[1])


def draw_skew(rows: Sequence[Row], path: Path) -> None:
    """AUC against the share of positives."""
    with drawn(path, (5.2, 3.4), STYLE) as figure:
        axis = figure.subplots()
        shares = sorted({row["share"] for row in rows})
        for name, look in (("optimum", "optimum"), ("BBR", "BBR"), ("LCBR", "uniform")):
            aucs = [mean(rows, "auc", share=share, method=name) for share in shares]
            axis.plot(shares, aucs, **{**LOOKS[look], "label": name})
        axis.set_title("(j)")
        axis.set_xlabel("share of positives")
        axis.set_ylabel("AUC")
        _legend(figure, axis)


def draw_sets(rows: Sequence[Row], path: Path) -> None:
    """A panel a data set: test AUC against the share of the training rows used."""
    names = values_of(rows, "set")
    with drawn(path, (9.6, 3.6), STYLE) as figure:
        for axis, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            own = chosen(rows, set=name)
            for method, look in _looks(own):
                axis.plot(*_line(own, "auc", method, "share"), **look)
            axis.set_ylabel("test AUC" if name == names[0] else "")
            axis.set_title(name)
            axis.set_xlabel("share of the training rows")
        _legend(figure, axis)


def _looks(rows: Sequence[Row]) -> Iterator[tuple[str, dict[str, object]]]:
    """The look of every method of a data set."""
    known = {"LCBR": "uniform", "LCBR matched": "matched", "BBR": "BBR", "ridge": "optimum"}
    colours = iter(COLOURS)
    for method in values_of(rows, "method"):
        look = LOOKS[known[method]] if method in known else {"color": next(colours)}
        yield method, {**look, "label": method}


def _curves(axis: Axes, rows: Sequence[Row], what: str) -> None:
    for name in ("uniform", "matched"):
        axis.plot(*_line(rows, what, name), **LOOKS[name])
    for name in ("optimum", "BBR", *(["likelihood ratio"] if what == "auc" else [])):
        axis.axhline(mean(rows, what, method=name), **{**LOOKS[name], "label": name})


def _line(
    rows: Sequence[Row], what: str, method: str, along: str = "n_pairs"
) -> tuple[list[float], list[float]]:
    places = sorted({row[along] for row in chosen(rows, method=method)})
    return places, [mean(rows, what, method=method, **{along: place}) for place in places]


def _legend(figure: Figure, labelled: Axes) -> None:
    handles, labels = labelled.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
