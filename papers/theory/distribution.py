"""Distributions over finitely many points and two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.datasets._checks import RandomState, seed_sequence
from toprank.estimators.validation import check_labels
from toprank.inputs.arguments import check_count

Array = NDArray[np.float64]


class Distribution:
    """A distribution of points and labels with finitely many points.

    It is kept as the two class-conditional distributions P and Q and the share pi of positives:
    a point that is almost surely positive then keeps its tiny Q, though its eta rounds to one.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points.
    marginal : array-like of shape (n_points,)
        The probability M(x) of each point, above zero; they sum to one.
    eta : array-like of shape (n_points,)
        The probability that a point is positive.

    Attributes
    ----------
    X : ndarray of shape (n_points, n_features)
        The points.
    pi : float
        The probability of the positive class.
    positives, negatives : ndarray of shape (n_points,)
        P and Q: how each class is spread over the points.

    Examples
    --------
    >>> from theory import Distribution
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> D
    Distribution(2 points in 1 dimensions, pi=0.4)
    >>> D.positives.round(3), D.negatives.round(3)
    (array([0.25, 0.75]), array([0.667, 0.333]))
    """

    X: Array
    positives: Array
    negatives: Array
    pi: float

    def __init__(self, X: ArrayLike, marginal: ArrayLike, eta: ArrayLike) -> None:
        points = _points(X)
        share = _masses("marginal", marginal, len(points))
        if not share.all():
            raise ValueError(
                f"marginal[{int(np.argmin(share))}] is 0: leave points without probability out."
            )
        chance = _probabilities("eta", eta, len(points))
        positive, negative = share * chance, share * (1.0 - chance)
        for name, mass in (("positive", positive), ("negative", negative)):
            if not mass.any():
                raise ValueError(f"eta gives the {name} class no probability: both are needed.")
        self._set(points, positive, negative, float(positive.sum()))

    def _set(self, X: Array, positive: Array, negative: Array, pi: float) -> Distribution:
        self.X, self.pi = X, pi
        self.positives, self.negatives = positive / positive.sum(), negative / negative.sum()
        for array in (self.X, self.positives, self.negatives):
            array.setflags(write=False)
        return self

    @classmethod
    def from_conditionals(
        cls, X: ArrayLike, positives: ArrayLike, negatives: ArrayLike, pi: float
    ) -> Distribution:
        """The distribution whose classes are spread like this.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            The points.
        positives, negatives : array-like of shape (n_points,)
            P and Q; each sums to one, and no point has zero in both.
        pi : float
            The probability of the positive class, between zero and one.

        Returns
        -------
        Distribution
            The distribution.
        """
        points = _points(X)
        P = _masses("positives", positives, len(points))
        Q = _masses("negatives", negatives, len(points))
        if (nowhere := (P == 0) & (Q == 0)).any():
            raise ValueError(
                f"positives[{(row := int(np.argmax(nowhere)))}] and negatives[{row}] are both 0: "
                "leave points without probability out."
            )
        if not 0.0 < pi < 1.0:
            raise ValueError(f"pi must lie strictly between 0 and 1, got {pi!r}.")
        return cls.__new__(cls)._set(points, P, Q, float(pi))

    @classmethod
    def empirical(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
    ) -> Distribution:
        """The distribution of a sample; equal rows become one point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights; a row of weight zero is left out.
        pos_label : label or None, default=None
            The positive label, as for the estimators.

        Returns
        -------
        Distribution
            The distribution, its points sorted.

        Examples
        --------
        >>> D = Distribution.empirical([[1.0], [0.0], [1.0], [1.0]], [1, 0, 0, 1])
        >>> D.X.ravel(), D.marginal, D.eta.round(3)
        (array([0., 1.]), array([0.25, 0.75]), array([0.   , 0.667]))
        """
        rows = _points(X)
        split = check_labels(y, sample_weight, rows, pos_label)[1]
        weight = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, float)
        weight = weight / weight.max()
        kept = np.concatenate([split.pos, split.neg])
        points, point_of = np.unique(rows[kept], axis=0, return_inverse=True)
        of_positives, of_negatives = np.split(point_of.ravel(), [len(split.pos)])
        P, Q = np.zeros(len(points)), np.zeros(len(points))
        np.add.at(P, of_positives, split.p)
        np.add.at(Q, of_negatives, split.q)
        pi = weight[split.pos].sum() / weight[kept].sum()
        return cls.__new__(cls)._set(points, P, Q, float(pi))

    @property
    def marginal(self) -> Array:
        """M(x), the probability of each point."""
        return np.asarray(self.pi * self.positives + (1.0 - self.pi) * self.negatives)

    @property
    def eta(self) -> Array:
        """The probability that each point is positive."""
        return np.asarray(self.pi * self.positives / self.marginal)

    @property
    def separable(self) -> bool:
        """Whether the label is certain at every point."""
        return not np.any((self.positives > 0) & (self.negatives > 0))

    def sample(
        self, n_samples: int, random_state: RandomState = None
    ) -> tuple[Array, NDArray[np.int64]]:
        """Draw rows and labels, independently.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState, Generator or None, default=None
            An int makes the sample the same in every call.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        y : ndarray of shape (n_samples,)
            1 for positives, 0 for negatives. A small sample may hold one class only.
        """
        n_samples = check_count("n_samples", n_samples)
        rng = np.random.default_rng(seed_sequence(random_state))
        marginal = self.marginal
        point = rng.choice(len(self.X), size=n_samples, p=marginal / marginal.sum())
        return self.X[point], (rng.random(n_samples) < self.eta[point]).astype(np.int64)

    def reversed(self) -> Distribution:
        """The distribution with the classes swapped.

        Returns
        -------
        Distribution
            (Q, P, 1 - pi) in the place of (P, Q, pi).
        """
        swapped = type(self).__new__(type(self))
        return swapped._set(self.X, self.negatives, self.positives, 1.0 - self.pi)

    def __repr__(self) -> str:
        k, d = self.X.shape
        return f"Distribution({k} points in {d} dimensions, pi={self.pi:.4g})"


def _numbers(name: str, value: Any) -> Array:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}.") from error


def _points(X: Any) -> Array:
    points = _numbers("X", X)
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError(f"X must have one row a point and a column at least, got {points.shape}.")
    if not (finite := np.isfinite(points)).all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(f"X[{row}, {column}] is {points[row, column]}: points must be finite.")
    return points


def _probabilities(name: str, value: Any, count: int) -> Array:
    chances = _numbers(name, value)
    if chances.shape != (count,):
        raise ValueError(f"{name} has shape {chances.shape}, but X has {count} rows.")
    if not (inside := (chances >= 0) & (chances <= 1)).all():
        row = int(np.argmin(inside))
        raise ValueError(f"{name}[{row}] is {chances[row]:g}, which is no probability.")
    return chances


def _masses(name: str, value: Any, count: int) -> Array:
    masses = _probabilities(name, value, count)
    if abs((total := masses.sum()) - 1.0) > 1e-9:
        raise ValueError(f"{name} must sum to one, but sums to {total:.10g}.")
    return masses
