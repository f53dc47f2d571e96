"""GainsDisplay: how many of the positives are found in how much of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from ..metrics._ranking import Ranking
from .base import (
    GREY,
    Array,
    Display,
    capacity_of,
    capacity_rows,
    in_percent,
    labelled_scores,
    legend,
    look,
    mark_capacity,
    name_of,
    once,
    thinned,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


class GainsDisplay(Display):
    """Share of the positives that are found against the share of the list that is looked at.

    A list in random order follows the diagonal; a perfect one climbs straight until all positives
    are found. Rows with equal scores are a straight piece, as expected over all their orders. Use
    `from_estimator` or `from_predictions`.

    Parameters
    ----------
    share_of_rows, share_of_positives : ndarray of shape (n_points,)
        The curve, from (0, 0) to (1, 1).
    base_rate : float
        The share of positives among all rows.
    name : str, optional
        What the legend calls the curve.
    capacity : tuple of (float, int), optional
        The share of the list that is looked at, and how many rows that is: a line marks it.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    line_, random_line_, perfect_line_ : matplotlib Line2D
        The curve, that of a list in random order and that of a perfect one.
    capacity_line_ : matplotlib Line2D or None
        The capacity.

    Examples
    --------
    >>> from toprank.plots import GainsDisplay
    >>> display = GainsDisplay.from_predictions([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    >>> display.share_of_positives.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """

    def __init__(
        self,
        share_of_rows: Array,
        share_of_positives: Array,
        base_rate: float,
        *,
        name: str | None = None,
        capacity: tuple[float, int] | None = None,
    ) -> None:
        self.share_of_rows, self.share_of_positives = share_of_rows, share_of_positives
        self.base_rate, self.name, self.capacity = base_rate, name, capacity

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of rows that a fitted classifier scores.

        Parameters
        ----------
        estimator, X, y, sample_weight, pos_label, name, ax, **kwargs
            As in `TopCurveDisplay.from_estimator`.

        Returns
        -------
        GainsDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        positive, scores = labelled_scores(estimator, X, y, pos_label)
        name = name_of(estimator) if name is None else name
        return cls.from_predictions(
            positive,
            scores,
            sample_weight=sample_weight,
            name=name,
            capacity=capacity_of(estimator, len(scores)),
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        capacity: float | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of labels and scores.

        Parameters
        ----------
        y_true, scores, sample_weight, pos_label, name, capacity, ax, **kwargs
            As in `TopCurveDisplay.from_predictions`.

        Returns
        -------
        GainsDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        ranking = Ranking.of(y_true, scores, sample_weight, pos_label)
        positives = ranking.positive_total("a curve of gains")
        place = thinned(len(ranking.seen), head=False)
        n_rows = int(ranking.total)
        count = capacity_rows(capacity, n_rows)
        display = cls(
            ranking.seen[place] / ranking.total,
            ranking.positives_seen[place] / positives,
            positives / ranking.total,
            name=name,
            capacity=None if count is None else (count / n_rows, count),
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.
        **kwargs
            For matplotlib's `plot`, of the curve.

        Returns
        -------
        GainsDisplay
            The same object.
        """
        ax = self._begin(ax)
        style = {**look(ax), "label": self.name or "this list", **kwargs}
        self.line_: Line2D = ax.plot(self.share_of_rows, self.share_of_positives, **style)[0]
        thin: dict[str, Any] = {"color": GREY, "linewidth": 1.2}
        self.perfect_line_: Line2D = ax.plot(
            [0, self.base_rate, 1], [0, 1, 1], linestyle="--", label=once(ax, "perfect"), **thin
        )[0]
        self.random_line_: Line2D = ax.plot(
            [0, 1], [0, 1], linestyle=":", label=once(ax, "random order"), **thin
        )[0]
        self.capacity_line_: Line2D | None = None
        if self.capacity is not None:
            self.capacity_line_ = mark_capacity(ax, *self.capacity)
        ax.set(
            xlabel="Share of the list that is looked at",
            ylabel="Share of the positives that are found",
            xlim=(0, 1),
            ylim=(0, 1.03),
        )
        in_percent(ax.xaxis, ax.yaxis)
        tidy(ax)
        legend(ax, loc="lower right")
        return self


__all__ = ["GainsDisplay"]
