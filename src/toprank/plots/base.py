"""What all pictures share: the axes they are drawn on, colours, names, labelled scores."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from ..guarantees.selector import scores_of
from ..inputs.labels import shown
from ..selection.head.setup import rows_asked_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

Array = NDArray[np.float64]

#: Okabe and Ito's colours, which the colour-blind can tell apart; without yellow, faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
#: Kept apart without any colour too: a printed page may have none. Fewer than the colours, so that
#: an eighth curve is not the first again.
DASHES = ("-", "--", "-.", (0, (1, 1)), (0, (8, 2)))
#: Of points, in the same order.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Of lines to compare with, which are no data.
GREY = "#6b6b6b"
#: Inches; as wide as a column of a page.
SIZE = (6.4, 4.2)
#: A curve of more points looks the same.
MOST_POINTS = 2000
#: More entries than this in a legend cover the data.
_MOST_INSIDE = 6
#: Marks what counts as a curve, so that the next one gets another colour.
_CURVE = "toprank-curve"


class Display:
    """A picture: made by a `from_` method, drawn by `plot`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it was drawn on.
    figure_ : matplotlib Figure
        The figure that holds it.
    """

    ax_: Axes
    figure_: Figure | SubFigure

    @classmethod
    def _need_matplotlib(cls) -> None:
        """Refuse at once, before any work, where nothing can be drawn."""
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise ImportError(
                f"{cls.__name__} needs matplotlib: pip install matplotlib."
            ) from error

    def _begin(self, ax: Any, size: tuple[float, float] = SIZE) -> Axes:
        """The axes to draw on: those given, or those of a new figure."""
        self._need_matplotlib()
        from matplotlib.axes import Axes

        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        if not isinstance(ax, Axes):
            raise ValueError(f"ax must be one matplotlib Axes, got {type(ax).__name__}.")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def look(ax: Axes) -> dict[str, Any]:
    """The colour and dashes of the next curve on these axes."""
    number = sum(line.get_gid() == _CURVE for line in ax.lines)
    return {"gid": _CURVE, "linewidth": 1.8} | look_of(number)


def look_of(number: int) -> dict[str, Any]:
    """The colour and dashes of a curve, by its number."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number % len(DASHES)],
    }


def once(ax: Axes, label: str) -> str:
    """The label, or none if the axes have it: two curves may share a line to compare with."""
    _, labels = ax.get_legend_handles_labels()
    return "_nolegend_" if label in labels else label


def tidy(ax: Axes, grid: str = "both") -> None:
    """A frame on two sides and a light grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(True, axis=grid, color="#e6e6e6", linewidth=0.8)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def legend(ax: Axes, *, above: bool = False, **kwargs: Any) -> None:
    """A legend with the curves first; above the axes where the data leave no corner free."""
    handles, labels = ax.get_legend_handles_labels()
    curves = [line for line in ax.lines if line.get_gid() == _CURVE]
    order = sorted(
        range(len(labels)),
        # A curve with error bars is a tuple of its parts.
        key=lambda place: not (isinstance(handles[place], tuple) or handles[place] in curves),
    )
    if above or len(labels) > _MOST_INSIDE:
        kwargs |= {
            "ncols": 2,
            "loc": "lower left",
            "bbox_to_anchor": (0.0, 1.0),
            "borderaxespad": 0.3,
            "columnspacing": 1.4,
        }
    ax.legend([handles[i] for i in order], [labels[i] for i in order], frameon=False, **kwargs)


def in_percent(*axes: Axis) -> None:
    """Label shares as percentages, with as many digits as the ticks need."""
    from matplotlib.ticker import PercentFormatter

    for axis in axes:
        axis.set_major_formatter(PercentFormatter(1.0))


def thinned(n: int, *, head: bool) -> NDArray[np.intp]:
    """Places out of 0, ..., n - 1, both ends among them: all, or enough to draw a curve.

    With `head` they are evenly spaced on a logarithmic scale.
    """
    if n <= MOST_POINTS:
        return np.arange(n)
    places = np.geomspace(1, n, MOST_POINTS) if head else np.linspace(1, n, MOST_POINTS)
    return np.unique(np.rint(places).astype(np.intp)) - 1


def name_of(estimator: Any) -> str:
    """What a legend calls an estimator: a pipeline by its last step, a search by what it tunes."""
    if isinstance(estimator, Pipeline):
        return name_of(estimator[-1])
    inner = getattr(estimator, "estimator", None)
    return type(estimator).__name__ if inner is None else name_of(inner)


def named(estimators: Any) -> dict[str, Any]:
    """One estimator, a list of them or a dict with names, as a dict; equal names are numbered."""
    if isinstance(estimators, Mapping):
        found = {str(name): estimator for name, estimator in estimators.items()}
    elif isinstance(estimators, list | tuple):
        found = {}
        for estimator in estimators:
            name = name_of(estimator)
            count = sum(name_of(other) == name for other in found.values())
            found[f"{name} {count + 1}" if count else name] = estimator
    else:
        found = {name_of(estimators): estimators}
    if not found:
        raise ValueError("estimators is empty: pass one fitted ranker or more.")
    return found


def chosen(estimator: Any) -> Any:
    """What a fitted search of scikit-learn's settled on, or the estimator itself."""
    search = isinstance(estimator, BaseSearchCV)
    return getattr(estimator, "best_estimator_", estimator) if search else estimator


def last_step(estimator: Any) -> Any:
    """The ranker at the end of a pipeline, or the estimator itself."""
    model = chosen(estimator)
    return model[-1] if isinstance(model, Pipeline) else model


def capacity_of(estimator: Any, n_rows: int) -> int | None:
    """Return how many of n rows a fitted ranker has the capacity for, if it has one.

    A number of rows is that number of every list, unless the ranker knows the length of its lists:
    then it is the same share of this one, as is a capacity that is a share.
    """
    ranker = last_step(estimator)
    capacity = getattr(ranker, "capacity", None)
    if capacity is None:
        return None
    if not isinstance(capacity, Integral) or getattr(ranker, "list_size", None) is not None:
        capacity = float(ranker.capacity_)
    return min(rows_asked_for(capacity, max(n_rows, int(capacity))), n_rows)


def capacity_rows(capacity: float | None, n_rows: int) -> int | None:
    """Return the number of rows that a number or share given by the user is."""
    if capacity is None:
        return None
    if isinstance(capacity, Integral) and capacity > n_rows:
        raise ValueError(
            f"capacity={capacity} exceeds the {n_rows} rows of the list: pass a smaller number, "
            "or a share."
        )
    try:
        return rows_asked_for(capacity, n_rows)
    except ValueError as error:
        raise ValueError(f"capacity: {error}") from None


def mark_capacity(ax: Axes, at: float, n_rows: int) -> Line2D:
    """Draw a vertical line where the capacity ends."""
    label = once(ax, f"capacity: {n_rows:,} row{'s' if n_rows > 1 else ''}")
    return ax.axvline(at, color=GREY, linestyle=(0, (6, 3)), linewidth=1.2, label=label)


def words_of(scoring: Any) -> str:
    """Return a scorer's name in words."""
    if not isinstance(scoring, str):
        scoring = getattr(scoring, "__name__", None) or "score"
    return str(scoring).replace("_", " ")


def labelled_scores(
    estimator: Any, X: Any, y: ArrayLike, pos_label: Any
) -> tuple[NDArray[np.bool_], Array]:
    """Which rows are positive, and the scores that a fitted estimator gives them."""
    scores, positive = scores_of(estimator, X, pos_label)
    labels = np.asarray(y)
    known = np.isin(labels, estimator.classes_)
    if not known.all():
        row = int(np.argmin(known.ravel()))
        first, second = map(shown, estimator.classes_)
        raise ValueError(
            f"y is {shown(labels.ravel()[row])} at row {row}; {type(estimator).__name__} was "
            f"fitted on the labels {first} and {second}."
        )
    return np.asarray(labels == positive), scores


__all__ = ["Display"]
