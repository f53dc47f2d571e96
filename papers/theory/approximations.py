"""Smooth stand-ins for two of the risks, as the methods minimise them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .distribution import Distribution
from .margins import check_power, check_scores, margin_loss, mean


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
    >>> from theory import Distribution, ptop_app_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> ptop_app_risk([0, 0], D, "exponential", p=2)
    1.5
    """
    if loss != "exponential":
        raise ValueError(f"loss must be 'exponential' for the p-classification form, got {loss!r}.")
    scores, power = check_scores(f, D), check_power(p)
    with np.errstate(over="ignore"):
        return mean(D.positives, np.exp(-scores)) + mean(
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
    >>> from theory import Distribution, recttop_app_risk
    >>> D = Distribution([[0.0], [1.0]], marginal=[0.5, 0.5], eta=[0.2, 0.6])
    >>> [round(recttop_app_risk([-0.5, 0.1], D, p=p), 4) for p in (1, 4, 1e6)]
    [1.74, 1.75, 3335.07]
    """
    if loss == "zero_one":
        raise ValueError("loss must be one with a slope: 'zero_one' has no smooth approximation.")
    scores, phi, power = check_scores(f, D), margin_loss(loss), check_power(p)
    zero = float(phi(np.zeros(1))[0])
    above = (phi(-power * scores) - zero) / power + zero
    negative = np.where(scores > 0, above, phi(-scores))
    return mean(D.positives, phi(scores)) + mean(D.negatives, negative)
