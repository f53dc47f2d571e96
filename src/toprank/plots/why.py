"""WhyDisplay: which features put the first rows of a list where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..checks import check_count
from .base import Array, Display, last_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

#: Inches of a cell: room for a number of four characters.
_CELL = (0.62, 0.30)
#: Inches beside the cells: names of rows and the colour bar; names of features.
_MARGIN = (2.4, 1.9)
#: A cell darker than this share of the scale has white letters.
_DARK = 0.6
#: More digits than this do not fit into a cell.
_MOST_DIGITS = 3


class WhyDisplay(Display):
    """Contributions of features to the scores of the rows at the top.

    The contribution of feature j to row i is ``coef_j * (x_ij - mean of x_j)``, with the mean over
    all rows that were given: what the feature adds to the score beyond that of a mean row. A row's
    contributions add up to its score less the mean score. Use `from_estimator`.

    Parameters
    ----------
    contributions : ndarray of shape (k, n_shown)
        What each feature adds to each row; the last column may be that of all others.
    features : list of str
        Their names.
    rows : ndarray of shape (k,)
        Row numbers, best first.
    scores : ndarray of shape (k,)
        The scores of the rows less the mean score.
    row_names : list of str, optional
        What the rows are called.

    Attributes
    ----------
    ax_, figure_
        The axes that were drawn on, and their figure.
    image_ : matplotlib AxesImage
        The cells.

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
        row_names: list[str] | None = None,
    ) -> None:
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
            One with `coef_`, or a pipeline that ends in one. The features are then those
            that the last step sees.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The list.
        k : int, default=10
            How many rows from its top.
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
        weights = _weights(estimator)
        k, most = check_count("k", k), check_count("n_features", n_features)
        seen = estimator[:-1].transform(X) if _has_steps(estimator) else X
        values = sparse.csr_array(seen) if sparse.issparse(seen) else np.asarray(seen, dtype=float)
        if values.ndim != 2 or values.shape[1] != len(weights):
            raise ValueError(
                f"X has shape {values.shape}, and {type(last_step(estimator)).__name__} has "
                f"{len(weights)} weights."
            )
        if k > values.shape[0]:
            raise ValueError(f"k={k} exceeds the {values.shape[0]} rows of X.")
        names = _feature_names(estimator, X, len(weights), feature_names)
        called = _row_names(X, row_names, values.shape[0])
        scores = np.asarray(values @ weights)
        rows = np.argsort(-scores, kind="stable")[:k]
        top: Any = values[rows]
        top = top.toarray() if sparse.issparse(top) else top
        parts = (top - np.asarray(values.mean(axis=0)).ravel()) * weights
        parts, names = _largest(parts, names, most)
        return cls(
            parts,
            names,
            rows,
            scores[rows] - scores.mean(),
            None if called is None else [called[row] for row in rows],
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
        for (i, j), value in np.ndenumerate(self.contributions):
            colour = "white" if abs(value) > _DARK * scale else "black"
            ax.text(j, i, write(value), ha="center", va="center", color=colour, fontsize=8)
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
        ax.set_title("What lifts the first rows above a mean row", fontsize="medium")
        if colorbar:
            bar = self.figure_.colorbar(self.image_, ax=ax, fraction=0.04, pad=0.02)
            bar.set_label("added to the score")
            bar.outline.set_visible(False)
        return self


def _writer(scale: float) -> Callable[[float], str]:
    """Numbers with as many digits as show three of the largest; those that round to 0 as 0."""
    digits = 2 - int(np.floor(np.log10(scale)))
    if not 0 <= digits <= _MOST_DIGITS:
        return "{:+.2g}".format

    def write(value: float) -> str:
        return f"{value:+.{digits}f}" if round(value, digits) else "0"

    return write


def _has_steps(estimator: Any) -> bool:
    return isinstance(estimator, Pipeline) and len(estimator) > 1


def _weights(estimator: Any) -> Array:
    """The weights of a linear ranker, or of the last step of a pipeline."""
    ranker = last_step(estimator)
    check_is_fitted(ranker)
    weights = getattr(ranker, "coef_", None)
    if weights is None:
        raise ValueError(
            f"{type(ranker).__name__} has no coef_: contributions are those of a linear score."
        )
    weights = np.atleast_2d(weights.toarray() if sparse.issparse(weights) else weights)
    if len(weights) != 1:
        raise ValueError(
            f"{type(ranker).__name__} has the weights of {len(weights)} scores: pass a ranker of "
            "two classes."
        )
    return np.asarray(weights[0], dtype=np.float64)


def _feature_names(estimator: Any, X: Any, count: int, given: Sequence[str] | None) -> list[str]:
    if given is not None:
        if len(given) != count:
            raise ValueError(f"feature_names has {len(given)} names for {count} features.")
        return [str(name) for name in given]
    known = getattr(last_step(estimator), "feature_names_in_", None)
    if known is None and _has_steps(estimator):
        try:
            known = estimator[:-1].get_feature_names_out()
        except (AttributeError, ValueError):  # a step without names
            known = None
    if known is None:
        known = [f"x{j}" for j in range(count)]
    return [str(name) for name in known]


def _row_names(X: Any, given: Sequence[Any] | None, count: int) -> list[str] | None:
    if given is None:
        index = getattr(X, "index", None)
        return None if index is None or callable(index) else [str(name) for name in index]
    if len(given) != count:
        raise ValueError(f"row_names has {len(given)} names for {count} rows.")
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


__all__ = ["WhyDisplay"]
