"""Rankers that learn from sums over pairs: given pairs, merging, and the solution."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..base import Ranker, warn_trivial
from ..problem import Certificate
from ..solvers.quadratic import certify, decompose
from ._pair_sums import Features, PairSums, check_pairs

Array = NDArray[np.float64]


class PairRanker(Ranker):
    """A ranker that minimises alpha/2 |w|^2 + mean (1 - w.psi)^2 / 2, |w| <= radius, over pairs."""

    alpha: float
    radius: float | None
    features: Features | None
    certificate_: Certificate
    multiplier_: float
    trivial_: bool
    n_pairs_: int
    _sums: PairSums

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "radius": [None, Interval(Real, 0, None, closed="neither")],
        "n_threads": [None, Interval(Integral, 1, 4096, closed="both")],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_pairs(self, Psi: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from pairs that are known by their features only.

        Parameters
        ----------
        Psi : array-like or sparse matrix of shape (n_pairs, n_pair_features)
            A row for each pair: its features, the member that was preferred being the first.
        sample_weight : array-like of shape (n_pairs,), optional
            A pair of weight 2 counts as two, one of weight 0 as none.

        Returns
        -------
        self
            The fitted ranker.
        """
        for name in ("_sums", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.partial_fit_pairs(Psi, sample_weight)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit_pairs(self, Psi: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from more pairs, and from all before; in what portions they come has no effect.

        Parameters
        ----------
        Psi : array-like or sparse matrix of shape (n_pairs, n_pair_features)
            A row for each pair: its features, the member that was preferred being the first.
        sample_weight : array-like of shape (n_pairs,), optional
            A pair of weight 2 counts as two, one of weight 0 as none.

        Returns
        -------
        self
            The ranker as it is after these pairs.
        """
        before: PairSums | None = getattr(self, "_sums", None)
        width = None if before is None else before.width
        design, weight = check_pairs(Psi, sample_weight, width, self.n_threads)
        if self.features is None and not hasattr(self, "n_features_in_"):
            self.n_features_in_ = design.shape[1]
        if not hasattr(self, "classes_"):
            self.classes_ = np.array([0, 1])
        return self._add(PairSums.of_pairs(design, weight))

    def merge(self, other: PairRanker) -> Self:
        """Take in what another ranker has learnt from its pairs.

        Parameters
        ----------
        other : same class
            A fitted ranker with the same features of a pair.

        Returns
        -------
        self
            The ranker of the pairs of both.
        """
        check_is_fitted(self, "coef_")
        check_is_fitted(other, "coef_")
        if self.coef_.shape != other.coef_.shape or self.features != other.features:
            raise ValueError(
                "other has other features of a pair: only rankers with the same `features` and "
                "as many weights can be merged."
            )
        if not np.array_equal(self.classes_, other.classes_):
            raise ValueError(
                f"other has the classes {other.classes_.tolist()}, this ranker "
                f"{self.classes_.tolist()}: only rankers of the same labels can be merged."
            )
        return self._add(other._sums)

    def score_pairs(self, Psi: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The Wilcoxon-Mann-Whitney statistic of pairs: which share of them is put in order.

        Parameters
        ----------
        Psi : array-like or sparse matrix of shape (n_pairs, n_pair_features)
            A row for each pair: its features, the member that was preferred being the first.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        float
            The weighted share of pairs with w.psi above zero; ties count half.
        """
        check_is_fitted(self, "coef_")
        design, weight = check_pairs(Psi, sample_weight, self.coef_.shape[1], self.n_threads)
        order = (1.0 + np.sign(design.scores(self.coef_[0]))) / 2.0
        return float(np.average(order, weights=weight))

    def _add(self, sums: PairSums) -> Self:
        before: PairSums | None = getattr(self, "_sums", None)
        return self._keep(sums if before is None else before.merge(sums))

    def _keep(self, sums: PairSums) -> Self:
        """Solve, and set the fitted attributes."""
        self._sums = sums
        moments, alpha = sums.moments, float(self.alpha)
        radius = np.inf if self.radius is None else float(self.radius)
        decomposition = decompose(moments.second(), moments.mean)
        solution = decomposition.solve(alpha=alpha, radius=radius)
        w = solution.w
        self.certificate_ = certify(
            moments.value(w, alpha),
            moments.gradient(w, alpha),
            w,
            alpha=alpha,
            radius=radius,
            smallest=decomposition.smallest,
        )
        self.coef_ = w[np.newaxis].copy()
        scored = self.features is None and sums.n_from_rows > 0
        self.intercept_ = np.array([-float(sums.middle @ w) if scored else 0.0])
        self.multiplier_ = solution.multiplier
        self.n_pairs_ = sums.n_pairs
        self.trivial_ = not w.any()
        if self.trivial_:
            warn_trivial(
                self,
                "The features of the pairs have a mean of zero, so that no direction puts the "
                "first before the second on average, at any alpha.",
                "Draw more pairs, or try other features.",
            )
        return self
