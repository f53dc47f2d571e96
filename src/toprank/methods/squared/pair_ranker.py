"""Rankers that learn from sums over pairs: given pairs, merging, and the solution."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ...estimators.ranker import SEEN, fitting
from ...solvers.watch import Watch
from .base import SquaredLossRanker
from .pairs import Features, PairSums, check_pairs
from .risks import MomentRisk


class PairRanker(SquaredLossRanker):
    """A ranker by the squared loss over pairs that were drawn, or given."""

    features: Features | None
    n_pairs_: int
    _sums: PairSums
    #: What the sums are of.
    _features_seen: Features | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: SquaredLossRanker._parameter_constraints[name]
        for name in ("alpha", "radius", "n_threads", "verbose", "pos_label")
    }

    _why_trivial: ClassVar[str] = (
        "The features of the pairs have a mean of zero, so that no direction puts the first before "
        "the second on average."
    )
    _instead: ClassVar[str] = "Draw more pairs, or try other features."

    @fitting
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
        self._restart()
        self._take_pairs(Psi, sample_weight)
        self._keep(self._solved(self._sums.risk(), Watch(verbose=self.verbose)))
        return self

    @fitting
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
        return self._take_pairs(Psi, sample_weight)

    def merge(self, other: PairRanker) -> Self:
        """Take in the pairs another ranker has seen, as if they had been seen here.

        Parameters
        ----------
        other : same class
            A ranker of the same features of a pair; it is left as it is.

        Returns
        -------
        self
            The ranker of the pairs of both.
        """
        if not isinstance(other, type(self)):
            raise TypeError(
                f"A {type(self).__name__} merges with its like, not with {type(other).__name__}."
            )
        theirs, kept = other._kept_sums(), self._kept_sums()
        if theirs is None:
            return self
        same = self.features == other._features_seen
        if kept is None and same:
            self._take_over(other)
        elif kept is None or kept.width != theirs.width or not same:
            raise ValueError(
                "Cannot merge: the rankers have other features of a pair. They need the same "
                "`features`, and the same number of them."
            )
        else:
            self._check_classes(other)
        return self._add(theirs)

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

    def _take_pairs(self, Psi: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        kept = self._kept_sums()
        width = None if kept is None else kept.width
        design, weight = check_pairs(Psi, sample_weight, width, self.n_threads)
        if self.features is None and "n_features_in_" not in self.__dict__:
            self.n_features_in_ = design.shape[1]
        if "classes_" not in self.__dict__:
            self.classes_ = np.array([0, 1])
        return self._add(PairSums.of_pairs(design, weight))

    def _add(self, sums: PairSums) -> Self:
        """Take in more pairs; the problem is solved when its solution is next asked for."""
        kept = self._kept_sums()
        if kept is not None and self._features_seen != self.features:
            raise ValueError(
                "features was changed since the pairs before: set it back, or begin anew with fit."
            )
        self._sums, self._features_seen = sums if kept is None else kept.merge(sums), self.features
        self.n_pairs_ = self._sums.n_pairs
        self._forget_solution()
        return self

    def _restart(self) -> None:
        """Forget all pairs, and what they were pairs of."""
        for name in ("_sums", "n_pairs_", *SEEN):
            self.__dict__.pop(name, None)
        self._forget_solution()

    def _kept(self) -> dict[str, Any]:
        return {"n_pairs_": self._sums.n_pairs}

    def _kept_sums(self) -> PairSums | None:
        return self.__dict__.get("_sums")

    def _kept_risk(self) -> MomentRisk | None:
        kept = self._kept_sums()
        return None if kept is None else kept.risk()

    def _lacks(self) -> str:
        if self._kept_sums() is None:
            return "has seen no pair yet: a pair needs a row of each class"
        return ""
