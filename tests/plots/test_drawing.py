"""How all pictures are drawn: on which axes, with which colours, and without matplotlib."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from support.programs import PATIENCE
from toprank import HeadRanker, RectPushApp, plots
from toprank.plots import (
    ConvergenceDisplay,
    CriticalDifferenceDisplay,
    GainsDisplay,
    LeaderboardDisplay,
    PathDisplay,
    ScoreDisplay,
    TopCurveDisplay,
    WhyDisplay,
)
from toprank.selection import RankerCV

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + RNG.normal(size=60) > 0.5
SEARCH = RankerCV(RectPushApp(), [1.0, 0.1], cv=3, rule="1se").fit(X, Y)
HEAD = HeadRanker(candidates="linear", capacity=10, cv=2, random_state=0).fit(X, Y)

#: Every picture of this data, drawn on given axes or on new ones.
DRAW: dict[type, Callable[[Any], Any]] = {
    TopCurveDisplay: lambda ax: TopCurveDisplay.from_estimator(SEARCH, X, Y, ax=ax),
    GainsDisplay: lambda ax: GainsDisplay.from_estimator(SEARCH, X, Y, ax=ax),
    ScoreDisplay: lambda ax: ScoreDisplay.from_estimator(SEARCH, X, Y, k=5, ax=ax),
    LeaderboardDisplay: lambda ax: LeaderboardDisplay.from_estimator(HEAD, ax=ax),
    PathDisplay: lambda ax: PathDisplay.from_estimator(SEARCH, ax=ax),
    ConvergenceDisplay: lambda ax: ConvergenceDisplay.from_estimator(SEARCH, ax=ax),
    CriticalDifferenceDisplay: lambda ax: CriticalDifferenceDisplay.from_figures(X, ax=ax),
    WhyDisplay: lambda ax: WhyDisplay.from_estimator(SEARCH, X, ax=ax),
}
each = pytest.mark.parametrize("display", DRAW, ids=lambda display: display.__name__)


def test_every_display_is_drawn_here() -> None:
    assert {display.__name__ for display in DRAW} == set(plots.__all__)


@each
def test_given_axes_are_drawn_on_and_pyplot_is_left_alone(display: type) -> None:
    settings = dict(mpl.rcParams)
    ax = Figure().subplots()
    drawn = DRAW[display](ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure
    assert ax.has_data()
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == settings
    again = Figure().subplots()
    assert drawn.plot(again) is drawn
    assert drawn.ax_ is again


@each
def test_without_axes_there_is_one_new_figure(display: type) -> None:
    drawn = DRAW[display](None)
    assert len(plt.get_fignums()) == 1
    assert drawn.figure_ is plt.gcf()
    drawn.figure_.canvas.draw()  # everything has its place: warnings are errors


@each
def test_axes_must_be_one_axes(display: type) -> None:
    with pytest.raises(ValueError, match="ax must be one matplotlib Axes, got ndarray"):
        DRAW[display](Figure().subplots(2))


@each
def test_nothing_is_written_outside_the_picture(display: type) -> None:
    drawn = DRAW[display](None)
    drawn.figure_.canvas.draw()
    frame, inside = drawn.figure_.bbox, drawn.ax_.get_tightbbox()
    assert frame.x0 - 1 <= inside.x0 < inside.x1 <= frame.x1 + 1
    assert frame.y0 - 1 <= inside.y0 < inside.y1 <= frame.y1 + 1


@pytest.mark.parametrize("display", [TopCurveDisplay, GainsDisplay])
def test_a_second_curve_looks_different_and_shares_the_lines(display: Any) -> None:
    first = display.from_predictions(Y, X[:, 0], name="one")
    second = display.from_predictions(Y, X[:, 1], name="two", ax=first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    assert first.line_.get_linestyle() != second.line_.get_linestyle()
    words = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert words[:2] == ["one", "two"]
    assert len(words) == len(set(words))
    given = display.from_predictions(Y, X[:, 0], color="red", linewidth=3)
    assert (given.line_.get_color(), given.line_.get_linewidth()) == ("red", 3)


@each
def test_without_matplotlib_a_sentence_says_what_to_install(
    display: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    words = rf"^{display.__name__} needs matplotlib: pip install matplotlib\.$"
    with pytest.raises(ImportError, match=words):
        DRAW[display](None)


def test_importing_the_displays_imports_no_matplotlib() -> None:
    program = "import sys, toprank.plots; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)
