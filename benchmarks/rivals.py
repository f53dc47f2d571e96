"""Who runs: toprank twice, scikit-learn's LIBLINEAR twice, and a fit that only checks its input.

Every entry of `CONTENDERS` makes an unfitted estimator from alpha, the number of rows and a seed.
All use one regularisation: with balanced classes, alpha/2 |w|^2 + mean loss of the positives + mean
loss of the negatives is LIBLINEAR's objective with C = 2 / (alpha N), times alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils import check_X_y

from toprank import RectPush, TopPush

TOLERANCE = 1e-4
Maker = Callable[[float, int, int], Any]


def toppush(alpha: float, _rows: int, seed: int) -> TopPush:
    """TopPush to a certified relative duality gap of 1e-4."""
    return TopPush(alpha, tol=TOLERANCE, n_threads=1, random_state=seed)


def rectpush(alpha: float, _rows: int, seed: int) -> RectPush:
    """RectPush to a certified relative duality gap of 1e-4."""
    return RectPush(alpha, tol=TOLERANCE, n_threads=1, random_state=seed)


def logistic_regression(alpha: float, rows: int, _seed: int) -> LogisticRegression:
    """LIBLINEAR's trust region Newton method for logistic regression (Lin, Weng, Keerthi 2008)."""
    return LogisticRegression(
        solver="liblinear", tol=TOLERANCE, class_weight="balanced", C=2 / (alpha * rows)
    )


def linear_svc(alpha: float, rows: int, _seed: int) -> LinearSVC:
    """LIBLINEAR's trust region Newton method for the squared hinge, in the primal."""
    return LinearSVC(dual=False, tol=TOLERANCE, class_weight="balanced", C=2 / (alpha * rows))


def hinge_svc(alpha: float, rows: int, seed: int, tol: float = 0.1) -> LinearSVC:
    """LIBLINEAR's dual coordinate descent for the hinge on points, with its own default tolerance.

    Balanced classes and no intercept: the total weight of the loss is 1 / alpha.
    """
    return LinearSVC(
        C=1 / (alpha * rows),
        loss="hinge",
        fit_intercept=False,
        class_weight="balanced",
        tol=tol,
        max_iter=10_000,
        random_state=seed,
    )


class ChecksOnly(BaseEstimator):
    """The control: checks X and y as every scikit-learn fit does, and returns zeros."""

    def fit(self, X: Any, y: np.ndarray) -> ChecksOnly:
        """Check the input and learn nothing."""
        X, y = check_X_y(X, y, accept_sparse="csr")
        self.classes_ = np.unique(y)
        self.coef_ = np.zeros((1, X.shape[1]))
        return self


def checks_only(_alpha: float, _rows: int, _seed: int) -> ChecksOnly:
    """What checking the input alone costs: the floor of any fit."""
    return ChecksOnly()


OURS = {"TopPush": toppush, "RectPush": rectpush}
LOGISTIC, SVC, CONTROL = "LR", "SVC", "checks"
CONTENDERS: dict[str, Maker] = {
    **OURS,
    LOGISTIC: logistic_regression,
    SVC: linear_svc,
    CONTROL: checks_only,
}
