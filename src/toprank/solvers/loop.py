"""Stopping rule and best bounds of an iterative solver, and handing over to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems import Proof, Solution
from .watch import Watch

Array = NDArray[np.float64]

#: Whether a primal and a dual value are near enough.
Close = Callable[[float, float], bool]
#: Whether w = 0 is proven to be the optimum, given the best dual vector.
ProvesZero = Callable[[Array], bool]
#: Iterations between two questions whether the certificate holds: most fits end before the first.
_LONG = 100
#: And the share by which the gap must fall between the two: it would take thousands else.
_FALLS_IN_LONG = 0.25


def within(tol: float, unit: float = 0.0) -> Close:
    """primal - dual <= tol primal, or tol unit where that is more."""
    return lambda primal, dual: primal - dual <= tol * max(abs(primal), unit)


class Progress:
    """The best bounds of a fit with the weights and duals they belong to, and whether to go on.

    The solver bounds a point (`lower`, `lift`), asks whether that is the end (`over`), and takes a
    step. Each of these is one iteration; the first one is of the point it began with.

    Parameters
    ----------
    best : Solution
        The weights and the dual vector to begin with, kept up to date.
    primal, dual : float
        What these two are worth.
    close : callable
        Whether the two values are near enough.
    zero : callable, optional
        Asked where they are near and the weights are still zero: a small gap does not tell a
        trivial optimum from a fit that has not begun.
    watch : Watch
        Is told of every iteration, and may ask to stop.
    max_iter, patience : int
        The most iterations, and those in which the gap must fall by the share `falls`: arithmetic
        may have no more digits to give.
    holds : callable, optional
        Whether the certificate of a solution holds, which is asked of long fits now and then: to it
        a gap is none where w = 0 costs 1e12 times as much, and some losses fall without end. A fit
        whose gap only crawls from one question to the next ends too.
    """

    def __init__(
        self,
        best: Solution,
        primal: float,
        dual: float,
        *,
        close: Close,
        watch: Watch,
        max_iter: int,
        patience: int,
        falls: float,
        zero: ProvesZero | None = None,
        holds: Callable[[Solution], bool] | None = None,
    ) -> None:
        self.best, self.primal, self.dual = best, primal, dual
        self._close, self._zero, self._holds, self._watch = close, zero, holds, watch
        self._max_iter, self._patience, self._falls = max_iter, patience, falls
        best.n_iter = -1
        watch.progress = self
        #: The smallest gap that counted as a fall, and when it was reached.
        self.least_gap, self._fell = np.inf, 0
        #: The gap when the certificate was last asked for.
        self._looked_at = np.inf
        #: Set by a solver whose step led nowhere: the next look is the last.
        self.stuck = False

    @property
    def gap(self) -> float:
        """How far apart the two values are."""
        return self.primal - self.dual

    @property
    def waited(self) -> int:
        """Iterations since the gap has fallen."""
        return self.best.n_iter - self._fell

    def lower(self, primal: float, w: Array, b: float = 0.0) -> None:
        """Keep weights that are better, as the solver has found."""
        self.primal, self.best.w, self.best.b = primal, w, b

    def lift(self, dual: float, proof: Proof) -> None:
        """Set a larger dual value, and its proof."""
        self.dual, self.best.proof = dual, proof

    def over(self, gap: float | None = None) -> bool:
        """Tell of an iteration; whether it is the last.

        `gap` is what has to fall, where that is not the gap of the best bounds.
        """
        best = self.best
        best.n_iter += 1
        stopped = self._watch(best.n_iter, self.primal, self.dual, lambda: best.w)
        best.converged = self._close(self.primal, self.dual) and (
            self._zero is None or bool(best.w.any()) or self._zero(best.dual)
        )
        if self._holds is not None and best.n_iter % _LONG == 0 and best.w.any():
            best.converged = best.converged or self._holds(best)
            self.stuck = self.stuck or self.gap > (1.0 - _FALLS_IN_LONG) * self._looked_at
            self._looked_at = self.gap
        # Rounding may leave less than nothing, which would count as a fall each time.
        gap = max(self.gap if gap is None else gap, 0.0)
        if gap < (1.0 - self._falls) * self.least_gap:
            self.least_gap, self._fell = gap, best.n_iter
        self.stuck = self.stuck or self.waited >= self._patience
        return best.converged or stopped or self.stuck or best.n_iter >= self._max_iter


def hand_over(
    solver: Callable[..., Solution],
    problem: Any,
    first: Solution,
    *,
    max_iter: int,
    watch: Watch,
    **options: Any,
) -> Solution:
    """Go on by another solver from where the first one ended; its iterations count."""
    before = watch.iterations_before
    watch.iterations_before += first.n_iter
    left = max(max_iter - first.n_iter, 0)
    second = solver(problem, start=first, max_iter=left, watch=watch, **options)
    watch.iterations_before = before
    second.n_iter += first.n_iter
    return second


#: A gain over w = 0, as a share of the objective there, that every solver resolves.
_RESOLVED = 1e-6


def retry_at_smaller_alpha(
    solver: Callable[..., Solution], problem: Any, first: Solution, **options: Any
) -> Solution:
    """Solve again from a smaller alpha where rounding hid what the best w gains over w = 0.

    At a large alpha the loss is nearly linear between w = 0 and the optimum. So alpha w hardly
    depends on alpha, nor do the duals, and whether w = 0 is the optimum does not depend on it at
    all. A smaller alpha, at which the gain is resolved, shows both. A first solution with weights,
    a converged one and one without duals are returned unchanged.
    """
    ended = first.n_iter >= options["max_iter"] or options["watch"].asked_to_stop
    if first.converged or ended or first.w.any() or len(first.dual) != problem.design.shape[0]:
        return first
    at_zero = problem.loss.at_zero
    share = (at_zero - problem.dual_value(first.dual)) / (_RESOLVED * at_zero)
    if not 0.0 < share < 1.0:
        return first
    nearer = problem.at_alpha(share * problem.alpha)
    # Its objective is another one, so the watch must not record it.
    there = solver(nearer, start=None, **options | {"watch": Watch(problem.design)})
    if not there.converged:
        return first
    w, b = share * there.w, share * there.b
    begun = replace(there, w=w, b=b, alpha=problem.alpha, scores=None, kept=None)
    begun.n_iter += first.n_iter
    # Without weights it proves that w = 0 is optimal at any alpha.
    return begun if not begun.w.any() else hand_over(solver, problem, begun, **options)
