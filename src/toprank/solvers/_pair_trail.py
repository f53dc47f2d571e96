"""The last solutions of a path of alphas of a smooth loss of all pairs, and where they point to.

As `_trail` for sums over rows: the best point in their span is found by their scores alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from ..designs import Design
from ..inputs.class_split import Split
from ..losses import PairLoss
from ..problems import Problem, Solution
from ..problems.solution import OfTheseRows
from .linalg import cholesky

Array = NDArray[np.float64]

#: Solutions that are looked at.
_POINTS = 3
#: About so many rows of both classes are looked at, corrected to have the slope of all.
_ROWS = 4000
#: Newton's steps in the span, at the most.
_STEPS = 12
#: They end where one promises no more than this share of the tolerance.
_ENOUGH = 0.03
#: Points of a path are almost multiples of each other: what is added to the diagonal, as a share.
_LIFT = 1e-10


@dataclass(frozen=True)
class PairTrail(OfTheseRows):
    """The solutions before the last one, the latest first: w, and the scores of all rows."""

    design: Design
    loss: PairLoss
    points: tuple[tuple[Array, Array], ...]


def trail_of(problem: Problem, start: Solution | None) -> PairTrail | None:
    """The solutions of the path that a start ends, if it is one of the same rows."""
    if start is None or start.scores is None or not start.w.any() or not len(start.dual):
        return None
    last = start.kept
    if not isinstance(last, PairTrail):
        return None
    if last.design is not problem.design or last.loss is not problem.loss:
        return None
    points = ((start.w, start.scores), *last.points)[:_POINTS]
    return PairTrail(last.design, last.loss, points)


def best_in_span(
    problem: Problem, trail: PairTrail, dual: Array, tol: float
) -> tuple[Array, Array]:
    """The best point of the span: its weights and its scores.

    `dual` is the slope of the loss at the scores of the first point.
    """
    W = np.array([w for w, _ in trail.points])
    scores = [s for _, s in trail.points]
    ridge = problem.alpha * (W @ W.T)
    part = _Part(trail.loss, scores)
    c = np.zeros(len(W))
    c[0] = 1.0
    value, slope, bend = part.at(c)
    lacks = np.array([float(dual @ s) for s in scores]) - slope
    begin, value = c.copy(), value + float(0.5 * c @ ridge @ c)
    for _ in range(_STEPS):
        gradient = slope + lacks + ridge @ c
        hessian = bend + ridge
        scale = 1.0 / np.sqrt(np.maximum(hessian.diagonal(), 1e-300))
        system = hessian * np.outer(scale, scale) + _LIFT * np.eye(len(c))
        if not (np.isfinite(system).all() and np.isfinite(gradient).all()):
            break
        factor = cholesky(np.asfortranarray(system), 1.0)
        if factor is None:
            break
        step = -scale * dpotrs(factor, scale * gradient, lower=1)[0]
        gain, theta = -float(gradient @ step), 1.0
        if not gain > _ENOUGH * tol * value:
            break
        while theta > 1e-3:
            there = c + theta * step
            own, slope, bend = part.at(there)
            now = own + float(0.5 * there @ ridge @ there + lacks @ (there - begin))
            if now < value:
                break
            theta *= 0.5
        else:
            break
        c, value = there, now
    found = np.zeros(len(scores[0]))
    for share, s in zip(c, scores, strict=True):
        found += share * s
    return c @ W, found


class _Part:
    """The loss of some rows in the span of a few vectors of scores."""

    def __init__(self, loss: PairLoss, scores: list[Array]) -> None:
        split = loss.split
        step = max(1, split.n_rows // _ROWS)
        every = [max(1, min(step, 2 * len(own) // _ROWS)) for own in (split.pos, split.neg)]
        pos, neg = split.pos[:: every[0]], split.neg[:: every[1]]
        weight = np.concatenate([split.p[:: every[0]], split.q[:: every[1]]])
        rows = np.concatenate([pos, neg])
        own = Split.of(np.arange(len(rows)) < len(pos), weight)
        self._scan = PairLoss(own, loss.surrogate).scan()
        self._scores = [s[rows] for s in scores]

    def at(self, c: Array) -> tuple[float, Array, Array]:
        """Value, slope and curvature at such coefficients."""
        s = np.zeros(len(self._scores[0]))
        for share, own in zip(c, self._scores, strict=True):
            s += share * own
        self._scan.sort(s)
        v, sums = self._scan.slope(np.inf)
        slope = np.array([float(v @ own) for own in self._scores])
        bent = [self._scan.curvature(own) for own in self._scores]
        bend = np.array([[float(own @ one) for own in self._scores] for one in bent])
        return float(sums[0]), slope, 0.5 * (bend + bend.T)


__all__ = ["PairTrail", "best_in_span", "trail_of"]
