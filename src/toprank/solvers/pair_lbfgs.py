"""L-BFGS on the squared hinge of all pairs, in the space of rows.

Every vector here is a combination of the rows and of the weights it began with, w = X'a + c w0.
It is kept by (a, c) and by what rows and w0 have to do with it, (X w, w0.w): the inner product of
two is one's first with the other's second. So a step works on vectors of N numbers, which on wide
rows are far fewer than d, and the scores of a direction come without a product: those of the
gradient are all that is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .pair_point import PairPoint

if TYPE_CHECKING:
    from .pair_square import PairSquare

Array = NDArray[np.float64]

#: Steps that are remembered.
_MEMORY = 10
#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.3
#: Steps from one look at the weights themselves to the next: they cost a product.
_STEPS_A_LOOK = 20
#: The share of `tol` at which it is looked: scores that were added up are not as good.
_ENOUGH = 0.99


class RowSpace:
    """Steps of L-BFGS on vectors of rows."""

    def __init__(self, fit: PairSquare) -> None:
        self.fit, self.alpha = fit, fit.alpha
        self._w: Array | None = None
        #: The last step, by its two vectors, until it is put in the basis.
        self._moved: tuple[Array, Array] | None = None

    def next(self, at: PairPoint) -> PairPoint | None:
        """A better point, some steps on; None where there is none."""
        if at.w is not self._w:
            self._begin(at)
        elif at.fresh:  # the gradient of these scores takes the place of the last one
            self._s[:-1], self._v, self._value, self._moved = at.s, at.v, at.value, None
            self._look()
        for _ in range(_STEPS_A_LOOK):
            if not self._step():  # what is remembered may be all rounding
                self._order.clear()
                if not self._step():
                    return None
            if self._look():
                self._w = self._weights()
                return self.fit.at(self._w)
        self._w = w = self._weights()
        pull = self._gradient - self.alpha * w
        return PairPoint(w, self._s[:-1].copy(), self._v, self._value, pull, fresh=False)

    def _begin(self, at: PairPoint) -> None:
        """Begin at a point, whose weights are w0."""
        n = len(at.s)
        self._w = at.w
        self._w0 = at.w if at.w.any() else None
        self._a, self._s = np.zeros(n + 1), np.append(at.s, float(at.w @ at.w))
        self._a[n] = 1.0
        self._v, self._value = at.v, at.value
        #: Steps, changes of the gradient, and the gradient; and the products of all of these.
        self._basis = np.zeros((2, 2 * _MEMORY + 1, n + 1))
        self._gram = np.zeros((2 * _MEMORY + 1, 2 * _MEMORY + 1))
        self._order: list[int] = []
        self._moved = None
        self._look()

    def _weights(self) -> Array:
        a, w0 = self._a, self._w0
        w = self.fit.design.pull_back(a[:-1])
        return w if w0 is None else w + a[-1] * w0

    def _look(self) -> bool:
        """The gradient at this point; whether the gap is what it should be."""
        design, basis = self.fit.design, self._basis
        a = self.alpha * self._a
        a[:-1] += self._v
        g = design.pull_back(a[:-1])
        if self._w0 is not None:
            g += a[-1] * self._w0
        s = np.append(design.scores(g), 0.0 if self._w0 is None else float(self._w0 @ g))
        last = 2 * _MEMORY
        if self._moved is not None:
            full = len(self._order) == _MEMORY
            slot = self._order.pop(0) if full else len(self._order)
            self._order.append(slot)
            basis[:, slot] = self._moved
            basis[0, _MEMORY + slot] = a - basis[0, last]
            basis[1, _MEMORY + slot] = s - basis[1, last]
            for k in (slot, _MEMORY + slot):
                self._gram[k] = self._gram[:, k] = basis[0] @ basis[1, k]
            if not self._gram[slot, _MEMORY + slot] > 0.0:
                self._order.clear()
        basis[:, last] = a, s
        self._gram[last] = self._gram[:, last] = basis[0] @ s
        self._gram[last, last] = square = float(g @ g)
        self._gradient = g
        size = self._value + 0.5 * self.alpha * float(self._a @ self._s)
        return square / (2.0 * self.alpha) <= _ENOUGH * self.fit.tol * size

    def _step(self) -> bool:
        """A step along the direction of L-BFGS; whether there was one."""
        part = self._coefficients()
        slope = float(self._gram[-1] @ part)
        if not slope < 0:
            return False
        a, s = part @ self._basis[0], part @ self._basis[1]
        linear, square = self.alpha * float(self._a @ s), self.alpha * float(a @ s)
        theta, _, self._v, value, _ = self.fit.ranks.search(
            self._s[:-1], s[:-1], slope, linear, square, _LINE_SEARCH
        )
        self._value = value
        a *= theta
        s *= theta
        self._a, self._s, self._moved = self._a + a, self._s + s, (a, s)
        return True

    def _coefficients(self) -> Array:
        """What the direction has of every vector of the basis."""
        gram, part, kept = self._gram, np.zeros(2 * _MEMORY + 1), []
        part[-1] = -1.0
        for k in reversed(self._order):
            share = float(gram[k] @ part) / gram[k, _MEMORY + k]
            part[_MEMORY + k] -= share
            kept.append(share)
        if self._order:
            k = self._order[-1]
            part *= gram[k, _MEMORY + k] / gram[_MEMORY + k, _MEMORY + k]
        else:
            part *= 0.5
        for k, share in zip(self._order, reversed(kept), strict=True):
            part[k] += share - float(gram[_MEMORY + k] @ part) / gram[k, _MEMORY + k]
        return part
