"""Rankers that minimise alpha/2 |w|^2 + F(X w), and certify the minimum."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from ..designs import Design, MemoryDesign
from ..inputs.class_split import Split
from ..losses import Loss
from ..problems import Certificate, Problem, Solution
from ..solvers import DoubtfulEntries, sees_entries, solve
from ..solvers.watch import Watch
from ..surrogates import SURROGATES, Surrogate
from .ranker import SEEN, Learnt, Ranker
from .validation import LabelledRows, check_entries, check_matrix

Array = NDArray[np.float64]


class ConvexRanker(Ranker):
    """A ranker that minimises alpha/2 |w|^2 + F(X w), and certifies the minimum.

    A subclass names its parameters and the loss of a split (`_loss`); solver, warm starts,
    threshold and certificate are here.
    """

    alpha: float
    loss: str
    tol: float
    max_iter: int
    warm_start: bool
    #: Of a subclass that leaves no choice.
    solver: str = "auto"
    _solution: Solution
    #: Whether `_learn` sees to the entries of X: its solver may look at them before it uses them.
    _entries_later: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _loss(self, split: Split) -> Loss:
        """The loss of the scores of a split training set."""

    def _design(self, X: ArrayLike, *, reset: bool) -> MemoryDesign:
        """The rows; those of a fit are looked at by the solver, where it can."""
        now = not (reset and self._entries_later)
        design = check_matrix(self, X, reset=reset, n_threads=self.n_threads, entries=now)
        design.entries_in_doubt = not design.entries_checked
        return design

    def _problem(self, design: Design, split: Split) -> Problem:
        """The problem of a training set: its rows may be others than those given.

        Where only differences of scores count, columns far from zero are brought there.
        """
        loss = self._loss(split)
        if loss.shift_invariant:
            design = design.centred(split.rows)
        return Problem(design, loss, float(self.alpha))

    def _solve(self, problem: Problem, start: Solution | None, watch: Watch, seed: int) -> Solution:
        """Solve the problem, by the table in `solvers.choose`."""
        return solve(
            problem,
            self.solver,
            start=start,
            tol=self.tol,
            max_iter=self.max_iter,
            watch=watch,
            seed=seed,
        )

    def _threshold(self, w: Array, problem: Problem, scores: Array) -> float:
        """The score above which a row is called positive: the one the loss knows of."""
        return problem.loss.threshold(scores)

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        problem, start = self._problem(rows.design, rows.split), self.__dict__.get("_solution")
        doubtful = problem.design.entries_in_doubt
        if doubtful and not sees_entries(problem, self.solver):
            check_entries(self, rows.design)
        try:
            learnt = self._minimise(problem, watch)
        except DoubtfulEntries:
            check_entries(self, rows.design)
            problem.design.entries_in_doubt = False  # they are usable; their squares overflow
            if start is not None:
                self._solution = start
            learnt = self._minimise(problem, watch)
        certificate = learnt.certificate
        if rows.design.in_memory and certificate is not None and np.isnan(certificate.gap):
            rows.design.entries_checked = False  # a file that vouched for them may be damaged
            check_entries(self, rows.design)
        return learnt

    def _minimise(self, problem: Problem, watch: Watch) -> Learnt:
        """Learn from a problem that has been made, of the alpha that is set."""
        seed, start = self._seed(), self.__dict__.pop("_solution", None)
        watch.design, watch.unit = problem.design, problem.loss.unit
        watch.attributes = lambda w: self._score(w, problem, problem.design.scores(w))
        if not self.warm_start or (start and len(start.w) != problem.design.shape[1]):
            start = None
        solution = self._solve(problem, start, watch, seed)
        if self.warm_start:
            self._solution = solution
        return self._learnt(problem, solution, watch)

    def _learnt(self, problem: Problem, solution: Solution, watch: Watch) -> Learnt:
        """A solution, judged by a certificate that the solver has no part in."""
        w, certificate = solution.w, problem.vouch(solution)
        if solution.has_dual and solution.held is None:
            assert solution.scores is not None
            score = self._score(w, problem, solution.scores)
        else:
            score = self._linear_score(w, -solution.b, problem)
        met = certificate.holds(self.tol)
        return Learnt(
            score,
            solution.n_iter,
            certificate,
            solution.solver,
            watch.history,
            trivial=met and solution.converged and not w.any(),
            converged=self._accepts(solution, certificate),
            reached="w = 0, with neither a better w nor a proof that there is none" if met else "",
        )

    def _unfinished(self, watch: Watch) -> Self | None:
        """The best weights so far, with their bounds; a warm start goes on from them."""
        progress = watch.progress
        if progress is None:
            return None
        found, best = clone(self), copy(progress.best)
        own = {name: value for name, value in vars(self).items() if name in SEEN}
        best.w, best.n_iter = best.w.copy(), max(best.n_iter, 0)
        certificate = Certificate(progress.primal, progress.dual, progress.primal, watch.unit)
        found.__dict__.update(
            own,
            coef_=best.w[np.newaxis].copy(),
            intercept_=np.array([best.b]),
            certificate_=certificate,
            n_iter_=best.n_iter,
            solver_=best.solver,
            history_=watch.history,
            trivial_=False,
            _solution=best,
        )
        return found  # type: ignore[no-any-return]

    def _score(self, w: Array, problem: Problem, scores: Array) -> dict[str, Array]:
        """The attributes of the score x.w, less its threshold."""
        return self._linear_score(w, self._threshold(w, problem, scores), problem)

    def _linear_score(self, w: Array, threshold: float, problem: Problem) -> dict[str, Array]:
        if problem.design.offset is not None:
            threshold += float(problem.design.offset @ w)
        return {"coef_": w[np.newaxis].copy(), "intercept_": np.array([-threshold])}

    def _accepts(self, solution: Solution, certificate: Certificate) -> bool:
        """Whether the fit is as good as asked: by its certificate, whatever the solver says.

        At w = 0 a small gap does not tell a trivial optimum from a fit that never left its start.
        """
        return certificate.holds(self.tol) and (solution.converged or bool(solution.w.any()))

    @property
    def _surrogate(self) -> Surrogate:
        return SURROGATES[self.loss]


__all__ = ["ConvexRanker"]
