"""WhyDisplay: which features put the first rows of a list where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..inputs.arguments import check_count
from ..trees import TreeEnsemble
from .base import Array, Display, chosen, last_step

#: A remainder below this share of the largest contribution is rounding.
_ROUNDING = 1e-9


class Contributions(NamedTuple):
    """The scores of the first k rows, taken apart by features."""

    rows: NDArray[np.intp]
    """Row numbers, best first."""
    parts: Array
    """What each feature adds to each row, of shape (k, n_features)."""
    names: list[str]
    """Of the features."""
    scores: Array
    """The rows' scores less that of the row they are compared with: the sums of the parts."""
    compared_with: str
    """Which row that is, in words."""


def contributions(
    estimator: Any, X: Any, k: int, feature_names: Sequence[str] | None = None
) -> Contributions:
    """Split the scores of the first rows of a linear ranker, one with `explain`, or trees."""
    model = chosen(estimator)
    ranker = last_step(model)
    check_is_fitted(ranker)
    seen = model[:-1].transform(X) if _has_steps(model) else X
    take_apart = _explained if hasattr(ranker, "explain") else _linear
    if isinstance(ranker, TreeEnsemble):
        take_apart = _of_trees
    found = take_apart(ranker, seen, k)
    n_features = found.parts.shape[1] - len(found.names)
    names = _feature_names(model, n_features, feature_names)
    return found._replace(names=names + found.names)


def _linear(ranker: Any, seen: Any, k: int) -> Contributions:
    """coef_j (x_ij - mean of x_j)."""
    weights = _weights(ranker)
    values = sparse.csr_array(seen) if sparse.issparse(seen) else np.asarray(seen, dtype=float)
    if values.ndim != 2 or values.shape[1] != len(weights):
        raise ValueError(
            f"X has shape {values.shape}, and {type(ranker).__name__} has {len(weights)} weights."
        )
    scores = np.asarray(values @ weights)
    rows = _first(scores, k)
    parts = (_dense(values[rows]) - np.asarray(values.mean(axis=0)).ravel()) * weights
    return Contributions(rows, parts, [], scores[rows] - scores.mean(), "a mean row")


def _explained(ranker: Any, seen: Any, k: int) -> Contributions:
    """By the ranker's own `explain`; what it can give to no feature comes last, with a name."""
    scores = ranker.decision_function(seen)
    rows = _first(scores, k)
    found = ranker.explain(_safe_indexing(seen, rows))
    parts, names = _dense(found.contributions), []
    if np.abs(found.remainder).max() > _ROUNDING * np.abs(parts).max():
        parts, names = np.column_stack([parts, found.remainder]), ["interplay"]
    with_what = "a row of zeros" if sparse.issparse(seen) else "the row of medians"
    return Contributions(rows, parts, names, scores[rows] - found.baseline, with_what)


def _of_trees(ranker: TreeEnsemble, seen: Any, k: int) -> Contributions:
    """Differences of means along the paths."""
    scores = ranker.decision_function(seen)
    rows = _first(scores, k)
    parts = ranker.contributions(_safe_indexing(seen, rows))
    return Contributions(rows, parts, [], scores[rows] - ranker.baseline, "the mean training row")


def _first(scores: Array, k: int) -> NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")[:k]


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)


def _has_steps(model: Any) -> bool:
    return isinstance(model, Pipeline) and len(model) > 1


def _weights(ranker: Any) -> Array:
    """The weights of a linear ranker."""
    weights = getattr(ranker, "coef_", None)
    if weights is None:
        raise ValueError(
            f"{type(ranker).__name__} has neither coef_ nor explain: contributions are those of a "
            "linear score, of a HeadRanker, or of trees made by toprank.trees.from_model."
        )
    table = np.atleast_2d(_dense(weights))
    if len(table) != 1:
        raise ValueError(
            f"{type(ranker).__name__} has the weights of {len(table)} scores: pass a ranker of "
            "two classes."
        )
    return np.asarray(table[0])


def _feature_names(model: Any, count: int, given: Sequence[str] | None) -> list[str]:
    """Names given, those that the last step knows, those that the steps before it make, or x0."""
    if given is not None:
        if len(given) != count:
            raise ValueError(f"feature_names has {len(given)} names for {count} features.")
        return [str(name) for name in given]
    known = getattr(last_step(model), "feature_names_in_", None)
    if known is None and _has_steps(model):
        try:
            known = model[:-1].get_feature_names_out()
        except (AttributeError, ValueError):  # a step without names
            known = None
    if known is None:
        known = [f"x{j}" for j in range(count)]
    return [str(name) for name in known]


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

#: Inches of a cell: room for a number of four characters.
_CELL = (0.62, 0.30)
#: Inches beside the cells: names of rows and the colour bar; names of features.
_MARGIN = (2.4, 1.9)
#: A cell darker than this share of the scale has white letters.
_DARK = 0.6
#: Points that a number takes; in narrower cells there is none.
_NUMBER = 27.0
#: More digits than this do not fit into a cell.
_MOST_DIGITS = 3


class WhyDisplay(Display):
    """Contributions of features to the scores of the rows at the top.

    The contribution of feature j to row i is ``coef_j * (x_ij - mean of x_j)``, with the mean over
    all rows that were given: what the feature adds to the score beyond that of a mean row. A row's
    contributions add up to its score less the mean score. A `HeadRanker`, which need not be linear,
    explains its rows itself, by comparison with the row of medians. Use `from_estimator`.

    Parameters
    ----------
    contributions : ndarray of shape (k, n_shown)
        What each feature adds to each row; the last column may be that of all others.
    features : list of str
        Their names.
    rows : ndarray of shape (k,)
        Row numbers, best first.
    scores : ndarray of shape (k,)
        The scores of the rows less that of the row they are compared with.
    row_names : list of str, optional
        What the rows are called.
    compared_with : str, default="a mean row"
        Which row they are compared with, in words.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    image_ : matplotlib AxesImage
        The cells, with a number in each where the axes are wide enough.

    Examples
    --------
    >>> from toprank import LogisticRank
    >>> from toprank.datasets import load_mammography
    >>> from toprank.plots import WhyDisplay
    >>> X, y = load_mammography(return_X_y=True)
    >>> display = WhyDisplay.from_estimator(LogisticRank(random_state=0).fit(X, y), X, k=5)
    >>> display.contributions.shape
    (5, 6)
    """

    def __init__(
        self,
        contributions: Array,
        features: list[str],
        rows: NDArray[np.intp],
        scores: Array,
        *,
        row_names: list[str] | None = None,
        compared_with: str = "a mean row",
    ) -> None:
        self.compared_with = compared_with
        self.contributions, self.features = contributions, features
        self.rows, self.scores = rows, scores
        self.row_names = [f"row {row}" for row in rows] if row_names is None else row_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        k: int = 10,
        n_features: int = 10,
        feature_names: Sequence[str] | None = None,
        row_names: Sequence[Any] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw why a linear ranker puts rows first.

        Parameters
        ----------
        estimator : fitted ranker
            One with `coef_`, a `HeadRanker`, a `TreeEnsemble`, or a pipeline that ends in one of
            these; the features are those that the last step sees. Of a search the best estimator is
            taken.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The list.
        k : int, default=10
            How many rows from its top; all rows where X has fewer.
        n_features : int, default=10
            How many features: those with the largest mean absolute contribution to these rows. The
            others are added up.
        feature_names : sequence of str, optional
            Names of the features that the last step sees; without it those that it knows.
        row_names : sequence, optional
            Names of all rows of X; the index of a DataFrame without it.
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.

        Returns
        -------
        WhyDisplay
            What was drawn.
        """
        cls._need_matplotlib()
        most = check_count("n_features", n_features)
        found = contributions(estimator, X, check_count("k", k), feature_names)
        called = _row_names(X, row_names)
        parts, names = _largest(found.parts, found.names, most)
        return cls(
            parts,
            names,
            found.rows,
            found.scores,
            row_names=None if called is None else [called[row] for row in found.rows],
            compared_with=found.compared_with,
        ).plot(ax)

    def plot(self, ax: Axes | None = None, *, colorbar: bool = True) -> Self:
        """Draw the cells.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on; a new figure without it.
        colorbar : bool, default=True
            Whether to draw the scale of the colours.

        Returns
        -------
        WhyDisplay
            The same object.
        """
        n_rows, n_shown = self.contributions.shape
        ax = self._begin(ax, (_MARGIN[0] + _CELL[0] * n_shown, _MARGIN[1] + _CELL[1] * n_rows))
        scale = float(np.abs(self.contributions).max()) or 1.0
        write = _writer(scale)
        self.image_: AxesImage = ax.imshow(
            self.contributions, cmap="PuOr_r", vmin=-scale, vmax=scale, aspect="auto"
        )
        ax.set_xticks(range(n_shown), self.features, rotation=40, ha="right")
        ax.set_yticks(
            range(n_rows),
            [
                f"{place}. {name} ({write(score)})"
                for place, (name, score) in enumerate(
                    zip(self.row_names, self.scores, strict=True), 1
                )
            ],
        )
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_title(f"What lifts the first rows above {self.compared_with}", fontsize="medium")
        if colorbar:
            bar = self.figure_.colorbar(self.image_, ax=ax, fraction=0.04, pad=0.02)
            bar.set_label("added to the score")
            bar.outline.set_visible(False)
        if ax.get_window_extent().width * 72 / self.figure_.dpi > _NUMBER * n_shown:
            self._write(ax, write, scale)
        return self

    def _write(self, ax: Axes, write: Callable[[float], str], scale: float) -> None:
        """A number in every cell."""
        for (i, j), value in np.ndenumerate(self.contributions):
            colour = "white" if abs(value) > _DARK * scale else "black"
            ax.text(j, i, write(value), ha="center", va="center", color=colour, fontsize=8)


def _writer(scale: float) -> Callable[[float], str]:
    """Numbers with as many digits as show three of the largest; those that round to 0 as 0."""
    digits = 2 - int(np.floor(np.log10(scale)))
    if not 0 <= digits <= _MOST_DIGITS:
        return "{:+.2g}".format

    def write(value: float) -> str:
        return f"{value:+.{digits}f}" if round(value, digits) else "0"

    return write


def _row_names(X: Any, given: Sequence[Any] | None) -> list[str] | None:
    if given is None:
        index = getattr(X, "index", None)
        return None if index is None or callable(index) else [str(name) for name in index]
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if len(given) != n_rows:
        raise ValueError(f"row_names has {len(given)} names for {n_rows} rows.")
    return [str(name) for name in given]


def _largest(parts: Array, names: list[str], most: int) -> tuple[Array, list[str]]:
    """The columns that matter most, the largest first, and the sum of the others."""
    order = np.argsort(-np.abs(parts).mean(axis=0), kind="stable")
    kept, left = order[:most], order[most:]
    shown = parts[:, kept]
    called = [names[j] for j in kept]
    if len(left):
        shown = np.column_stack([shown, parts[:, left].sum(axis=1)])
        called.append(f"{len(left)} others")
    return shown, called


__all__ = ["Contributions", "WhyDisplay", "contributions"]
