"""Which row's score is the threshold: the search among the convex problems of AATP.

Every w has a row k at its share tau, and there F(w) = P_k(w) >= min P_k. So the least bound of any
P_k is a bound of F, and a row whose bound is above the best F found need not be looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...problems import Certificate, Solution
from ...solvers import solve
from ...solvers.watch import Watch
from .top_quantile import TopQuantile

Array = NDArray[np.float64]

#: Neighbours of the row at tau, on either side, that are tried where that row leads to no better F.
_NEIGHBOURS = 3
#: The most steps of the alternating search; most fits end after a few dozen.
_MOST_STEPS = 200
#: Shares of the way to the weights of a row's problem: F need not fall all along it.
_SHARES = 0.5 ** np.arange(12)
#: A step that lowers F by less than this share of the tolerance is none.
_LEAST_FALL = 0.1


class ThresholdSearch:
    """The best weights so far, what bounds F from below, and the problems solved.

    Parameters
    ----------
    target : TopQuantile
        F.
    tol, max_iter : float and int
        Where each convex problem stops.
    watch : Watch
        Is told of each.
    seed : int
        For the order in which rows are visited.
    """

    def __init__(
        self, target: TopQuantile, tol: float, max_iter: int, watch: Watch, seed: int
    ) -> None:
        self.target, self.tol, self.max_iter = target, tol, max_iter
        self._watch, self._seed = watch, seed
        self.w, self.scores = np.zeros(target.design.shape[1]), np.zeros(target.design.shape[0])
        self.value = target.value(self.w, self.scores)
        #: No w with this row at tau has a lower F.
        self.bounds = np.zeros(len(target.rows))
        #: The weights of the problems that were solved, by the place of their row.
        self._found: dict[int, Array] = {}
        #: The widest gap that a problem was left with, and the iterations it had.
        self.widest, self.iterations = 0.0, 0
        self._last: Solution | None = None

    def offer(self, w: Array, scores: Array | None = None) -> bool:
        """Take weights if their F is the least so far; whether it is by more than a trifle."""
        scores = self.target.design.scores(w) if scores is None else scores
        value, before = self.target.value(w, scores), self.value
        if value < before:
            self.value, self.w, self.scores = value, w, scores
        return value < before * (1.0 - _LEAST_FALL * self.tol)

    def offer_stretched(self, w: Array) -> None:
        """Weights as they are, and as long as is best for them."""
        scores = self.target.design.scores(w)
        length = self.target.stretch(w, scores)
        self.offer(w, scores)
        self.offer(length * w, length * scores)

    def try_row(self, place: int) -> bool:
        """Go towards the weights of a row's problem, or all the way, as far as F falls."""
        if place not in self._found:
            self._found[place] = self._solve(place)
        w, before = self._found[place], self.w
        scores, scores_before = self.target.design.scores(w), self.scores
        fell = [
            self.offer(
                before + share * (w - before), scores_before + share * (scores - scores_before)
            )
            for share in _SHARES
        ]
        return any(fell)

    def _solve(self, place: int) -> Array:
        """The weights of a row's problem, and what its dual tells of all of them."""
        problem = self.target.problem(place)
        solution = solve(
            problem,
            start=self._last,
            tol=self.tol,
            max_iter=self.max_iter,
            watch=Watch(problem.design),
            seed=self._seed,
        )
        self._last = solution
        certificate = problem.certify(solution)
        if not certificate.holds(self.tol) and certificate.relative_gap > self.widest:
            self.widest, self.iterations = certificate.relative_gap, solution.n_iter
        self.bounds = np.maximum(self.bounds, self.target.bounds(solution.dual))
        self.bounds[place] = max(self.bounds[place], certificate.dual)
        return solution.w

    @property
    def n_solved(self) -> int:
        """Convex problems that were solved."""
        return len(self._found)

    @property
    def bound(self) -> float:
        """No w has a lower F."""
        return min(float(self.bounds.min()), self.value)

    def certify(self) -> tuple[int, Certificate]:
        """The row at tau of the best weights, and their bracket in its problem."""
        order, at = self.target.order(self.scores)
        place = int(order[at])
        problem = self.target.problem(place)
        primal = problem.certify(Solution(self.w, np.zeros(len(order)))).primal
        dual = float(self.bounds[place])
        return int(self.target.rows[place]), Certificate(primal, dual, problem.loss.at_zero)

    def _told(self) -> bool:
        """Note a row of history; whether someone asks to stop."""
        return self._watch(self.n_solved, self.value, self.bound, lambda: self.w)

    def enumerate(self) -> None:
        """Every row whose bound is below the best F, the lowest first; then `alternate`."""
        stopped = False
        while not stopped:
            left = self.bounds.copy()
            left[list(self._found)] = np.inf
            place = int(np.argmin(left))
            if left[place] >= self.value:
                self.alternate()
                return
            self.try_row(place)
            stopped = self._told()

    def alternate(self) -> None:
        """Towards the problem of the row at tau of the best weights, until F falls no more.

        F is that problem's objective near these weights, so that it falls at first, unless rows are
        tied at tau. Where it does not, its neighbours in the order of the scores are tried.
        """
        nearest_first = sorted(range(-_NEIGHBOURS, _NEIGHBOURS + 1), key=abs)
        tried: set[int] = set()
        for _ in range(_MOST_STEPS):
            order, at = self.target.order(self.scores)
            near = [int(order[at + by]) for by in nearest_first if 0 <= at + by < len(order)]
            place = next((place for place in near if place not in tried), None)
            if place is None:
                break
            known = place in self._found
            if self.try_row(place):
                tried.clear()
            else:
                tried.add(place)
            if not known and self._told():
                break
