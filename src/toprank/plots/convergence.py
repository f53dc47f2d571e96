"""ConvergenceDisplay: how fast fits close their gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..inputs.arguments import check_choice
from .base import GREY, MARKERS, Array, Display, last_step, legend, look_of, named, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

#: What a gap can be drawn against, and what the axis is called.
_AGAINST = {
    "passes": "Passes over the data",
    "seconds": "Seconds",
    "iteration": "Iterations",
}
#: A gap of a rounding error or less has no place on a logarithmic scale: it is drawn here.
_ROUNDING = 1e-16


class Run(NamedTuple):
    """The history of one fit."""

    spent: Array
    """Passes, seconds or iterations."""
    gaps: Array
    """The relative gap after them."""


class ConvergenceDisplay(Display):
    """The relative gap of fits against the work they took.

    The gap is the largest amount by which the objective can still fall, as a share of it. Use
    `from_estimator`.

    Parameters
    ----------
    runs : dict of str to Run
        What is drawn, by name: `spent` and `gaps`.
    against : {"passes", "seconds", "iteration"}
        What `spent` counts.
    tol : float, optional
        The gap at which the fits stop, where they agree on it.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    lines_ : dict of str to matplotlib Line2D
        The curve of every fit.
    tol_line_ : matplotlib Line2D or None
        The gap at which they stop.

    Examples
    --------
    >>> from toprank import RectPush
    >>> from toprank.datasets import load_mammography
    >>> from toprank.plots import ConvergenceDisplay
    >>> X, y = load_mammography(return_X_y=True)
    >>> display = ConvergenceDisplay.from_estimator(RectPush(alpha=0.01).fit(X, y))
    >>> display.ax_.get_yscale(), list(display.lines_)
    ('log', ['RectPush'])
    """

    def __init__(self, runs: dict[str, Run], against: str, tol: float | None = None) -> None:
        check_choice("against", against, tuple(_AGAINST))
        self.runs, self.against, self.tol = runs, against, tol

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        *,
        against: str = "passes",
        xscale: str = "linear",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the gaps in the histories of fitted rankers.

        Parameters
        ----------
        estimators : fitted ranker, list of them, or dict of them by name
            With `history_`; or pipelines that end in one.
        against : {"passes", "seconds", "iteration"}, default="passes"
            What the gap is drawn against.
        xscale : {"linear", "log"}, default="linear"
            "log" where some fits take many times the work of others.
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        ConvergenceDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        check_choice("against", against, tuple(_AGAINST))
        found = {name: last_step(fit) for name, fit in named(estimators).items()}
        runs = {name: _run(name, ranker, against) for name, ranker in found.items()}
        tols = {getattr(ranker, "tol", None) for ranker in found.values()}
        return cls(runs, against, tols.pop() if len(tols) == 1 else None).plot(ax, xscale=xscale)

    def plot(self, ax: Axes | None = None, *, xscale: str = "linear") -> Self:
        """Draw the gaps.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.
        xscale : {"linear", "log"}, default="linear"
            The scale of the work.

        Returns
        -------
        ConvergenceDisplay
            The same object.
        """
        check_choice("xscale", xscale, ("linear", "log"))
        ax = self._begin(ax)
        self.lines_: dict[str, Line2D] = {}
        for number, (name, run) in enumerate(self.runs.items()):
            self.lines_[name] = ax.plot(
                run.spent,
                np.maximum(run.gaps, _ROUNDING),
                marker=MARKERS[number % len(MARKERS)],
                markersize=4,
                linewidth=1.6,
                label=name,
                **look_of(number),
            )[0]
        self.tol_line_: Line2D | None = None
        if self.tol:
            self.tol_line_ = ax.axhline(
                self.tol, color=GREY, linestyle=":", label=f"stop at tol={self.tol:g}"
            )
        ax.set_yscale("log")
        ax.set(
            xscale=xscale,
            xlabel=_AGAINST[self.against],
            ylabel="Relative gap (logarithmic)",
        )
        tidy(ax)
        legend(ax)
        return self


def _run(name: str, ranker: Any, against: str) -> Run:
    """What a ranker's history says of its gap."""
    history = getattr(ranker, "history_", None)
    if history is None:
        raise ValueError(
            f"{name} has no history_: pass a ranker that is fitted, and that keeps one."
        )
    names = getattr(getattr(history, "dtype", None), "names", None) or ()
    if not {"relative_gap", against} <= set(names):
        raise ValueError(f"history_ of {name} has no column relative_gap or no column {against}.")
    known = np.isfinite(history["relative_gap"])
    if not known.any():
        raise ValueError(
            f"history_ of {name} knows no gap: the method has no bound to compare with."
        )
    rows = history[known]
    if not np.isfinite(rows[against]).all():
        raise ValueError(
            f"history_ of {name} knows no {against}: pickles keep none, and processes send each "
            'other pickles. Draw against="passes", or fit in this process.'
        )
    return Run(rows[against].astype(np.float64), rows["relative_gap"].copy())


__all__ = ["ConvergenceDisplay", "Run"]
