"""TopCurveDisplay: how pure the first k rows are, for every k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..guarantees import HeadStatement
from ..metrics._ranking import Ranking
from .base import (
    GREY,
    Array,
    Display,
    capacity_of,
    capacity_rows,
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
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D


class TopCurveDisplay(Display):
    """Precision of the first k rows against k, with what can be promised of it.

    k is on a logarithmic scale, for the head is what counts. Rows with equal scores count as
    expected over all their orders, as in `precision_at_k`. Use `from_estimator`,
    `from_predictions` or, where no labels are known, `from_statement`.

    Parameters
    ----------
    k : ndarray of shape (n_points,)
        How many rows; every number up to 2000 rows, a part of them beyond.
    precision : ndarray of shape (n_points,), optional
        The share of positives among the first k.
    base_rate : float, optional
        The share of positives among all rows.
    lower, upper : ndarray of shape (n_points,), optional
        Bounds of the precision; without `upper` there is no upper bound.
    confidence : float, optional
        How sure the bounds are.
    name : str, optional
        What the legend calls the curve.
    capacity : int, optional
        How many rows are looked at: a line marks them.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    line_ : matplotlib Line2D or None
        The precision.
    base_line_ : matplotlib Line2D or None
        The base rate.
    lower_ : matplotlib Line2D or None
        The lower bound.
    band_ : matplotlib PolyCollection or None
        What lies between the bounds; below the lower one, if it is the only one.
    capacity_line_ : matplotlib Line2D or None
        The capacity.

    Examples
    --------
    >>> from toprank import LogisticRank
    >>> from toprank.datasets import load_mammography
    >>> from toprank.plots import TopCurveDisplay
    >>> X, y = load_mammography(return_X_y=True)
    >>> ranker = LogisticRank(random_state=0).fit(X[::2], y[::2])
    >>> display = TopCurveDisplay.from_estimator(ranker, X[1::2], y[1::2])
    >>> display.ax_.get_xscale(), round(display.base_rate, 3)
    ('log', 0.023)
    """

    line_: Line2D | None
    base_line_: Line2D | None
    lower_: Line2D | None
    band_: PolyCollection | None
    capacity_line_: Line2D | None

    def __init__(
        self,
        k: Array,
        precision: Array | None = None,
        base_rate: float | None = None,
        *,
        lower: Array | None = None,
        upper: Array | None = None,
        confidence: float | None = None,
        name: str | None = None,
        capacity: int | None = None,
    ) -> None:
        self.k, self.precision, self.base_rate = k, precision, base_rate
        self.lower, self.upper, self.confidence = lower, upper, confidence
        self.name, self.capacity = name, capacity

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        statement: HeadStatement | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of rows that a fitted classifier scores.

        A ranker with a `capacity` has a line there: at that number of rows or, if it has a
        `list_size` or the capacity is a share, at the same share of these rows.

        Parameters
        ----------
        estimator : fitted classifier
            Any with `decision_function` or `predict_proba`.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        statement : HeadStatement, optional
            What is promised of these rows: ``HeadSelector(estimator).calibrate(...).statement(X)``.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.
        pos_label : label, optional
            The label that is to come first; the second of `classes_` without it.
        name : str, optional
            What the legend calls the curve; the class of the estimator without it.
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.
        **kwargs
            For matplotlib's `plot`, of the curve.

        Returns
        -------
        TopCurveDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        positive, scores = labelled_scores(estimator, X, y, pos_label)
        return cls.from_predictions(
            positive,
            scores,
            statement=statement,
            sample_weight=sample_weight,
            name=name_of(estimator) if name is None else name,
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
        statement: HeadStatement | None = None,
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
        y_true, scores : array-like of shape (n_samples,)
            Labels, and scores that are high where a row should come first.
        statement, sample_weight, pos_label, name, ax, **kwargs
            As in `from_estimator`; `pos_label` is the greater label without it.
        capacity : int or float, optional
            How many rows are looked at, or which share of the list: a line marks them.

        Returns
        -------
        TopCurveDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        ranking = Ranking.of(y_true, scores, sample_weight, pos_label)
        if ranking.total < 1:
            raise ValueError(
                f"sample_weight adds up to {ranking.total:g}, less than one row: divide it by its "
                "mean."
            )
        if statement is not None:
            _check_statement(statement, np.asarray(scores), sample_weight)
        k = _places(int(ranking.total))
        precision = np.interp(k, ranking.seen, ranking.positives_seen) / k
        base_rate = float(ranking.positives_seen[-1] / ranking.total)
        display = cls(
            k,
            precision,
            base_rate,
            name=name,
            capacity=capacity_rows(capacity, int(ranking.total)),
            **_bounds(statement, k),
        )
        return display.plot(ax, **kwargs)

    @classmethod
    def from_statement(
        cls, statement: HeadStatement, *, name: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw what is promised of a list whose labels nobody knows yet.

        Parameters
        ----------
        statement : HeadStatement
            The promises.
        name : str, optional
            What the legend calls the list.
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        TopCurveDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        k = _places(statement.n_rows)
        return cls(k, name=name, **_bounds(statement, k)).plot(ax)

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
        TopCurveDisplay
            The same object.
        """
        ax = self._begin(ax)
        style = {**look(ax), "label": self.name or "the first k", **kwargs}
        self.line_ = self.base_line_ = self.lower_ = self.band_ = self.capacity_line_ = None
        self._draw_bounds(ax, style["color"])
        if self.precision is not None:
            self.line_ = ax.plot(self.k, self.precision, **style)[0]
        if self.base_rate is not None:
            label = once(ax, f"all rows: {100 * self.base_rate:.3g} % positive")
            self.base_line_ = ax.axhline(
                self.base_rate, color=GREY, linestyle=":", linewidth=1.4, label=label
            )
        if self.capacity is not None:
            self.capacity_line_ = mark_capacity(ax, self.capacity, self.capacity)
        ax.set_xscale("log")
        ax.set(
            xlabel="Rows from the top of the list, k (logarithmic)",
            ylabel="Share of positives among the first k",
            ylim=(0, 1.03),
        )
        ax.set_xlim(left=1)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.xaxis.set_minor_formatter(_few())
        tidy(ax)
        legend(ax)
        return self

    def _draw_bounds(self, ax: Axes, colour: Any) -> None:
        if self.lower is None:
            return
        sure = "" if self.confidence is None else f" ({100 * self.confidence:.4g} %)"
        of = f", {self.name}" if self.name else ""
        self.lower_ = ax.plot(self.k, self.lower, color=colour, linewidth=0.9, label="_nolegend_")[
            0
        ]
        if self.upper is None:
            edges, words = (np.zeros_like(self.lower), self.lower), "surely at least this"
        else:
            edges, words = (self.lower, self.upper), "surely in this band"
        self.band_ = ax.fill_between(
            self.k, *edges, color=colour, alpha=0.15, linewidth=0, label=f"{words}{sure}{of}"
        )


def _few() -> Any:
    """Labels between powers of ten, for lists so short that there would be none."""
    from matplotlib.ticker import LogFormatter

    return LogFormatter(minor_thresholds=(1, 0.4))


def _places(n_rows: int) -> Array:
    """The k to draw."""
    return (thinned(n_rows, head=True) + 1).astype(np.float64)


def _bounds(statement: HeadStatement | None, k: Array) -> dict[str, Any]:
    """What a statement says of the precision at k."""
    if statement is None:
        return {}
    place = k.astype(np.intp) - 1
    upper = statement.upper()[place] / k if statement.assume == "rows" else None
    lower = statement.lower()[place] / k
    return {"lower": lower, "upper": upper, "confidence": statement.confidence}


def _check_statement(statement: HeadStatement, scores: Array, sample_weight: Any) -> None:
    """Refuse a statement of another list."""
    if sample_weight is not None:
        raise ValueError("statement counts rows: leave sample_weight out.")
    if statement.n_rows != len(scores):
        raise ValueError(
            f"statement is of a list of {statement.n_rows} rows, and these are {len(scores)}."
        )
    if statement.exact and (np.diff(scores[statement.order]) > 0).any():
        raise ValueError("statement is of a list with other scores: make it from these.")


__all__ = ["TopCurveDisplay"]
