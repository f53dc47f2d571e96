"""min over w of 1/2 w'Sw - u'w + alpha/2 |w|^2, |w| <= radius, from one decomposition of S.

S is the second and u the first moment of the features of pairs, so that u lies in the range of S:
the hard case of trust regions does not occur. The decomposition serves every alpha and radius. In a
ball the secular equation, |w(shift)| = radius, gives the multiplier. `certificate.py` bounds the
error of a solution.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shifted:
    """h = (T + shift)^+ b, |h|, and fall = g'(T + shift)^+ g, g = h / |h|: the fall of log |h|."""

    h: Array
    length: float
    fall: float

    @classmethod
    def of_diagonal(cls, h: Array, theta: Array) -> Shifted:
        """Where T + shift is diagonal, with theta there."""
        length = float(linalg.norm(h))
        g = h / length if length > 0.0 else h
        fall = np.divide(g, theta, out=np.zeros_like(theta), where=g != 0.0)
        return cls(h, length, float(g @ fall))


def ball_multiplier(
    shifted: Callable[[float], Shifted],
    radius: float,
    length: float,
    largest: float,
    least: float,
    tol: float = 1e-14,
    max_iter: int = 200,
) -> float:
    """The shift above `least` with |h(shift)| = radius, given that |h(least)| is above it.

    Newton's method on 1/|h| - 1/radius, which is almost linear and rises, inside a bracket:
    eigenvalues lie between 0 and `largest`, b has the length `length`.
    """
    low, high = max(least, length / radius - largest), max(least, length / radius)
    # At zero a singular T says nothing of the shifts near it.
    shift = low if low > 0.0 else 1e-3 * high
    for _ in range(max_iter):
        at = shifted(shift)
        if abs(at.length - radius) <= tol * radius:
            break
        if at.length > radius:
            low = shift
        else:
            high = shift
        step = (at.length - radius) / radius / at.fall
        following = shift + step
        if not low < following < high:
            following = low + 0.5 * (high - low)
        if abs(following - shift) <= 2.0 * np.finfo(np.float64).eps * following:
            break
        shift = following
    return shift


#: Up to this many features all eigenvectors are computed; beyond, S is made tridiagonal only.
MOST_EIGENVECTORS = 256
#: Where mean squares of columns differ by more, the smaller eigenvalues lose their digits.
MOST_GRADED = 1e8


@dataclass(frozen=True)
class Target:
    """What is asked for: the strength of the ridge, and the radius of the ball."""

    alpha: float = 0.0
    radius: float = np.inf


@dataclass(frozen=True)
class QuadraticSolution:
    """The weights and the multiplier of the ball: (S + (alpha + multiplier) I) w = u."""

    w: Array
    multiplier: float = 0.0


class Decomposition(ABC):
    """S = Q T Q' with a T for which shifted systems are cheap, and b = Q'u."""

    #: Whether it serves the targets it was made for to their tolerance.
    met: bool = True

    @abstractmethod
    def shifted(self, shift: float) -> Shifted:
        """(T + shift)^+ b = h, its length, and g'(T + shift)^+ g for g = h / |h|."""

    @abstractmethod
    def lift(self, h: Array) -> Array:
        """Q h."""

    @property
    @abstractmethod
    def length(self) -> float:
        """|b|."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """An upper bound of the eigenvalues."""

    def solve(self, target: Target) -> QuadraticSolution:
        """The minimum; the shortest one where there are several."""
        at, multiplier = self.reach(target)
        w = self.lift(at.h)
        # What rounding leaves outside the ball.
        outside = at.length > 0.0 and float(linalg.norm(w)) > target.radius
        w *= target.radius / float(linalg.norm(w)) if outside else 1.0
        return QuadraticSolution(w, multiplier)

    def reach(self, target: Target) -> tuple[Shifted, float]:
        """The minimum as h, and the multiplier: alpha alone, or what keeps |h| to the radius."""
        at = self.shifted(target.alpha)
        if at.length <= target.radius:
            return at, 0.0
        shift = ball_multiplier(
            self.shifted, target.radius, self.length, self.largest, target.alpha
        )
        return self.shifted(shift), shift - target.alpha


class Spectrum(Decomposition):
    """All eigenvalues and eigenvectors; directions in which S is zero but for rounding are out."""

    def __init__(self, second: Array, first: Array) -> None:
        theta, self._vectors = linalg.eigh(second, check_finite=False)
        b = first @ self._vectors
        # As for factors: an eigenvalue that is zero comes out as large as some units of rounding.
        dead = theta <= 10 * len(theta) * np.finfo(np.float64).eps * max(theta[-1], 0.0)
        self.theta, self.b = np.where(dead, 0.0, theta), np.where(dead, 0.0, b)

    def shifted(self, shift: float) -> Shifted:
        """Entry by entry."""
        theta = self.theta + shift
        alive = (theta > 0.0) & (self.b != 0.0)
        h = np.divide(self.b, theta, out=np.zeros_like(theta), where=alive)
        return Shifted.of_diagonal(h, theta)

    def lift(self, h: Array) -> Array:
        """Q h."""
        return np.asarray(self._vectors @ h)

    @property
    def length(self) -> float:
        """|b|."""
        return float(linalg.norm(self.b))

    @property
    def largest(self) -> float:
        """The largest eigenvalue."""
        return float(self.theta[-1])


class Tridiagonal(Decomposition):
    """T tridiagonal by Householder's reflections: much cheaper than eigenvectors.

    A shift that drowns in rounding asks for the rank of S, and so for its eigenvectors.
    """

    def __init__(self, second: Array, first: Array) -> None:
        self._second, self._first = second, first
        self._reflectors, self._diagonal, self._beside, self._tau, info = lapack.dsytrd(
            second, lower=1
        )
        if info != 0:
            raise linalg.LinAlgError(f"dsytrd failed: info {info}")
        self._b = self._reflect(first, "T")
        reach = np.abs(self._diagonal)
        reach[:-1] += np.abs(self._beside)
        reach[1:] += np.abs(self._beside)
        self._largest = float(reach.max())
        self._floor = 100 * len(first) * np.finfo(np.float64).eps * self._largest
        self._spectrum: Spectrum | None = None

    def _reflect(self, vector: Array, transposed: str) -> Array:
        """Q'v or Q v: the reflections leave the first entry alone."""
        rest = np.asfortranarray(vector[1:, np.newaxis])
        below = np.asfortranarray(self._reflectors[1:, :-1])
        turned, _, info = lapack.dormqr("L", transposed, below, self._tau, rest, 64 * len(vector))
        if info != 0:
            raise linalg.LinAlgError(f"dormqr failed: info {info}")
        return np.concatenate([vector[:1], turned[:, 0]])

    def shifted(self, shift: float) -> Shifted:
        """Two systems of three diagonals, each in linear time."""
        diagonal = self._diagonal + shift
        h = again = None
        length = 0.0
        if shift >= self._floor:
            _, _, h, info = lapack.dptsv(diagonal, self._beside, self._b)
            if info == 0:
                length = float(linalg.norm(h)) or 1.0
                _, _, again, info = lapack.dptsv(diagonal, self._beside, h / length)
        if h is None or again is None or info != 0:
            if self._spectrum is None:
                self._spectrum = Spectrum(self._second, self._first)
            inside = self._spectrum.shifted(shift)
            turned = self._reflect(self._spectrum.lift(inside.h), "T")
            return Shifted(turned, inside.length, inside.fall)
        return Shifted(h, float(linalg.norm(h)), float(h / length @ again))

    def lift(self, h: Array) -> Array:
        """Q h."""
        return self._reflect(h, "N")

    @property
    def length(self) -> float:
        """|b|."""
        return float(linalg.norm(self._b))

    @property
    def largest(self) -> float:
        """Gershgorin's bound."""
        return self._largest


class Factored(Decomposition):
    """S itself, factored anew for every shift: for columns of very different size.

    Cholesky's method works on every column in its own unit. Eigenvalues have one unit, and those
    of small columns drown in the rounding of the largest.
    """

    def __init__(self, second: Array, first: Array) -> None:
        self._second, self._first = second, first

    def shifted(self, shift: float) -> Shifted:
        """Two solutions with one factor: the shortest, where S is singular but for rounding."""
        diagonal = np.diag(self._second) + shift
        live = np.flatnonzero(diagonal > 0.0)
        unit = 1.0 / np.sqrt(diagonal[live])
        scaled = unit[:, np.newaxis] * self._second[np.ix_(live, live)] * unit
        np.fill_diagonal(scaled, 1.0)
        rounding = 10 * len(unit) * np.finfo(np.float64).eps
        factor, info = lapack.dpotrf(scaled, lower=1)
        if info == 0 and float(np.diag(factor).min()) ** 2 > rounding:

            def solve(b: Array) -> Array:
                return np.asarray(unit * lapack.dpotrs(factor, unit * b, lower=1)[0])

        else:
            theta, vectors = linalg.eigh(scaled, check_finite=False)
            alive = theta > rounding
            theta, kept = theta[alive], vectors[:, alive]
            # Directions in which S does not rise, made orthonormal in the user's units.
            idle = linalg.orth(unit[:, np.newaxis] * vectors[:, ~alive])

            def solve(b: Array) -> Array:
                found = unit * (kept @ ((unit * b) @ kept / theta))
                return np.asarray(found - idle @ (found @ idle))

        h = np.zeros(len(diagonal))
        h[live] = solve(self._first[live])
        length = float(linalg.norm(h))
        g = h[live] / length if length > 0.0 else h[live]
        return Shifted(h, length, float(g @ solve(g)))

    def lift(self, h: Array) -> Array:
        """The solution as it is."""
        return h

    @property
    def length(self) -> float:
        """|u|."""
        return float(linalg.norm(self._first))

    @property
    def largest(self) -> float:
        """The sum of the eigenvalues."""
        return float(np.trace(self._second))


def decompose(second: Array, first: Array) -> Decomposition:
    """The decomposition that suits the number of features and their sizes."""
    sizes = np.diag(second)
    sizes = sizes[sizes > 0.0]
    if len(sizes) and sizes.max() > MOST_GRADED * sizes.min():
        return Factored(second, first)
    few = len(first) <= MOST_EIGENVECTORS
    return Spectrum(second, first) if few else Tridiagonal(second, first)


def solve_once(second: Array, first: Array, target: Target) -> QuadraticSolution:
    """One target alone.

    A ridge that does not drown in rounding, and keeps w inside the ball, is a Cholesky
    factorisation, a fraction of the cost of any decomposition.
    """
    floor = 100 * len(first) * np.finfo(np.float64).eps * float(np.trace(second))
    if target.alpha >= floor and target.alpha > 0.0:
        ridged = second + target.alpha * np.eye(len(first))
        _, w, info = lapack.dposv(ridged, first, lower=1, overwrite_a=1)
        if info == 0 and linalg.norm(w) <= target.radius:
            return QuadraticSolution(w)
    return decompose(second, first).solve(target)


__all__ = [
    "Decomposition",
    "Factored",
    "QuadraticSolution",
    "Spectrum",
    "Target",
    "Tridiagonal",
    "decompose",
    "solve_once",
]
