"""Whether the optimum of TopPush is trivial, with a proof.

w = 0 is optimal for TopPush, whatever alpha and the loss, just when the mean of the positives
lies in the convex hull of the negatives. Either answer has a proof that a few lines can check: a
direction in which the mean is above every negative, or weights of the negatives that give the
mean.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from ..designs import Design
from ..estimators.validation import check_labels, check_matrix
from ..exceptions import TrivialSolutionWarning
from ..inputs.class_split import Split
from ..methods import TopPush

Array = NDArray[np.float64]

#: The mean is in the hull if weights bring a mean of negatives as near as this share of `scale`.
_NEAR = 1e-10
#: TopPush's alpha, in squares of `scale`: small, so that a direction, if there is one, pays.
_ALPHA = 1e-3
#: Rounds of the search for the nearest point of the hull, and negatives it adds in each.
_ROUNDS, _ADDED = 300, 20
_UNPROVED = (
    "Whether the mean of the positives lies in the convex hull of the negatives could not be "
    "proved either way: it is too near the boundary for floating point. Scale the features, for "
    "instance with sklearn.preprocessing.StandardScaler."
)


@dataclass(frozen=True)
class Triviality:
    """An answer to `is_trivial`, and its proof.

    Parameters
    ----------
    trivial : bool
        Whether the mean positive lies in the convex hull of the negatives.
    direction : ndarray of shape (n_features,) or None
        If it does not: a w of length one with w.mean > w.x for every negative x, by `distance`.
    weights : ndarray of shape (n_samples,) or None
        If it does: weights of the rows, zero outside the negatives, not negative and of sum one,
        with which the rows have the mean positive for their mean, to within `distance`.
    distance : float
        Between the mean positive and the hull: at most this if trivial, at least this if not.
        Where it is not zero for a trivial answer, it is rounding.
    scale : float
        The median distance of a negative from the mean positive, to compare `distance` with; the
        length of positives where every negative coincides with their mean.

    Examples
    --------
    >>> from toprank.theory import is_trivial
    >>> answer = is_trivial([[3.0], [1.0], [2.0]], [1, 0, 0])
    >>> answer.trivial, answer.direction, round(answer.distance, 6)
    (False, array([1.]), 1.0)
    """

    trivial: bool
    direction: Array | None
    weights: Array | None
    distance: float
    scale: float


def is_trivial(
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> Triviality:
    """Whether TopPush has a trivial optimum on these data: the same score for every row.

    TopPush itself finds a direction, or weights that almost prove that there is none: by Jensen's
    inequality any w better than zero is a direction, and at w = 0 the dual variables of the
    negatives are the weights. From them the point of the hull that is nearest to the mean is
    found by least squares over a growing list of negatives. What is returned was verified.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two labels; `pos_label` is the positive one, or else the greater.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the positives in their mean; a row of weight zero is left out.
    pos_label : label or None, default=None
        The positive label, as for TopPush.

    Returns
    -------
    Triviality
        The answer with its proof. A distance below 1e-10 of `scale` counts as zero, if no
        direction shows that it is not.

    Raises
    ------
    ArithmeticError
        If neither proof can be completed in floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.datasets import load_mammography
    >>> from toprank.theory import is_trivial
    >>> X, y = load_mammography(return_X_y=True)
    >>> answer = is_trivial(X, y)
    >>> answer.trivial
    True
    >>> bool(np.allclose(answer.weights @ X, X[y == 1].mean(axis=0)))
    True
    """
    design = check_matrix(TopPush(), X, reset=True)
    split = check_labels(y, sample_weight, design, pos_label)[1]
    hull = _Hull(design, split)
    if hull.scale == 0.0:  # nothing but zeros
        return hull.search(np.zeros(len(split.neg)))
    ranker = TopPush(
        _ALPHA * hull.scale**2, tol=1e-6, max_iter=1000, warm_start=True, pos_label=pos_label
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # whatever it reached is a start
        ranker.fit(X, y, sample_weight)
    found = hull.direction_proves(ranker.coef_[0])
    return found or hull.search(np.maximum(ranker._solution.dual[split.neg], 0.0))


class _Hull:
    """The convex hull of the negatives, and the mean positive m."""

    def __init__(self, design: Design, split: Split) -> None:
        self._design, self._split = design, split
        self._mean = design.pull_back(split.p, split.pos)
        norms = np.sqrt(design.squared_norms())
        self._norms = norms[split.neg]
        self._mean_norm = float(split.p @ norms[split.pos])
        squares = self._norms**2 - 2.0 * self._scores(self._mean) + self._mean @ self._mean
        apart = np.sqrt(np.maximum(squares, 0.0))
        apart = apart[apart > 1e-7 * (self._norms + self._mean_norm)]  # the rest is rounding
        self.scale = float(np.median(apart)) if len(apart) else self._mean_norm

    def _scores(self, w: Array) -> Array:
        return self._design.scores(w, self._split.neg)

    def direction_proves(self, w: Array) -> Triviality | None:
        """The answer "no" if w.m exceeds w.x for all negatives x by more than any rounding."""
        length = float(np.linalg.norm(w))
        if length == 0.0:
            return None
        w = w / length
        unit = np.finfo(np.float64).eps * (self._design.shape[1] + 2)
        error = (unit + np.finfo(np.float64).eps * len(self._split.pos)) * self._mean_norm
        mean = float(self._split.p @ self._design.scores(w, self._split.pos))
        margin = mean - error - float(np.max(self._scores(w) + unit * self._norms))
        return Triviality(False, w, None, float(margin), self.scale) if margin > 0 else None

    def weights_prove(self, listed: NDArray[np.int64], q: Array) -> Triviality | None:
        """The answer "yes" if the mean of listed negatives, with weights q, is m."""
        weights = np.zeros(self._split.n_rows)
        weights[self._split.neg[listed]] = q
        distance = float(np.linalg.norm(self._design.pull_back(weights) - self._mean))
        if distance > _NEAR * self.scale:
            return None
        return Triviality(True, None, weights, distance, self.scale)

    def search(self, delta: Array) -> Triviality:
        """Find the nearest point of the hull, beginning with the negatives that delta charges.

        Fully corrective: least squares over the listed negatives give the nearest point h of
        their hull; either m - h is a direction, or the negatives farthest along it join the list.
        """
        listed = np.flatnonzero(delta > 1e-12 * delta.max())
        listed = listed if len(listed) else np.array([0])
        best = np.inf
        for _ in range(_ROUNDS):
            arrows = self._design.take(self._split.neg[listed]) - self._mean
            q = _nearest(arrows / (self.scale or 1.0))
            used = q > 0
            listed, q, arrows = listed[used], q[used], arrows[used]
            towards = -(q @ arrows)
            if found := self.weights_prove(listed, q):
                return found
            if self.direction_proves(towards):
                break
            length = float(np.linalg.norm(towards))
            scores = self._scores(towards)
            farthest = np.argpartition(-scores, min(_ADDED, len(scores)) - 1)[:_ADDED]
            added = np.setdiff1d(farthest, listed)
            if not len(added) or length >= best * (1.0 - 1e-15):
                break
            best, listed = length, np.concatenate([listed, added])
        if found := self.direction_proves(_across(towards, arrows)):
            return found
        if found := self.direction_proves(towards):
            return found
        raise ArithmeticError(_UNPROVED)


def _nearest(arrows: Array) -> Array:
    """The convex weights of rows whose mean is nearest to the origin.

    With a column of ones and the target (0, ..., 0, 1), weights of any sum s cost
    s^2 |mean|^2 + (1 - s)^2, which the best s makes |mean|^2 / (1 + |mean|^2): the nearest mean.
    """
    matrix = np.column_stack([arrows, np.ones(len(arrows))]).T
    target = np.zeros(len(matrix))
    target[-1] = 1.0
    if len(matrix) > len(arrows):  # many columns: the same squares from a small triangle
        triangle = np.asarray(np.linalg.qr(np.column_stack([matrix, target]), mode="r"))
        matrix, target = triangle[:, :-1], triangle[:, -1]
    try:
        q: Array = nnls(matrix, target, maxiter=30 * matrix.shape[1])[0]
    except RuntimeError as error:
        raise ArithmeticError(_UNPROVED) from error
    return np.asarray(q / q.sum())


def _across(towards: Array, arrows: Array) -> Array:
    """The part of a direction that is at right angles to the face whose corners these are.

    It is what `towards` should be. Very near to a face the rounding of its corners hides that.
    """
    face = (arrows[1:] - arrows[0]).T
    for _ in range(2):  # the second time in the scale of what is left
        towards = towards - face @ np.linalg.lstsq(face, towards, rcond=None)[0]
    return towards
