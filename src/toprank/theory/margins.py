"""Margins and what they cost: what the risks are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inputs.arguments import check_choice, check_number
from ..surrogates import SURROGATES
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
