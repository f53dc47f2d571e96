"""SVG pictures of the page, and the curves they show."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from ..metrics._ranking import Ranking
from ..plots import GainsDisplay, TopCurveDisplay
from ..plots.base import COLOURS, DASHES, GREY, Display
from ..selection import Comparison

#: Points of a curve.
_POINTS = 120
#: Pictures show the first k rows, and so many times as many.
_SHOWN = 5
#: Models whose curves are drawn: more cannot be told apart.
_MOST = 6


def curves_of(comparison: Comparison, head: dict[str, Any]) -> dict[str, Any]:
    """The curves of the best models; logistic regression is always one of them."""
    size = head["list_size"]
    ranked = sorted(comparison.models, key=lambda model: -comparison.interval(model)[0])
    chosen = ranked[:_MOST]
    if comparison.reference not in chosen:
        chosen = [*chosen[:-1], comparison.reference]
    k = np.unique(np.rint([*np.geomspace(1, size, _POINTS), head["k"]]))
    # Half of the points lie where the list is looked at.
    near = np.linspace(0.0, shown_share(head), _POINTS // 2)
    shares = np.unique([*near, head["share"], *np.linspace(near[-1], 1.0, _POINTS // 2)])
    models = {}
    for model in chosen:
        rows, standing = comparison.standing(model)
        weight = None if comparison.data.weight is None else comparison.data.weight[rows]
        ranking = Ranking.of(comparison.positive[rows], standing, weight, None)
        units = k / size * ranking.total
        found = np.interp(units, ranking.seen, ranking.positives_seen)
        gains = np.interp(shares * ranking.total, ranking.seen, ranking.positives_seen)
        models[model] = {
            "precision": _rounded(found / units),
            "gains": _rounded(gains / ranking.positives_seen[-1]),
        }
    return {"k": k.astype(int).tolist(), "share": _rounded(shares), "models": models}


def shown_share(head: dict[str, Any]) -> float:
    """Return the share of a list that pictures show: several times the share looked at."""
    return float(min(1.0, _SHOWN * head["share"]))


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 7) for value in values]


#: Stands for the colour of text until the page says which that is.
_INK = "#0a0b0c"
#: Of grids, as `toprank.plots` draws them.
_GRID = "#e6e6e6"
#: What the page calls the colours: they differ in the light and in the dark.
_VARIABLES = {
    _INK: "currentColor",
    _GRID: "var(--line)",
    GREY: "var(--quiet)",
    **{colour.lower(): f"var(--c{number})" for number, colour in enumerate(COLOURS)},
}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, sharp, and read aloud
    "text.parse_math": False,  # a name may hold dollars
    "font.size": 11.0,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}


def precision_picture(report: dict[str, Any]) -> str:
    """Precision of the first k against k, for every model."""
    curves, expect = report["curves"], report["answer"]["expect"]
    figure, ax = _begin()
    k, last = np.array(curves["k"]), _last(expect)
    for own in curves["models"].values():
        TopCurveDisplay(k, np.array(own["precision"]), expect["base_rate"]).plot(ax)
    top = max(max(own["precision"]) for own in curves["models"].values())
    ax.set_ylim(0, min(1.03, 1.15 * max(top, expect["base_rate"])))
    ax.set_xlim(1, last)
    _mark(ax, expect["k"], f"k = {expect['k']:,}")
    ax.set(xlabel="Rows from the top, k (logarithmic)", ylabel="Share of positives")
    return _svg(figure, "precision")


def gains_picture(report: dict[str, Any]) -> str:
    """Share of the positives found against the rows read, for every model."""
    curves, expect = report["curves"], report["answer"]["expect"]
    figure, ax = _begin()
    shares, shown = np.array(curves["share"]), shown_share(expect)
    for own in curves["models"].values():
        GainsDisplay(shares, np.array(own["gains"]), expect["base_rate"]).plot(ax)
    ax.set_xlim(0, shown)
    _mark(ax, expect["share"], f"k = {expect['k']:,}")
    ax.set(xlabel="Share of the list", ylabel="Positives found")
    return _svg(figure, "gains")


def ahead_picture(report: dict[str, Any], reference: str) -> str:
    """How many more of the first k are positive than by the reference, for every model."""
    curves, expect = report["curves"], report["answer"]["expect"]
    figure, ax = _begin()
    k = np.array(curves["k"], dtype=float)
    shown = k <= _last(expect)
    least = np.array(curves["models"][reference]["precision"])
    for number, own in enumerate(curves["models"].values()):
        more = k * (np.array(own["precision"]) - least)
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        ax.plot(k[shown], more[shown], color=colour, linestyle=dash, linewidth=1.8)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, -1.0), max(high, 1.0))
    ax.set_xlim(0, k[shown][-1])
    _mark(ax, expect["k"], f"k = {expect['k']:,}")
    ax.grid(True, axis="y", color=_GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set(xlabel="Rows from the top, k", ylabel="More hits")
    return _svg(figure, "ahead")


def _last(expect: dict[str, Any]) -> int:
    """The last row of the list that pictures show."""
    return max(2, round(shown_share(expect) * int(expect["list_size"])))


def _mark(ax: Any, where: float, told: str) -> None:
    """A dotted upright line at the rows that are looked at."""
    ax.axvline(where, color=_INK, linewidth=1.0, linestyle=(0, (1, 2)))
    ax.annotate(
        told,
        (where, ax.get_ylim()[1]),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        color=_INK,
        annotation_clip=False,
    )


def folds_picture(report: dict[str, Any]) -> str:
    """The first metric of every model: each fold, the mean, and its interval."""
    metric = report["metrics"][0]
    models = report["models"]
    figure, ax = _begin(height=max(2.0, 0.9 + 0.42 * len(models)))
    for place, model in enumerate(models):
        own = model["metrics"][metric["name"]]
        ax.plot([own["low"], own["high"]], [place, place], color=_INK, linewidth=1.2)
        ax.plot(own["folds"], [place] * len(own["folds"]), "o", color=GREY, markersize=4, alpha=0.7)
        ax.plot([own["mean"]], [place], "D", color=COLOURS[0], markersize=7)
    ax.set_yticks(range(len(models)), [model["title"] for model in models])
    ax.set_ylim(len(models) - 0.4, -0.6)
    ax.set_xlabel(metric["title"])
    ax.grid(True, axis="x", color=_GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return _svg(figure, "folds")


def _begin(height: float = 3.5) -> tuple[Any, Any]:
    Display._need_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_SETTINGS):
        figure = Figure(figsize=(5.2, height), layout="constrained")
        return figure, figure.subplots()


def _svg(figure: Any, name: str) -> str:
    """A figure as an element of the page: no size, no ids of its own but those it needs."""
    from matplotlib import rc_context

    for ax in figure.axes:
        if (legend := ax.get_legend()) is not None:
            legend.remove()  # the page has one for all pictures
    buffer = io.StringIO()
    with rc_context(_SETTINGS | {"svg.hashsalt": name}):
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    for pattern in (r"<!--.*?-->", r"<metadata>.*?</metadata>", r"<style.*?</style>"):
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    text = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1">', text, count=1)
    used = set(re.findall(r"[(\"]#([\w-]+)[)\"]", text))
    text = re.sub(r' id="([\w.-]+)"', lambda own: own[0] if own[1] in used else "", text)
    text = re.sub(r'( id="|[("]#)(?=[\w-]+[)"])', rf"\g<1>{name}-", text)
    text = text.replace("xlink:href", "href")
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(r"#[0-9a-fA-F]{6}\b", lambda own: _VARIABLES.get(own[0].lower(), own[0]), text)
    text = re.sub(r"\n\s*", "\n", text)
    return text.strip()


__all__ = [
    "ahead_picture",
    "curves_of",
    "folds_picture",
    "gains_picture",
    "precision_picture",
    "shown_share",
]
