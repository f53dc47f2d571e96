"""Links: the score that a loss wants for a probability."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .margins import check_loss

Array = NDArray[np.float64]

#: Psi of the odds P : Q, for the losses that have a link.
LINKS: dict[str, Callable[[Array, Array], Array]] = {
    "squared_hinge": lambda P, Q: (P - Q) / (P + Q),
    "logistic": lambda P, Q: np.log(P) - np.log(Q),
    "exponential": lambda P, Q: (np.log(P) - np.log(Q)) / 2.0,
}


def link(loss: str) -> Callable[[ArrayLike], Array]:
    """The link Psi: the score that a loss wants for a probability.

    Parameters
    ----------
    loss : {"squared_hinge", "logistic", "exponential"}
        The loss. The zero-one loss and the hinge have no link.

    Returns
    -------
    callable
        Psi(u): 2u - 1, log(u / (1 - u)), or half of that.

    Examples
    --------
    >>> from toprank.theory import link
    >>> link("squared_hinge")([0.0, 0.5, 1.0])
    array([-1.,  0.,  1.])
    """
    return balanced_link(loss, 0.5)


def balanced_link(loss: str, pi: float) -> Callable[[ArrayLike], Array]:
    """The link Psi_pi of the balanced risk, which is zero at u = pi.

    Parameters
    ----------
    loss : {"squared_hinge", "logistic", "exponential"}
        The loss.
    pi : float
        The probability of the positive class, strictly between zero and one.

    Returns
    -------
    callable
        Psi_pi(u) = Psi((1 - pi) u / (pi + (1 - 2 pi) u)).

    Examples
    --------
    >>> from toprank.theory import balanced_link
    >>> balanced_link("logistic", pi=0.25)([0.25, 0.5]).round(4)
    array([0.    , 1.0986])
    """
    check_loss(loss, tuple(LINKS))
    if not 0.0 < pi < 1.0:
        raise ValueError(f"pi must lie strictly between 0 and 1, got {pi!r}.")

    def psi(u: ArrayLike) -> Array:
        chance = np.asarray(u, dtype=np.float64)
        if not ((chance >= 0) & (chance <= 1)).all():
            raise ValueError("u must hold probabilities, from 0 to 1.")
        with np.errstate(divide="ignore"):
            return np.asarray(LINKS[loss]((1.0 - pi) * chance, pi * (1.0 - chance)))

    return psi
