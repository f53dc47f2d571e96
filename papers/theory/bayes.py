"""The best scores of all, where any function of the point may be the score.

Paper    A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning
         2019: Propositions 1 to 3, Examples 1 to 6, appendix C
Symbols  P, Q, pi, eta, phi, Psi as there
Differs  written in P and Q: eta > pi just where P > Q, and Psi_pi(eta) is the link of the odds
         P : Q. Infinite scores are allowed, so minima that the paper calls unattainable are
         attained. The sets are whole: at eta = 0 or 1 a hinge leaves a half-line, not a point.
"""

from __future__ import annotations

import numpy as np

from .distribution import Distribution
from .margins import LINKS, check_loss
from .optimal import EQUAL, OptimalOrder, OptimalScores


def bayes_ptop(D: Distribution, loss: str = "zero_one") -> OptimalScores:
    """The best scores for PTop: Proposition 1 and Examples 1 and 2.

    Zero where the label is uncertain, at most zero where it is surely negative, and what phi
    likes best where it is surely positive; and every translate of that. Without a surely positive
    point the same score everywhere is among them, and it is the only one if no point is surely
    negative either.

    The proposition asks that phi(0) < phi(v) for all v < 0 (the paper's condition, read
    literally, holds for no continuous phi); all losses here have that.

    Parameters
    ----------
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default.

    Returns
    -------
    OptimalScores
        With ``translates=True``.

    Examples
    --------
    >>> from theory import Distribution, bayes_ptop
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> best = bayes_ptop(D)
    >>> best.trivial, best.contains([3, 3]), best.contains([0, 1])
    (True, True, False)
    """
    check_loss(loss)
    P, Q = D.positives, D.negatives
    low, high = np.zeros(len(P)), np.zeros(len(P))
    low[P == 0] = -np.inf
    low[Q == 0], high[Q == 0] = (
        {"zero_one": 0.0, "hinge": 1.0, "squared_hinge": 1.0}.get(loss, np.inf),
        np.inf,
    )
    return OptimalScores(
        D, low, high, (Q == 0) & (low == 0.0), np.zeros(len(P), bool), True, _tolerance(loss)
    )


def bayes_balanced(D: Distribution, loss: str = "zero_one") -> OptimalScores:
    """The best scores for the balanced risk.

    They are the link of the odds P : Q for a loss that has a link; the side of zero for the
    zero-one loss, plus or minus one for the hinge.

    Parameters
    ----------
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default.

    Returns
    -------
    OptimalScores
        An interval a point.

    Examples
    --------
    >>> from theory import Distribution, bayes_balanced
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> bayes_balanced(D, "logistic").scores.round(3)
    array([-0.981,  0.811])
    """
    check_loss(loss)
    P, Q = D.positives, D.negatives
    side = np.where(np.abs(P - Q) <= EQUAL * np.maximum(P, Q), 0.0, np.sign(P - Q))
    open_ends = np.zeros(len(P), dtype=bool)
    if loss == "zero_one":
        low, high = np.where(side > 0, 0.0, -np.inf), np.where(side < 0, 0.0, np.inf)
        return OptimalScores(D, low, high, side > 0, side < 0, tol=0.0)
    if loss == "hinge":
        low, high = np.where(side > 0, 1.0, -1.0), np.where(side < 0, -1.0, 1.0)
    else:
        with np.errstate(divide="ignore"):
            low = high = LINKS[loss](P, Q)
    low, high = np.where(P == 0, -np.inf, low), np.where(Q == 0, np.inf, high)
    return OptimalScores(D, low, high, open_ends, open_ends)


def bayes_recttop(D: Distribution, loss: str = "zero_one") -> OptimalScores:
    """The best scores for RectTop: Propositions 2 and 3 and Example 4.

    They are the best scores for the balanced risk, cut off at zero wherever a negative can be:
    points with eta below pi keep their own scores, those from pi to one share the score zero.
    So the same score everywhere is not among them, unless P = Q.

    Proposition 3 speaks of losses with a link onto the real line. It holds for the squared hinge
    too, whose link 2u - 1 ends at -1 and 1: at eta = 0 every score up to -1 is best, at eta = 1
    every score from 1 on.

    Parameters
    ----------
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default.

    Returns
    -------
    OptimalScores
        An interval a point.

    Examples
    --------
    >>> from theory import Distribution, bayes_recttop
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> best = bayes_recttop(D, "exponential")
    >>> best.trivial, best.scores.round(3)
    (False, array([-0.49,  0.  ]))
    """
    free = bayes_balanced(D, loss)
    cut = D.negatives > 0
    # The risk at a point is convex, or a step: cut off, its minimum is the nearest point left.
    above = cut & ((free.low > 0) | ((free.low == 0) & free.low_open))
    low = np.where(above, 0.0, free.low)
    high = np.where(cut, np.minimum(free.high, 0.0), free.high)
    return OptimalScores(D, low, high, free.low_open & ~above, free.high_open, tol=free.tol)


def bayes_reverse_recttop(D: Distribution, loss: str = "zero_one") -> OptimalScores:
    """The best scores for the reverse RectTop: appendix C and Example 6.

    Points with eta above pi keep their own scores, those from pi down to zero share the score
    zero; surely negative points are as low as phi likes, minus infinity for the exponential loss
    (a case the example leaves out).

    Parameters
    ----------
    D : Distribution
        The distribution.
    loss : {"zero_one", "squared_hinge", "logistic", "exponential", "hinge"}
        phi; "zero_one" is the default.

    Returns
    -------
    OptimalScores
        An interval a point.

    Examples
    --------
    >>> from theory import Distribution, bayes_reverse_recttop
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> bayes_reverse_recttop(D, "exponential").scores.round(3)
    array([0.   , 0.405])
    """
    best = bayes_recttop(D.reversed(), loss)
    return OptimalScores(
        D, 0.0 - best.high, 0.0 - best.low, best.high_open, best.low_open, tol=best.tol
    )


def bayes_auc(D: Distribution) -> OptimalOrder:
    """The best scores for the area under the ROC curve: those in the order of eta.

    Parameters
    ----------
    D : Distribution
        The distribution.

    Returns
    -------
    OptimalOrder
        Every strictly increasing function of eta, and any order among points of equal eta.

    Examples
    --------
    >>> from theory import Distribution, bayes_auc
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> bayes_auc(D).contains([-7, 2]), bayes_auc(D).contains([0, 0])
    (True, False)
    """
    return OptimalOrder(D)


def _tolerance(loss: str) -> float:
    """The zero-one loss tells zero from the smallest number; the others hardly notice it."""
    return 0.0 if loss == "zero_one" else 1e-9
