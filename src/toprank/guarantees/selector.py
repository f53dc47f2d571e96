"""HeadSelector: promises about the rows that a fitted model puts first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inputs.labels import known_positive, positive_last
from .headbound import HeadBound
from .statement import HeadStatement, Selection

Array = NDArray[np.float64]


class HeadSelector:
    """Select the rows that a fitted model puts first, and promise how many of them are positive.

    Any model with `decision_function` or `predict_proba` will do: this library's, scikit-learn's,
    boosted trees. The promise and what must be true for it are those of `HeadBound`.

    Parameters
    ----------
    model : fitted classifier
        It ranks the rows.
    bound : HeadBound, optional
        The kind of promise; without it `HeadBound()`.
    pos_label : label, optional
        The label that is to come first. Without it that is the second of the model's `classes_`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from toprank.datasets import load_spambase
    >>> from toprank.guarantees import HeadSelector
    >>> X, y = load_spambase(return_X_y=True)
    >>> X, X_rest, y, y_rest = train_test_split(X, y, train_size=1000, random_state=0)
    >>> X_cal, X_new, y_cal, y_new = train_test_split(X_rest, y_rest, random_state=0)
    >>> model = LogisticRegression(max_iter=5000).fit(X, y)
    >>> selector = HeadSelector(model).calibrate(X_cal, y_cal)
    >>> chosen = selector.select(X_new, k=100)
    >>> bool(y_new[chosen.rows].sum() >= chosen.lower > 80)
    True
    """

    def __init__(
        self, model: Any, bound: HeadBound | None = None, *, pos_label: Any = None
    ) -> None:
        self.model, self.pos_label = model, pos_label
        self.bound = HeadBound() if bound is None else bound
        self._calibrated = False

    def calibrate(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> HeadSelector:
        """Score labelled rows that the model has not seen, and keep the scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The calibration rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            As in `HeadBound.fit`.

        Returns
        -------
        HeadSelector
            The same object.
        """
        scores, positive = scores_of(self.model, X, self.pos_label)
        labels = known_positive(y, self.model.classes_, positive, len(scores))
        self.bound.fit(labels, scores, sample_weight=sample_weight)
        self._calibrated = True
        return self

    def statement(self, X: ArrayLike, *, confidence: float | None = None) -> HeadStatement:
        """State what can be promised of a list of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (N, n_features)
            The rows of the list.
        confidence : float in (0, 1), optional
            Another confidence than the bound's.

        Returns
        -------
        HeadStatement
            The bounds, for every k.
        """
        if not self._calibrated:
            raise ValueError("This HeadSelector has no calibration rows yet: call calibrate first.")
        return self.bound.of(scores_of(self.model, X, self.pos_label)[0], confidence=confidence)

    def select(
        self,
        X: ArrayLike,
        k: int | None = None,
        *,
        precision: float | None = None,
        fdr: float | None = None,
        confidence: float | None = None,
    ) -> Selection:
        """Select rows of a list, and promise how many of them are positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (N, n_features)
            The rows of the list.
        k, precision, fdr
            One of them, as in `HeadStatement.select`.
        confidence : float in (0, 1), optional
            Another confidence than the bound's.

        Returns
        -------
        Selection
            `rows`, `lower` and `text`.
        """
        statement = self.statement(X, confidence=confidence)
        return statement.select(k, precision=precision, fdr=fdr)


def scores_of(model: Any, X: Any, pos_label: Any = None) -> tuple[Array, Any]:
    """Return the scores of rows by a fitted model, high for the positive label, and that label."""
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) != 2:
        found = "none" if classes is None else str(len(classes))
        raise ValueError(
            f"{type(model).__name__} must be a fitted classifier of two classes, with classes_; "
            f"it has {found}."
        )
    positive = positive_last(np.asarray(classes), pos_label)[1]
    first = bool(positive == classes[0])
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        return (-scores if first else scores), positive
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 0 if first else 1], positive
    raise ValueError(
        f"{type(model).__name__} has neither decision_function nor predict_proba. Score the rows "
        "yourself, and pass the scores to HeadBound."
    )


__all__ = ["HeadSelector", "scores_of"]
