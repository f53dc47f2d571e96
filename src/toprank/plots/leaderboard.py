"""LeaderboardDisplay: the candidates that a HeadRanker compared, and the one it chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..inputs.arguments import check_count
from .base import COLOURS, GREY, Array, Display, last_step, legend, name_of, tidy, words_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

#: Inches of a candidate's line, and those above and below all of them.
_LINE, _MARGIN = 0.32, 1.3
#: Inches from side to side: names of candidates are long.
_WIDTH = 7.2


class LeaderboardDisplay(Display):
    """The measure that chose among the candidates of a `HeadRanker`, with its standard errors.

    The chosen candidate comes first, then the others by their mean over the folds. Candidates that
    did not run to the end have no mean and are left out. Use `from_estimator`.

    Parameters
    ----------
    candidates : list of str
        Their names, from the top of the picture.
    means, errors : ndarray of shape (n_candidates,)
        The mean of the measure over the folds, and its standard error.
    chosen : int
        The position of the chosen one.
    measure : str
        What was measured.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    bars_ : matplotlib ErrorbarContainer
        The means with their errors, in the order of `candidates`.
    chosen_ : matplotlib Line2D
        The point of the chosen candidate.

    See Also
    --------
    PathDisplay : The alphas of a `RankerCV`.

    Examples
    --------
    >>> from toprank import HeadRanker
    >>> from toprank.datasets import load_mammography
    >>> from toprank.plots import LeaderboardDisplay
    >>> X, y = load_mammography(return_X_y=True)
    >>> ranker = HeadRanker(candidates="linear", cv=3, random_state=0).fit(X[::4], y[::4])
    >>> display = LeaderboardDisplay.from_estimator(ranker)
    >>> display.candidates[display.chosen]
    'columns, logistic, negatives x16'
    >>> display.ax_.get_xlabel()
    'average precision, mean ± standard error of the folds'
    """

    def __init__(
        self, candidates: list[str], means: Array, errors: Array, chosen: int, measure: str
    ) -> None:
        self.candidates, self.means, self.errors = candidates, means, errors
        self.chosen, self.measure = chosen, measure

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_candidates: int = 12, ax: Axes | None = None
    ) -> Self:
        """Draw the leaderboard of a fitted `HeadRanker`.

        Parameters
        ----------
        estimator : HeadRanker
            Fitted; or a pipeline that ends in one.
        n_candidates : int, default=12
            How many candidates at most: the chosen one, and those with the best means.
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        LeaderboardDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        most = check_count("n_candidates", n_candidates)
        ranker = last_step(estimator)
        if not hasattr(ranker, "leaderboard_"):
            raise ValueError(
                f"{name_of(estimator)} has no leaderboard_: pass a HeadRanker that is fitted."
            )
        names, means, errors, chosen = (
            np.asarray(ranker.leaderboard_[column])
            for column in ("candidate", "mean", "error", "chosen")
        )
        order = _best_first(np.asarray(means, dtype=float), np.asarray(chosen, dtype=bool))[:most]
        return cls(
            [str(name) for name in names[order]],
            np.asarray(means[order], dtype=float),
            np.asarray(errors[order], dtype=float),
            0,
            words_of(ranker.scoring_),
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the candidates.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        LeaderboardDisplay
            The same object.
        """
        n = len(self.candidates)
        ax = self._begin(ax, (_WIDTH, _MARGIN + _LINE * n))
        places = np.arange(n)
        ax.axvline(self.means[self.chosen], color=GREY, linestyle=":", linewidth=1.2)
        self.bars_: ErrorbarContainer = ax.errorbar(
            self.means,
            places,
            xerr=self.errors,
            fmt="o",
            markersize=4.5,
            color=COLOURS[0],
            elinewidth=1.2,
            capsize=2,
            label="_nolegend_",
        )
        self.chosen_: Line2D = ax.plot(
            [self.means[self.chosen]],
            [self.chosen],
            color=COLOURS[1],
            marker="D",
            markersize=7,
            linestyle="none",
            label="chosen",
        )[0]
        ax.set_yticks(places, self.candidates)
        ax.set_ylim(n - 0.5, -0.5)
        ax.set_xlabel(f"{self.measure}, mean ± standard error of the folds")
        tidy(ax, grid="x")
        ax.tick_params(axis="y", length=0)
        legend(ax, above=True)
        return self


def _best_first(means: Array, chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the positions of the candidates with a mean: the chosen one, then the best."""
    order = np.lexsort((-means, ~chosen))
    return order[np.isfinite(means[order])]


__all__ = ["LeaderboardDisplay"]
