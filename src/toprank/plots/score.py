"""ScoreDisplay: the scores of the two classes, and where the first k rows are cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inputs.arguments import check_count
from ..metrics._at_k import precision_at_k_of
from ..metrics._checks import check_rows
from ..metrics._ranking import Ranking
from .base import COLOURS, Array, Display, in_percent, labelled_scores, legend, name_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

#: The part of all rows at each end that may lie beyond the bars.
_TAIL = 0.005
#: The part of one class that may: positives are rare, and at the top.
_TAIL_OF_CLASS = 0.02
#: Bars reach to the last row unless that is this many times as wide as the rows without the tails.
_STRETCH = 1.5


class ScoreDisplay(Display):
    """Histograms of the scores of the two classes, with the cut of the first k rows.

    Each class is drawn in shares of its own rows, for the rarer one would not be seen beside the
    other. A few scores far out would squeeze all others into one bar: then the outermost bars hold
    what lies beyond them, and the axis says so. Use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Where the bars begin and end.
    positives, negatives : ndarray of shape (n_bins,)
        Rows of each class in every bar.
    beyond : bool
        Whether the outermost bars hold rows beyond their edges.
    cut : float, optional
        The score that parts the first k rows from the others.
    k : int, optional
        How many rows those are.
    found : float, optional
        How many of them are positive.
    name : str, optional
        What scored the rows.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    positives_, negatives_ : matplotlib StepPatch
        The histograms.
    cut_line_ : matplotlib Line2D or None
        The cut.

    Examples
    --------
    >>> from toprank import LogisticRank
    >>> from toprank.datasets import load_mammography
    >>> from toprank.plots import ScoreDisplay
    >>> X, y = load_mammography(return_X_y=True)
    >>> ranker = LogisticRank(random_state=0).fit(X[::2], y[::2])
    >>> display = ScoreDisplay.from_estimator(ranker, X[1::2], y[1::2], k=50)
    >>> int(display.positives.sum()), int(display.negatives.sum())
    (130, 5461)
    """

    def __init__(
        self,
        edges: Array,
        positives: NDArray[np.intp],
        negatives: NDArray[np.intp],
        *,
        beyond: bool = False,
        cut: float | None = None,
        k: int | None = None,
        found: float | None = None,
        name: str | None = None,
    ) -> None:
        self.edges, self.positives, self.negatives = edges, positives, negatives
        self.beyond, self.cut, self.k, self.found, self.name = beyond, cut, k, found, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        k: int | None = None,
        bins: int = 40,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the scores that a fitted classifier gives rows.

        Parameters
        ----------
        estimator : fitted classifier
            Any with `decision_function` or `predict_proba`.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        k : int, optional
            How many rows from the top to cut off.
        bins : int, default=40
            Bars of each class.
        pos_label : label, optional
            The label that is to come first; the second of `classes_` without it.
        name : str, optional
            What scored the rows; the class of the estimator without it.
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        ScoreDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        positive, scores = labelled_scores(estimator, X, y, pos_label)
        name = name_of(estimator) if name is None else name
        return cls.from_predictions(positive, scores, k=k, bins=bins, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        k: int | None = None,
        bins: int = 40,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the scores of labelled rows.

        Parameters
        ----------
        y_true, scores : array-like of shape (n_samples,)
            Labels, and finite scores that are high where a row should come first.
        k, bins, pos_label, name, ax
            As in `from_estimator`; `pos_label` is the greater label without it.

        Returns
        -------
        ScoreDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        check_count("bins", bins, 2)
        positive, column, _, _ = check_rows(y_true, scores, None, pos_label)
        values = column.astype(np.float64)
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise ValueError(
                f"scores is {values[row]} at row {row}, which has no bar: leave it out."
            )
        cut = {} if k is None else _cut(positive, values, check_count("k", k))
        # The cut is to be seen, with half of the head on its right.
        reach = -np.inf if k is None else np.sort(values)[-((k + 1) // 2)]
        edges, beyond = _edges(positive, values, bins, reach)
        inside = np.clip(values, edges[0], edges[-1])
        counts = [np.histogram(inside[side], edges)[0] for side in (positive, ~positive)]
        return cls(edges, *counts, beyond=beyond, name=name, **cut).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the histograms.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        ScoreDisplay
            The same object.
        """
        ax = self._begin(ax)
        self.negatives_ = self._draw(ax, self.negatives, "negative", COLOURS[0], "-")
        self.positives_ = self._draw(ax, self.positives, "positive", COLOURS[1], "--")
        self.cut_line_: Line2D | None = None
        if self.cut is not None:
            self.cut_line_ = ax.axvline(
                float(np.clip(self.cut, self.edges[0], self.edges[-1])),
                color="black",
                linewidth=1.3,
                linestyle=":",
                label=f"the first {self.k:,}: {self.found:,.6g} positive",
            )
        of = f" by {self.name}" if self.name else ""
        beyond = " (the outermost bars hold all beyond)" if self.beyond else ""
        ax.set(xlabel=f"Score{of}{beyond}", ylabel="Share of the rows of each class")
        in_percent(ax.yaxis)
        ax.set_ylim(bottom=0)
        ax.margins(x=0.01)
        tidy(ax, "y")
        legend(ax, above=True)
        return self

    def _draw(
        self, ax: Axes, counts: NDArray[np.intp], kind: str, colour: str, dashes: str
    ) -> StepPatch:
        total = int(counts.sum())
        shares = counts / max(total, 1)
        ax.stairs(shares, self.edges, fill=True, color=colour, alpha=0.25)
        return ax.stairs(
            shares,
            self.edges,
            color=colour,
            linewidth=1.6,
            linestyle=dashes,
            label=f"{total:,} {kind} rows",
        )


def _edges(
    positive: NDArray[np.bool_], values: Array, bins: int, reach: float
) -> tuple[Array, bool]:
    """Edges of the bars, the last at `reach` or above, and whether rows lie beyond them."""
    low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
    for side in (values[positive], values[~positive]):
        if len(side):
            ends = np.quantile(side, [_TAIL_OF_CLASS, 1 - _TAIL_OF_CLASS])
            low, high = min(low, ends[0]), max(high, ends[1])
    high = max(high, reach)
    least, most = float(values.min()), float(values.max())
    beyond = most - least > _STRETCH * (high - low) > 0
    if not beyond:
        low, high = least, most
    if low == high:  # one score for all rows
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1), bool(beyond)


def _cut(positive: NDArray[np.bool_], scores: Array, k: int) -> dict[str, Any]:
    """Halfway between the last row that is in and the first that is not; on them if they tie."""
    found = k * precision_at_k_of(Ranking.of(positive, scores), k)
    ordered = np.sort(scores)[::-1]
    last = ordered[k - 1]
    cut = last if k == len(ordered) else (last + ordered[k]) / 2
    return {"k": k, "cut": float(cut), "found": float(found)}


__all__ = ["ScoreDisplay"]
