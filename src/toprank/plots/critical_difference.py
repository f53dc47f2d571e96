"""CriticalDifferenceDisplay: average ranks of methods, and which of them the data tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..selection import critical_difference, ranks
from .base import COLOURS, GREY, Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

#: How far below the axis the first bar of a group lies; the axis is at 0 and a row of text is 1.
_FIRST_BAR = 0.45
#: Between two bars.
_BAR_STEP = 0.35
#: Inches that a row of text takes.
_ROW = 0.28


class CriticalDifferenceDisplay(Display):
    """Demsar's diagram: methods at their average ranks, the best on the left.

    A bar joins methods whose ranks differ by no more than the critical difference of Nemenyi's
    test: the data do not tell them apart. Use `from_figures`.

    Parameters
    ----------
    average_ranks : ndarray of shape (n_methods,)
        The mean rank of every method; 1 is best.
    names : sequence of str
        What the methods are called.
    difference : float
        The critical difference.
    n_sets : int
        The data sets that the ranks are means over.
    level : float, default=0.05
        How likely any two methods may seem to differ that do not.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    groups_ : list of list of str
        The methods that each bar joins, the best first.
    stems_ : dict of str to matplotlib Line2D
        From the axis to the name of each method.
    bars_ : list of matplotlib Line2D
        One for each group.

    Examples
    --------
    >>> from toprank.plots import CriticalDifferenceDisplay
    >>> figures = [[0.9, 0.8, 0.7]] * 5 + [[0.8, 0.9, 0.7]] * 5
    >>> display = CriticalDifferenceDisplay.from_figures(figures, ["one", "two", "three"])
    >>> display.groups_
    [['one', 'two']]
    """

    def __init__(
        self,
        average_ranks: Array,
        names: Sequence[str],
        difference: float,
        n_sets: int,
        level: float = 0.05,
    ) -> None:
        self.average_ranks, self.names = np.asarray(average_ranks), list(names)
        self.difference, self.n_sets, self.level = difference, n_sets, level

    @classmethod
    def from_figures(
        cls,
        figures: Any,
        names: Sequence[str] | None = None,
        *,
        level: float = 0.05,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the diagram of a table.

        Parameters
        ----------
        figures : array-like or DataFrame of shape (n_sets, n_methods)
            A measure of every method on every set; larger is better. Negate a loss.
        names : sequence of str, optional
            What the methods are called; the columns of a DataFrame without it.
        level : float in (0, 1), default=0.05
            How likely any two methods may seem to differ that do not.
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        CriticalDifferenceDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        table = ranks(figures)
        n_sets, n_methods = table.shape
        if names is None:
            columns = getattr(figures, "columns", None)
            names = [f"method {j}" for j in range(n_methods)] if columns is None else columns
        called = [str(name) for name in names]
        if len(called) != n_methods:
            raise ValueError(f"names has {len(called)} names for {n_methods} methods.")
        if len(set(called)) < n_methods:
            raise ValueError("names must differ from one another.")
        difference = critical_difference(n_methods, n_sets, level)
        return cls(table.mean(axis=0), called, difference, n_sets, level).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        CriticalDifferenceDisplay
            The same object.
        """
        order = np.argsort(self.average_ranks, kind="stable")
        groups = _groups(self.average_ranks[order], self.difference)
        self.groups_ = [[self.names[order[i]] for i in range(a, b + 1)] for a, b in groups]
        half = (len(order) + 1) // 2
        first_name = _FIRST_BAR + _BAR_STEP * len(groups) + 0.35
        depth = first_name + half - 0.4
        ax = self._begin(ax, (7.0, _ROW * (depth + 2.6)))
        self._draw_axis(ax, depth)
        self.stems_ = {
            self.names[method]: self._draw_name(ax, place, int(method), half, first_name)
            for place, method in enumerate(order)
        }
        self.bars_: list[Line2D] = [
            ax.plot(
                [self.average_ranks[order[a]] - 0.03, self.average_ranks[order[b]] + 0.03],
                [_FIRST_BAR + _BAR_STEP * number] * 2,
                color=COLOURS[1],
                linewidth=4,
                solid_capstyle="round",
            )[0]
            for number, (a, b) in enumerate(groups)
        ]
        return self

    def _draw_axis(self, ax: Axes, depth: float) -> None:
        """The scale of ranks, and above it the critical difference."""
        last = len(self.names)
        ax.set(xlim=(1 - 0.02 * last, last + 0.02 * last), ylim=(depth, -1.9))
        ax.set_yticks([])
        ax.set_xticks(range(1, last + 1))
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.spines["top"].set_position(("data", 0.0))
        ax.xaxis.tick_top()
        ax.tick_params(axis="x", length=4, pad=1)
        end = 1 + self.difference
        ax.plot([1, end], [-1.45, -1.45], color=GREY, linewidth=1.5, marker="|", clip_on=False)
        words = (
            f"average rank, 1 is best; over {self.n_sets} sets ranks must differ by "
            f"{self.difference:.2f} ({100 * self.level:g} % level)"
        )
        ax.text(1, -1.65, words, ha="left", va="bottom", fontsize="small", color=GREY)

    def _draw_name(self, ax: Axes, place: int, method: int, half: int, first_name: float) -> Line2D:
        """A stem from the axis down, and aside to the name: the better half on the left."""
        rank, last = float(self.average_ranks[method]), len(self.names)
        left = place < half
        row = first_name + (place if left else last - 1 - place)
        edge = 1 - 0.01 * last if left else last + 0.01 * last
        stem = ax.plot([rank, rank, edge], [0, row, row], color="black", linewidth=0.9)[0]
        ax.annotate(
            f"{self.names[method]}  {rank:.2f}" if left else f"{rank:.2f}  {self.names[method]}",
            (edge, row),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
        )
        return stem


def _groups(ascending: Array, difference: float) -> list[tuple[int, int]]:
    """First and last place of every largest run of methods within the difference."""
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ascending):
        last = int(np.searchsorted(ascending, rank + difference, side="right")) - 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


__all__ = ["CriticalDifferenceDisplay"]
