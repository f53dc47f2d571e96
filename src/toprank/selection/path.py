"""The fits of a ranker along a path of alphas, each started from the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..designs import Design
from ..estimators.convex import ConvexRanker
from ..estimators.ranker import SEEN, Learnt
from ..estimators.validation import LabelledRows
from ..inputs.arguments import check_values
from ..inputs.class_split import Split
from ..problems import Certificate
from ..solvers import one_blas_thread
from ..solvers.watch import Watch

Array = NDArray[np.float64]

#: The largest alpha, in units of the rows' mean square. Above it the best weights are nearly
#: a multiple of the gradient of the losses at w = 0, so that the order of rows is the same.
HIGHEST = 1.0
#: The smallest, in the same units: the penalty is then lost beside the losses of most data.
LOWEST = 1e-6


def mean_square(design: Design, split: Split) -> float:
    """Return the mean of |x - mean|^2 over rows of nonzero weight, each class with weight 1/2.

    Thresholds and differences of scores do not depend on the mean.
    """
    rows = np.concatenate([split.pos, split.neg])
    weight = 0.5 * np.concatenate([split.p, split.q])
    mean = design.pull_back(weight, rows)
    square = float(weight @ design.squared_norms(rows))
    spread = square - float(mean @ mean)
    return spread if spread > 1e-12 * square else square  # what is left may be rounding alone


def grid(unit: float, count: int) -> Array:
    """Return `count` alphas in decreasing order, evenly spaced on a logarithmic scale."""
    return (unit or 1.0) * np.geomspace(HIGHEST, LOWEST, count)  # any alpha does for rows of zeros


def check_alphas(alphas: Any) -> Array:
    """Return the given alphas without repetitions, the largest first."""
    values = np.array(check_values("alphas", alphas, above_zero=True))
    if not np.isfinite(values).all():
        raise ValueError(f"alphas[{int(np.argmax(np.isinf(values)))}] is inf: it must be finite.")
    return np.unique(values)[::-1]


def alphas_for(alphas: Any, unit: Callable[[], float]) -> Array:
    """Return the given alphas, or a grid of that many; `unit` returns the rows' mean square."""
    if isinstance(alphas, Integral):
        if isinstance(alphas, bool) or alphas < 1:
            raise ValueError(f"alphas={alphas!r}: pass how many, 1 or more, or a list of them.")
        return grid(unit(), int(alphas))
    return check_alphas(alphas)


@dataclass(frozen=True)
class RankerPath:
    """The fits of a ranker along a path of alphas.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        In decreasing order, as they were fitted.
    rankers : list of estimators
        The fitted ranker of every alpha, with its certificate.
    """

    alphas: Array
    rankers: list[Any]

    @property
    def coefs(self) -> Array:
        """The weights, a row for each alpha."""
        return np.vstack([ranker.coef_ for ranker in self.rankers])

    @property
    def certificates(self) -> list[Certificate]:
        """Primal and dual value of each."""
        return [ranker.certificate_ for ranker in self.rankers]

    def decision_function(self, X: ArrayLike) -> Array:
        """Score rows by every ranker.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_alphas)
            The scores, a column for each alpha.
        """
        return np.column_stack([ranker._decide(X) for ranker in self.rankers])


def path(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    alphas: Any = 9,
    *,
    sample_weight: ArrayLike | None = None,
) -> RankerPath:
    """Fit a ranker at several alphas, the largest first, each fit started from those before.

    The input is checked once. A fit of a smooth loss begins at the best point in the span of the
    last three solutions, which takes no pass over the data to find. Every fit ends with a
    certificate of its own.

    Parameters
    ----------
    estimator : estimator
        A ranker with an `alpha`, a loss and a certificate, such as `TopPush` or `RankSVM`; it is
        left as it is. `BBR` has `bbr_path`, which needs no second pass over the data.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    alphas : int or array-like, default=9
        The values; or how many to take, evenly spaced on a logarithmic scale, from the mean
        square of the rows about their mean down to a millionth of it.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the rows.

    Returns
    -------
    RankerPath
        The fits, and the alphas in decreasing order.

    Examples
    --------
    >>> from toprank import RectPushApp
    >>> from toprank.datasets import load_mammography
    >>> from toprank.selection import path
    >>> X, y = load_mammography(return_X_y=True)
    >>> fits = path(RectPushApp(), X, y, alphas=[1.0, 0.1, 0.01])
    >>> [bool(certificate.relative_gap < 1e-4) for certificate in fits.certificates]
    [True, True, True]
    """
    ranker, rows = checked(estimator, X, y, sample_weight, "path")
    values = alphas_for(alphas, partial(mean_square, rows.design, rows.split))
    rows = near_zero(ranker, rows)
    fits = []
    with one_blas_thread():  # once for all: every fit would set the limit and lift it
        for fitted, learnt in follow(ranker, rows, values):
            fitted._warn(learnt)
            fits.append(fitted)
    return RankerPath(values, fits)


def checked(
    estimator: Any, X: Any, y: Any, sample_weight: Any, wanted_by: str
) -> tuple[ConvexRanker, LabelledRows]:
    """Return a copy of the ranker with its classes and columns, and the checked rows."""
    if isinstance(estimator, type):
        raise TypeError(f"{wanted_by} takes a ranker, not its class: pass {estimator.__name__}().")
    if not isinstance(estimator, ConvexRanker):
        raise TypeError(
            f"{wanted_by} follows a ranker along alpha, so it takes one that minimises "
            f"alpha/2 |w|^2 + a loss, such as TopPush, RectPushApp or RankSVM; not "
            f"{type(estimator).__name__}. BBR has bbr_path and BBRCV; in a Pipeline, let RankerCV "
            "be the last step."
        )
    ranker = clone(estimator)
    ranker._validate_params()
    rows = ranker._check(X, y, sample_weight)
    return ranker, rows


def near_zero(ranker: ConvexRanker, rows: LabelledRows) -> LabelledRows:
    """Return centred rows if the loss depends on differences of scores only."""
    if not ranker._loss(rows.split).shift_invariant:
        return rows
    return replace(rows, design=rows.design.centred(rows.split.rows))  # type: ignore[arg-type]


def follow(
    ranker: ConvexRanker, rows: LabelledRows, alphas: Iterable[float]
) -> Iterator[tuple[ConvexRanker, Learnt]]:
    """Yield the fitted ranker at every alpha, with the result of its fit."""
    walker = like(ranker, warm_start=True)
    problem = ranker._problem(rows.design, rows.split)  # what is known of the rows is shared
    for alpha in map(float, alphas):
        walker.alpha = alpha
        watch = Watch(problem.design, verbose=ranker.verbose)
        watch.passes_before = problem.design.passes
        learnt = walker._minimise(problem.at_alpha(alpha), watch)
        fitted = object.__new__(type(ranker))
        fitted.__dict__.update(vars(ranker), **learnt.attributes(), alpha=alpha)
        yield fitted, learnt


def like(ranker: ConvexRanker, **parameters: Any) -> ConvexRanker:
    """Return a copy with other parameters and the ranker's attributes of the data."""
    other = clone(ranker).set_params(**parameters)
    other.__dict__.update({name: value for name, value in vars(ranker).items() if name in SEEN})
    return other  # type: ignore[no-any-return]


__all__ = [
    "RankerPath",
    "alphas_for",
    "check_alphas",
    "checked",
    "follow",
    "grid",
    "like",
    "mean_square",
    "near_zero",
    "path",
]
