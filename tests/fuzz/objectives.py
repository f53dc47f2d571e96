"""Objectives of weights: a ridge or a ball about the loss of exact scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .digits import Real, dot, real, sqrt, total
from .exact import LEFT, Loss, Rows, precise

EPS = real(np.finfo(np.float64).eps)


class Ridge:
    """alpha/2 |w|^2 + F(X w), over |w| <= radius if there is one."""

    #: What rounding in the definition of the problem itself may change, beside that of the sums.
    slack = real(0)
    #: What a gap is a share of where the objective is less.
    unit = real(0)

    def __init__(
        self,
        rows: Rows,
        loss: Loss,
        alpha: float,
        radius: float | None = None,
        quadratic: Any = None,
    ) -> None:
        self.rows, self.loss, self.alpha = rows, loss, real(alpha)
        self.radius = None if radius is None or np.isinf(radius) else real(radius)
        #: Of a squared loss over pairs: the classes, or the first and second rows of the pairs.
        self.quadratic = quadratic
        #: Of a smooth loss: what makes it up, as `polish` wants it.
        self.terms: Callable[[], Any] | None = None
        #: Names and weights of rivals that a method for this objective alone finds.
        self.others: Callable[[], list[tuple[str, Any]]] = list
        self.n_weights = rows.X.shape[1]

    def value(self, w: Any) -> Real:
        """The objective at w, which may hold floats or numbers of many digits."""
        return self.alpha / 2 * squared_length(w) + self.loss(self.rows.scores(w))

    def inside(self, w: Any) -> Any:
        """W, or the point of the ball on the way to it."""
        if self.radius is None or squared_length(w) <= self.radius**2:
            return w
        return precise(w) * (self.radius / sqrt(squared_length(w)) * (1 - LEFT))

    def allows(self, w: Any) -> bool:
        """Whether w lies in the ball, but for the rounding of its length."""
        return self.radius is None or squared_length(w) <= (self.radius * (1 + 4 * EPS)) ** 2


class OneNorm(Ridge):
    """alpha |w|_1 + F(X w)."""

    def value(self, w: Any) -> Real:
        """The objective at w, which may hold floats or numbers of many digits."""
        return self.alpha * total(map(abs, precise(w))) + self.loss(self.rows.scores(w))


def squared_length(w: Any) -> Real:
    """|w|^2."""
    entries = precise(w)
    return dot(entries, entries)


__all__ = ["EPS", "OneNorm", "Ridge", "squared_length"]
