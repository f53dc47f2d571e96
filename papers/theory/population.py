"""The best linear score of a distribution: a weighted fit, each point once in either class."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from toprank.estimators.convex import ConvexRanker
from toprank.exceptions import TrivialSolutionWarning
from toprank.inputs.arguments import check_choice
from toprank.methods import PNormPush, RectPush, RectPushApp, ReverseRectPush, TopPush
from toprank.problems import Certificate

from . import approximations, risks
from .distribution import Distribution
from .margins import check_loss

Array = NDArray[np.float64]

#: The method that minimises a risk over linear scores.
_METHODS: dict[str, Callable[..., ConvexRanker]] = {
    "auc": TopPush,
    "balanced": RectPushApp,
    "ptop": TopPush,
    "ptop_app": PNormPush,
    "recttop": RectPush,
    "recttop_app": RectPushApp,
    "reverse_recttop": ReverseRectPush,
}
_RISKS: dict[str, Callable[..., float]] = {
    "auc": risks.auc_risk,
    "balanced": risks.balanced_risk,
    "ptop": risks.ptop_risk,
    "ptop_app": approximations.ptop_app_risk,
    "recttop": risks.recttop_risk,
    "recttop_app": approximations.recttop_app_risk,
    "reverse_recttop": risks.reverse_recttop_risk,
}
_LINEAR_LOSSES = ("squared_hinge", "logistic", "exponential")


@dataclass(frozen=True)
class LinearScorer:
    """The score w.x + b, and how good it is.

    Parameters
    ----------
    w : ndarray of shape (n_features,)
        The weights.
    b : float
        The constant.
    risk : float
        The risk of the score on the distribution, without regularisation.
    certificate : Certificate
        The bracket of the regularised minimum, as the method's fit has it.

    Examples
    --------
    >>> from theory import Distribution, population_minimiser
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> scorer = population_minimiser(D, "recttop")
    >>> scorer.trivial, round(scorer.risk, 4), scorer.scores([[0.0]]).round(3)
    (False, 1.8106, array([-0.455]))
    """

    w: Array
    b: float
    risk: float
    certificate: Certificate

    @property
    def trivial(self) -> bool:
        """Whether the score is the same everywhere."""
        return not self.w.any()

    def scores(self, X: ArrayLike) -> Array:
        """Score points.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_points,)
            X w + b.
        """
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.w + self.b)


def population_minimiser(
    D: Distribution,
    risk: str,
    *,
    loss: str = "squared_hinge",
    p: float | None = None,
    alpha: float = 1e-8,
    tol: float = 1e-9,
) -> LinearScorer:
    """The linear score of least risk on a distribution.

    A risk over finitely many points is the objective of a fit with weights: each point is there
    twice, as a positive of weight P(x) and as a negative of weight Q(x). For "auc" the rows are
    the differences of all pairs of points, as positives of weight P(x) Q(x') beside a single
    negative at the origin.

    Parameters
    ----------
    D : Distribution
        The distribution.
    risk : {"ptop", "recttop", "reverse_recttop", "recttop_app", "ptop_app", "balanced", "auc"}
        The risk, by the name of its function without ``_risk``.
    loss : {"squared_hinge", "logistic", "exponential"}, default="squared_hinge"
        phi; "ptop_app" takes "exponential" only.
    p : float, optional
        The power of "recttop_app" and "ptop_app", and of them only.
    alpha : float, default=1e-8
        The objective is the risk plus ``alpha/2 |w|^2``. Where the risk has no minimum, w grows
        without bound as alpha falls.
    tol : float, default=1e-9
        The duality gap to solve to. It is not relative: the risk of the score zero is about one,
        and the least risk of a separable distribution is zero.

    Returns
    -------
    LinearScorer
        Weights, constant, risk and certificate. The constant makes the highest negative zero for
        "ptop", and it is zero for "auc": these risks do not depend on it.

    Examples
    --------
    >>> from theory import Distribution, population_minimiser
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> population_minimiser(D, "ptop").trivial, population_minimiser(D, "auc").trivial
    (True, False)
    """
    check_choice("risk", risk, _METHODS)
    check_loss(loss, ("exponential",) if risk == "ptop_app" else _LINEAR_LOSSES)
    if (p is not None) != risk.endswith("_app"):
        raise ValueError(f"p is needed for the risks that end in _app, and only there: p={p!r}.")
    powers = {} if p is None else {"p": p}
    # The estimators' tol is a share of the minimum, which is at most two.
    given: dict[str, Any] = {"alpha": alpha, "tol": tol / 2.0, **powers}
    if risk == "balanced":
        given["p"] = 1.0
    if risk != "ptop_app":
        given["loss"] = loss
    ranker = _METHODS[risk](**given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSolutionWarning)  # it is a result here
        warnings.simplefilter("ignore", ConvergenceWarning)  # whose gap is relative
        ranker.fit(*(_pairs(D) if risk == "auc" else _twice(D)))
    if not ranker.certificate_.gap <= tol:
        warnings.warn(
            f"The minimum of {risk} was found to a gap of {ranker.certificate_.gap:.2g} only, "
            f"above tol={tol:g}. Raise alpha, or accept the gap by a larger tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    w = ranker.coef_[0]
    s = D.X @ w
    risks = {
        b: _RISKS[risk](s + b, D, loss, **powers)
        for b in _constants(D, risk, s, float(ranker.intercept_[0]), p)
    }
    b = min(risks, key=lambda one: risks[one])
    return LinearScorer(w, b, risks[b], ranker.certificate_)


def _twice(D: Distribution) -> tuple[Array, NDArray[np.int64], Array]:
    classes = np.repeat([1, 0], len(D.X))
    return np.vstack([D.X, D.X]), classes, np.concatenate([D.positives, D.negatives])


def _pairs(D: Distribution) -> tuple[Array, NDArray[np.int64], Array]:
    positive, negative = np.flatnonzero(D.positives), np.flatnonzero(D.negatives)
    rows = (D.X[positive, np.newaxis] - D.X[negative]).reshape(-1, D.X.shape[1])
    weight = np.outer(D.positives[positive], D.negatives[negative]).ravel()
    classes = np.append(np.ones(len(rows), dtype=np.int64), 0)
    return np.vstack([rows, np.zeros_like(D.X[:1])]), classes, np.append(weight, 1.0)


def _constants(
    D: Distribution, risk: str, s: Array, fitted: float, p: float | None
) -> tuple[float, ...]:
    """What the constant b of the score may be, exact where a rounding would make the risk infinite.

    A fitted threshold lies in the gap beside a row, if that row is what holds it.
    """
    top, bottom = float(s[D.negatives > 0].max()), float(s[D.positives > 0].min())
    if risk == "auc":
        return (0.0,)
    if risk == "ptop":
        return (0.0 - top,)
    if risk == "recttop":
        return min(fitted, -top), -top
    if risk == "reverse_recttop":
        return max(fitted, -bottom), -bottom
    if risk == "ptop_app":
        assert p is not None
        return (float(_log_mean(D.positives, -s) - _log_mean(D.negatives, p * s)) / (p + 1.0),)
    return (fitted,)


def _log_mean(mass: Array, exponent: Array) -> float:
    """The logarithm of the mean of e^exponent."""
    there = mass > 0
    return float(np.logaddexp.reduce(np.log(mass[there]) + exponent[there]))
