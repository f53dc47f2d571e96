"""What a HeadRanker promises of the rows it puts first."""

from __future__ import annotations

from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ...guarantees import HeadBound, HeadStatement, Selection
from ...inputs.arguments import check_number
from ...inputs.dispatch import require_local
from ...inputs.folds import Folds
from ...inputs.labels import known_positive
from .features import decisions_of
from .setup import Capacity, rows_asked_for

Array = NDArray[np.float64]

#: Rows that are looked at together for those.
_BLOCK = 10_000
#: How many rows a calibration needs.
_ENOUGH = "three negatives for every row of a list are enough"


class HeadPromises:
    """Selection of rows, and what is promised of them: by calibration rows, or by the folds."""

    _of_folds: ClassVar[tuple[str, ...]] = (
        "fold_models_", "folds_", "oof_scores_", "_positive", "_weight",
    )  # fmt: skip
    capacity: Any
    list_size: int | None
    classes_: NDArray[Any]
    oof_scores_: Array
    fold_models_: list[Any]
    folds_: Folds
    _positive: NDArray[np.bool_]
    _weight: Array | None
    _calibration: dict[str, Any]
    _known_rows: NDArray[np.uint64]

    def calibrate(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the scores of labelled rows that had no part in the fit, for `promise`.

        Three negatives for every row of a list are enough. Without calibration rows `promise`
        goes by the rows that the folds held out, and approximately.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; those of the fit are refused.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            As in `HeadBound.fit`.

        Returns
        -------
        self
            The same ranker, calibrated.
        """
        require_local(X, "calibrate", f"pass some of them, {_ENOUGH}")
        scores = self._decide(X)  # type: ignore[attr-defined]
        positive = known_positive(y, self.classes_, self.classes_[1], len(scores))
        # Tables have equal rows, but not 90 % of a sample of the training rows.
        if share_of_known(self._known_rows, self._design(X, reset=False).X) >= 0.9:  # type: ignore[attr-defined]
            raise ValueError(
                "These are the rows of the fit, and their scores look better than those of new "
                "rows: no promise can rest on them. Pass rows that were held out, or call promise "
                "without calibrate, which goes by the folds."
            )
        self._calibration = {"y": positive, "scores": scores}
        if sample_weight is not None:
            self._calibration["sample_weight"] = np.asarray(sample_weight, dtype=np.float64)
        return self

    def statement(
        self, X: ArrayLike, *, confidence: float = 0.95, assume: str = "negatives"
    ) -> HeadStatement:
        """State what can be promised of a list, for every k.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the list.
        confidence : float in (0, 1), default=0.95
            How sure the promise is to be.
        assume : {"negatives", "rows"}, default="negatives"
            As in `HeadBound`; "rows" needs `calibrate`.

        Returns
        -------
        HeadStatement
            The bounds.
        """
        require_local(X, "A promise", "bring the list here, X.compute()")
        sure = check_number("confidence", confidence, 0.0, 1.0, ends="()")
        self._check_fitted()  # type: ignore[attr-defined]
        bound = HeadBound(confidence=sure, assume=assume, random_state=0)
        if hasattr(self, "_calibration"):
            scores = self._decide(X)  # type: ignore[attr-defined]
            return bound.fit(**self._calibration).of(scores)
        if "oof_scores_" not in vars(self):
            raise ValueError(
                "Without calibrate, bounds need the scores of the folds, which model files leave "
                "out: call calibrate(X, y) with rows that had no part in the fit, or write the "
                "file with toprank.save(model, path, folds=True)."
            )
        fold = np.full(len(self.oof_scores_), -1)
        for number, (_, held_out) in enumerate(self.folds_):
            fold[held_out] = number
        there = (fold >= 0) & ~np.isnan(self.oof_scores_) & self._counted()
        design: Any = self._design(X, reset=False)  # type: ignore[attr-defined]
        new = np.array([decisions_of(model, design.X) for model in self.fold_models_])
        bound.fit(self._positive[there], self.oof_scores_[there], fold=fold[there])
        return bound.of(new)

    def _counted(self) -> NDArray[np.bool_]:
        """Which rows of the fit a promise may rest on: those of a weight, if it is the same one."""
        if self._weight is None:
            return np.ones(len(self._positive), dtype=bool)
        counted = np.asarray(self._weight > 0.0)
        if np.ptp(self._weight[counted & ~self._positive]) > 0.0:
            raise ValueError(
                "The negatives of the fit have different weights, and a promise by folds takes "
                "them all alike: calibrate with rows that were held out, calibrate(X, y)."
            )
        return counted

    def promise(
        self,
        X: ArrayLike,
        k: float | None = None,
        *,
        precision: float | None = None,
        fdr: float | None = None,
        confidence: float = 0.95,
    ) -> Selection:
        """Select rows of a list, and promise how many of them are positive.

        Without `calibrate` the models of the folds rank the list together, so that the rows may
        be a little different from those of `select`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the list.
        k : int, float or None, default=None
            As in `select`.
        precision, fdr : float in (0, 1), optional
            In place of k, as in `HeadStatement.select`.
        confidence : float in (0, 1), default=0.95
            How sure the promise is to be.

        Returns
        -------
        Selection
            `rows`, `lower` (the least number of positives among them) and `text`.
        """
        statement = self.statement(X, confidence=confidence)
        whole = None if k is None else rows_asked_for(k, statement.n_rows)
        if whole is None and precision is None and fdr is None:
            whole = self._capacity_rows(self._decide(X))  # type: ignore[attr-defined]
        return statement.select(whole, precision=precision, fdr=fdr)

    def select(
        self,
        X: ArrayLike,
        k: float | None = None,
        *,
        precision: float | None = None,
        fdr: float | None = None,
        confidence: float = 0.95,
    ) -> NDArray[np.int64]:
        """The rows to look at, the best first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        k : int, float or None, default=None
            Number or share of the rows. None takes the capacity: that many rows if it is a
            number, no more than there are, and else that share of these. Without a capacity it
            takes the rows that `predict` calls positive.
        precision, fdr : float in (0, 1), optional
            In place of k: the most rows of which surely, or on average over lists, no more than
            the rest are negative; as in `promise`.
        confidence : float in (0, 1), default=0.95
            For `precision`: how sure.

        Returns
        -------
        ndarray of shape (n_selected,)
            Row numbers.
        """
        require_local(X, "select", "toprank.dask.top(model, X, k) gives the k highest")
        if precision is not None or fdr is not None:
            return self.promise(X, k, precision=precision, fdr=fdr, confidence=confidence).rows
        scores = self._decide(X)  # type: ignore[attr-defined]
        rows = self._capacity_rows(scores) if k is None else rows_asked_for(k, len(scores))
        return np.argsort(-scores, kind="stable")[:rows]

    def _capacity_rows(self, scores: Array) -> int:
        """How many rows of a list there is room for, or `predict` calls positive."""
        if self.capacity is None:
            return int((scores > 0.0).sum())
        if isinstance(self.capacity, Integral):
            return min(int(self.capacity), len(scores))
        return Capacity(float(self.capacity)).rows_of(len(scores))


def row_digests(X: Any) -> NDArray[np.uint64]:
    """Digests of some rows, evenly spread."""
    n = X.shape[0]
    return _digests(X, np.unique(np.linspace(0, n - 1, min(n, 256)).astype(int)))


def share_of_known(known: NDArray[np.uint64], X: Any) -> float:
    """The share of remembered rows that is among these."""
    rows = X if sparse.issparse(X) else np.asarray(X)
    found = np.zeros(len(known), dtype=bool)
    for start in range(0, rows.shape[0], _BLOCK):
        block = np.arange(start, min(start + _BLOCK, rows.shape[0]))
        found |= np.isin(known, _digests(rows, block))
    return float(found.mean())


def _digests(X: Any, rows: NDArray[np.intp]) -> NDArray[np.uint64]:
    """A number for each row, the same for equal rows."""
    if sparse.issparse(X):
        part = sparse.csr_array(X)[rows]
        part.sum_duplicates()
        part.eliminate_zeros()
        bounds = zip(part.indptr[:-1], part.indptr[1:], strict=True)
        parts = [
            part.indices[a:b].astype(np.int64).tobytes() + part.data[a:b].astype(float).tobytes()
            for a, b in bounds
        ]
    else:
        parts = [row.tobytes() for row in np.ascontiguousarray(X[rows], dtype=np.float64)]
    digests = b"".join(blake2b(one, digest_size=8).digest() for one in parts)
    return np.frombuffer(digests, dtype=np.uint64)


__all__ = ["HeadPromises", "row_digests", "share_of_known"]
