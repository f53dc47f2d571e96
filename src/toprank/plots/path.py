"""PathDisplay: the measure that chose alpha, along all alphas and for all candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .base import (
    COLOURS,
    GREY,
    MARKERS,
    Array,
    Display,
    last_step,
    legend,
    look_of,
    named,
    tidy,
    words_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer

#: Points of print between the error bars of two candidates, which share their alphas.
_APART = 3.0
#: Points that the bars of all candidates at one alpha may take.
_WIDTH = 15.0
#: Marks a choice, and leaves the point in it to be seen.
_RING: dict[str, Any] = {
    "marker": "o",
    "markersize": 12,
    "fillstyle": "none",
    "markeredgewidth": 1.6,
    "linestyle": "none",
}


class Candidate(NamedTuple):
    """What cross-validation found of one ranker."""

    alphas: Array
    """In decreasing order."""
    means: Array
    """The mean of the measure over the folds."""
    errors: Array
    """Its standard error."""
    alpha: float
    """The one that was chosen."""


class PathDisplay(Display):
    """The cross-validated measure against alpha, with its standard errors, for all candidates.

    The alpha that was chosen is ringed. Candidates that share their alphas are drawn a
    little apart, so that no bar hides another. Use `from_estimator`.

    Parameters
    ----------
    candidates : dict of str to Candidate
        What is drawn, by name: `alphas`, `means`, `errors` and the chosen `alpha`.
    measure : str
        What was measured.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    bars_ : dict of str to matplotlib ErrorbarContainer
        The curve of every candidate, with its error bars.

    Examples
    --------
    >>> from toprank import RectPushApp
    >>> from toprank.datasets import load_mammography
    >>> from toprank.plots import PathDisplay
    >>> from toprank.selection import RankerCV
    >>> X, y = load_mammography(return_X_y=True)
    >>> ranker = RankerCV(RectPushApp(), cv=3).fit(X, y)
    >>> display = PathDisplay.from_estimator(ranker)
    >>> display.ax_.get_ylabel()
    'average precision, mean ± standard error'
    """

    def __init__(self, candidates: dict[str, Candidate], measure: str) -> None:
        self.candidates, self.measure = candidates, measure

    @classmethod
    def from_estimator(cls, estimators: Any, *, ax: Axes | None = None) -> Self:
        """Draw the paths of fitted rankers that chose their alpha.

        Parameters
        ----------
        estimators : RankerCV, list of them, or dict of them by name
            Fitted, and with the same `scoring`; or pipelines that end in one.
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        PathDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        found, measures = {}, {}
        for name, estimator in named(estimators).items():
            ranker = last_step(estimator)
            if not hasattr(ranker, "cv_results_") or not hasattr(ranker, "mean_scores_"):
                if hasattr(ranker, "leaderboard_"):
                    raise ValueError(
                        f"{name} chose among candidates, not along alphas: use "
                        "LeaderboardDisplay.from_estimator."
                    )
                raise ValueError(
                    f"{name} has no cv_results_ of alphas: pass a RankerCV that is fitted."
                )
            found[name] = _candidate(ranker)
            measures[words_of(ranker.scoring)] = name
        if len(measures) > 1:
            parts = " and ".join(f"{name} by {measure}" for measure, name in measures.items())
            raise ValueError(f"One axis cannot show two measures: {parts}.")
        return cls(found, next(iter(measures))).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the paths.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        PathDisplay
            The same object.
        """
        ax = self._begin(ax)
        ax.set_xscale("log")
        ax.margins(x=0.06)
        self.bars_ = {
            name: self._draw(ax, number, name) for number, name in enumerate(self.candidates)
        }
        ax.set(
            xlabel="alpha, the strength of regularisation (logarithmic)",
            ylabel=f"{self.measure}, mean ± standard error",
        )
        tidy(ax)
        ax.plot([], [], color=GREY, label="chosen alpha", **_RING)
        legend(ax, above=True)
        return self

    def _draw(self, ax: Axes, number: int, name: str) -> ErrorbarContainer:
        from matplotlib.transforms import ScaledTranslation

        path, colour = self.candidates[name], COLOURS[number % len(COLOURS)]
        last = len(self.candidates) - 1
        aside = (number - last / 2) * min(_APART, _WIDTH / max(last, 1)) / 72
        # Moved on the paper, not in the data: what can be read back is what was measured.
        shifted = ax.transData + ScaledTranslation(aside, 0, ax.figure.dpi_scale_trans)
        bars = ax.errorbar(
            path.alphas,
            path.means,
            yerr=path.errors,
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.5,
            linewidth=1.4,
            elinewidth=1.0,
            capsize=2,
            label=name,
            transform=shifted,
            **look_of(number),
        )
        ax.plot(
            [path.alpha],
            [path.means[int(np.argmin(np.abs(path.alphas - path.alpha)))]],
            color=colour,
            label="_nolegend_",
            transform=shifted,
            **_RING,
        )
        ax.update_datalim(np.column_stack([path.alphas, path.means - path.errors]))
        ax.update_datalim(np.column_stack([path.alphas, path.means + path.errors]))
        ax.autoscale_view()
        return bars


def _candidate(ranker: Any) -> Candidate:
    return Candidate(
        np.asarray(ranker.alphas_),
        np.asarray(ranker.mean_scores_),
        np.asarray(ranker.score_errors_),
        float(ranker.alpha_),
    )


__all__ = ["Candidate", "PathDisplay"]
