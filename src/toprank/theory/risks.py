"""Risks of a score over the points of a distribution.

A score is one number a point, and may be infinite. `loss` names phi(v) = l(-v), a function of the
margin v, for which `toprank.surrogates` has l; "zero_one" is phi(v) = 1 for v < 0, 1/2 at v = 0.
A point that a class gives no probability adds nothing to that class's mean, not even 0 * inf.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metrics import auc
from ..surrogates import SURROGATES
from .distribution import Distribution

Array = NDArray[np.float64]

#: The losses a risk can be made of.
LOSSES = ("zero_one", *SURROGATES)


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
    >>> from toprank.theory import Distribution, ptop_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> ptop_risk([0, 1], D) > ptop_risk([0, 0], D)  # the better order has the greater risk
    True
    """
    scores, phi = check_scores(f, D), _phi(loss)
    top = scores[D.negatives > 0].max()
    return _mean(D.positives, phi(differences(scores, top)))


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
    >>> from toprank.theory import Distribution, recttop_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> recttop_risk([-1, 0], D) < recttop_risk([0, 0], D), recttop_risk([-1, 1], D)
    (True, inf)
    """
    scores, phi = check_scores(f, D), _phi(loss)
    negative = np.where(scores > 0, np.inf, phi(-scores))
    return _mean(D.positives, phi(scores)) + _mean(D.negatives, negative)


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
    >>> from toprank.theory import Distribution, reverse_recttop_risk
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
    >>> from toprank.theory import Distribution, balanced_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> round(balanced_risk([-1, 1], D), 4)
    0.5833
    """
    scores, phi = check_scores(f, D), _phi(loss)
    return _mean(D.positives, phi(scores)) + _mean(D.negatives, phi(-scores))


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
    >>> from toprank.theory import Distribution, auc_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> round(auc_risk([0, 1], D), 4), auc_risk([0, 0], D)
    (0.2917, 0.5)
    """
    scores, phi = check_scores(f, D), _phi(loss)
    if loss == "zero_one":
        return 1.0 - population_auc(scores, D)
    # One negative at a time: the table of all pairs may not fit into memory.
    against = [_mean(D.positives, phi(differences(scores, s))) for s in scores[D.negatives > 0]]
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
    >>> from toprank.theory import Distribution, population_auc
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> round(population_auc(D.eta, D), 4)
    0.7083
    """
    scores = check_scores(f, D)
    classes = np.repeat([1, 0], len(scores))
    weight = np.concatenate([D.positives, D.negatives])
    return float(auc(classes, np.tile(scores, 2), sample_weight=weight))


def ptop_app_risk(
    f: ArrayLike, D: Distribution, loss: str = "exponential", p: float = 4.0
) -> float:
    r"""The smooth stand-in for PTop, the p-classification loss: (16) and Table 2 of the paper.

    .. math:: E_P\, e^{-f} + \tfrac1p E_Q\, e^{p f}

    Its minimum over translations of f is :math:`(1 + 1/p) (A^p B)^{1/(p+1)}` with
    :math:`A = E_P e^{-f}` and :math:`B = E_Q e^{pf}`: the p-norm push, which tends to
    `ptop_risk` with p.

    Parameters
    ----------
    f : array-like of shape (n_points,)
        A score for every point.
    D : Distribution
        The distribution.
    loss : {"exponential"}
        phi; the p-norm push has this form for the exponential loss only.
    p : float, default=4.0
        Above zero: how much a high negative costs.

    Returns
    -------
    float
        The risk.

    Examples
    --------
    >>> from toprank.theory import Distribution, ptop_app_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> ptop_app_risk([0, 0], D, "exponential", p=2)
    1.5
    """
    if loss != "exponential":
        raise ValueError(f"loss must be 'exponential' for the p-classification form, got {loss!r}.")
    scores, power = check_scores(f, D), _power(p)
    with np.errstate(over="ignore"):
        return _mean(D.positives, np.exp(-scores)) + _mean(
            D.negatives, np.exp(power * scores) / power
        )


def recttop_app_risk(
    f: ArrayLike, D: Distribution, loss: str = "squared_hinge", p: float = 4.0
) -> float:
    r"""The smooth stand-in for RectTop: (17) and Table 2 of the paper, with its missing + 1.

    .. math:: E_P\, \phi(f) + E_Q\, h_p(f), \qquad h_p(v) = \begin{cases} \phi(-v) & v \le 0 \\
              (\phi(-pv) - \phi(0)) / p + \phi(0) & v > 0 \end{cases}

    At p = 1 it is `balanced_risk`. It tends to `recttop_risk` with p for the squared hinge and
    the exponential loss; for the logistic loss and the hinge :math:`h_p(v)` stays finite above
    zero.

    Parameters
    ----------
    f : array-like of shape (n_points,)
        A score for every point.
    D : Distribution
        The distribution.
    loss : {"squared_hinge", "logistic", "exponential", "hinge"}
        phi; "squared_hinge" is the default.
    p : float, default=4.0
        Above zero: how much a negative above zero costs.

    Returns
    -------
    float
        The risk.

    Examples
    --------
    >>> from toprank.theory import Distribution, recttop_app_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> [round(recttop_app_risk([-0.5, 0.1], D, p=p), 4) for p in (1, 4, 1e6)]
    [1.74, 1.75, 3335.07]
    """
    if loss == "zero_one":
        raise ValueError("loss must be one with a slope: 'zero_one' has no smooth approximation.")
    scores, phi, power = check_scores(f, D), _phi(loss), _power(p)
    zero = float(phi(np.zeros(1))[0])
    above = (phi(-power * scores) - zero) / power + zero
    negative = np.where(scores > 0, above, phi(-scores))
    return _mean(D.positives, phi(scores)) + _mean(D.negatives, negative)


def check_scores(f: ArrayLike, D: Distribution) -> Array:
    """The scores as an array: one a point, none of them NaN."""
    scores = np.asarray(f, dtype=np.float64)
    if scores.shape != (len(D.X),):
        raise ValueError(
            f"f has shape {scores.shape}, but the distribution has {len(D.X)} points: "
            "pass one score for each."
        )
    if np.isnan(scores).any():
        raise ValueError(f"f[{int(np.argmax(np.isnan(scores)))}] is NaN: scores must be numbers.")
    return scores


def check_loss(loss: str, known: tuple[str, ...] = LOSSES) -> None:
    """Refuse a loss that is not among the known ones."""
    if loss not in known:
        raise ValueError(f"loss must be one of {', '.join(map(repr, known))}, got {loss!r}.")


def differences(scores: Array, top: float) -> Array:
    """Scores less one of them; equal infinite scores differ by nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(scores == top, 0.0, scores - top)


def _phi(loss: str) -> Callable[[Array], Array]:
    check_loss(loss)
    if loss == "zero_one":
        return lambda v: (1.0 - np.sign(v)) / 2.0

    def phi(v: Array) -> Array:
        with np.errstate(over="ignore"):
            return SURROGATES[loss].value(-v)

    return phi


def _power(p: float) -> float:
    if not isinstance(p, Real) or not 0.0 < float(p) < np.inf:
        raise ValueError(f"p must be a finite number above zero, got {p!r}.")
    return float(p)


def _mean(mass: Array, value: Array) -> float:
    """The mean of the values over a class."""
    there = mass > 0
    return float(mass[there] @ value[there])
