"""Losses of margins, their means over a distribution, and their links."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs.arguments import check_choice, check_number
from toprank.surrogates import SURROGATES

from .distribution import Distribution

Array = NDArray[np.float64]

#: The losses a risk can be made of.
LOSSES = ("zero_one", *SURROGATES)


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
    check_choice("loss", loss, known)


def differences(scores: Array, top: float) -> Array:
    """Scores less one of them; equal infinite scores differ by nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(scores == top, 0.0, scores - top)


def margin_loss(loss: str) -> Callable[[Array], Array]:
    """phi, as a function of arrays of margins."""
    check_loss(loss)
    if loss == "zero_one":
        return lambda v: (1.0 - np.sign(v)) / 2.0

    def phi(v: Array) -> Array:
        with np.errstate(over="ignore"):
            return SURROGATES[loss].value(-v)

    return phi


def check_power(p: float) -> float:
    """Refuse a power that is not a finite number above zero."""
    return check_number("p", p, 0.0, ends="(]")


def mean(mass: Array, value: Array) -> float:
    """The mean of the values over a class."""
    there = mass > 0
    return float(mass[there] @ value[there])


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
    >>> from theory import link
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
    >>> from theory import balanced_link
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
