"""Risks of a score over the points of a distribution.

A score is one number a point, and may be infinite. `loss` names phi(v) = l(-v), a function of the
margin v, for which `toprank.surrogates` has l; "zero_one" is phi(v) = 1 for v < 0, 1/2 at v = 0.
A point that a class gives no probability adds nothing to that class's mean, not even 0 * inf.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from toprank.metrics import auc

from .distribution import Distribution
from .margins import check_scores, differences, margin_loss, mean


def ptop_risk(f: ArrayLike, D: Distribution, loss: str = "zero_one") -> float:
    r"""The positives against the highest negative: PTop, equation (6) of the paper.

    .. math:: \max_{x': Q(x') > 0} E_{x \sim P}\, \phi(f(x) - f(x'))

    Parameters
    ----------
    f : array-like of shape (n_points,)
        A score for every point; equal infinite scores are a tie.
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default.

    Returns
    -------
    float
        The risk, which does not change if a number is added to every score.

    Examples
    --------
    >>> from theory import Distribution, ptop_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> ptop_risk([0, 1], D) > ptop_risk([0, 0], D)  # the better order has the greater risk
    True
    """
    scores, phi = check_scores(f, D), margin_loss(loss)
    top = scores[D.negatives > 0].max()
    return mean(D.positives, phi(differences(scores, top)))


def recttop_risk(f: ArrayLike, D: Distribution, loss: str = "zero_one") -> float:
    r"""Both classes against zero, no negative above it: RectTop, equation (14) of the paper.

    .. math:: E_P\, \phi(f) + E_Q\, \phi(-f) \quad\text{where}\ f \le 0\ \text{on}\ Q > 0,

    and infinite elsewhere.

    Parameters
    ----------
    f : array-like of shape (n_points,)
        A score for every point.
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default.

    Returns
    -------
    float
        The risk.

    Examples
    --------
    >>> from theory import Distribution, recttop_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> recttop_risk([-1, 0], D) < recttop_risk([0, 0], D), recttop_risk([-1, 1], D)
    (True, inf)
    """
    scores, phi = check_scores(f, D), margin_loss(loss)
    negative = np.where(scores > 0, np.inf, phi(-scores))
    return mean(D.positives, phi(scores)) + mean(D.negatives, negative)


def reverse_recttop_risk(f: ArrayLike, D: Distribution, loss: str = "zero_one") -> float:
    r"""Both classes against zero, no positive below it: equation (24) of the paper.

    .. math:: E_P\, \phi(f) + E_Q\, \phi(-f) \quad\text{where}\ f \ge 0\ \text{on}\ P > 0,

    and infinite elsewhere. It is `recttop_risk(-f, D.reversed(), loss)`.

    Parameters
    ----------
    f : array-like of shape (n_points,)
        A score for every point.
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default.

    Returns
    -------
    float
        The risk.

    Examples
    --------
    >>> from theory import Distribution, reverse_recttop_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> reverse_recttop_risk([0, 1], D) < reverse_recttop_risk([0, 0], D)
    True
    """
    return recttop_risk(-check_scores(f, D), D.reversed(), loss)


def balanced_risk(f: ArrayLike, D: Distribution, loss: str = "zero_one") -> float:
    r"""Both classes against zero: equation (3) of the paper.

    .. math:: E_P\, \phi(f) + E_Q\, \phi(-f)

    Parameters
    ----------
    f : array-like of shape (n_points,)
        A score for every point.
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default.

    Returns
    -------
    float
        The risk.

    Examples
    --------
    >>> from theory import Distribution, balanced_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> round(balanced_risk([-1, 1], D), 4)
    0.5833
    """
    scores, phi = check_scores(f, D), margin_loss(loss)
    return mean(D.positives, phi(scores)) + mean(D.negatives, phi(-scores))


def auc_risk(f: ArrayLike, D: Distribution, loss: str = "zero_one") -> float:
    r"""Every positive against every negative: equation (4) of the paper.

    .. math:: E_{x \sim P,\, x' \sim Q}\, \phi(f(x) - f(x'))

    Parameters
    ----------
    f : array-like of shape (n_points,)
        A score for every point; equal infinite scores are a tie.
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default, and gives one minus the area under the ROC curve.

    Returns
    -------
    float
        The risk.

    Examples
    --------
    >>> from theory import Distribution, auc_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> round(auc_risk([0, 1], D), 4), auc_risk([0, 0], D)
    (0.2917, 0.5)
    """
    scores, phi = check_scores(f, D), margin_loss(loss)
    if loss == "zero_one":
        return 1.0 - population_auc(scores, D)
    # One negative at a time: the table of all pairs may not fit into memory.
    against = [mean(D.positives, phi(differences(scores, s))) for s in scores[D.negatives > 0]]
    return float(D.negatives[D.negatives > 0] @ against)


def population_auc(f: ArrayLike, D: Distribution) -> float:
    """The area under the ROC curve of a score on a distribution.

    Parameters
    ----------
    f : array-like of shape (n_points,)
        A score for every point.
    D : Distribution
        The distribution.

    Returns
    -------
    float
        The chance that a positive scores above a negative; ties count one half.

    Examples
    --------
    >>> from theory import Distribution, population_auc
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> round(population_auc(D.eta, D), 4)
    0.7083
    """
    scores = check_scores(f, D)
    classes = np.repeat([1, 0], len(scores))
    weight = np.concatenate([D.positives, D.negatives])
    return float(auc(classes, np.tile(scores, 2), sample_weight=weight))
