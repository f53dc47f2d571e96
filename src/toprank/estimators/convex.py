"""Rankers that minimise alpha/2 |w|^2 + F(X w), and certify the minimum."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from ..designs import Design
from ..inputs.class_split import Split
from ..losses import Loss
from ..problems import Certificate, Multipliers, Problem, Solution
from ..solvers import solve
from ..solvers.watch import Watch
from ..surrogates import SURROGATES, Surrogate
from .ranker import SEEN, Learnt, Ranker
from .validation import LabelledRows, check_entries

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
        learnt = self._minimise(self._problem(rows.design, rows.split), watch)
        certificate = learnt.certificate
        if rows.design.reads_rows and certificate is not None and np.isnan(certificate.gap):
            rows.design.entries_checked = False  # a file whose conversion checked it is damaged
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
        w, certificate = solution.w, problem.certify(solution)
        if solution.proof is None or isinstance(solution.proof, Multipliers):
            score = self._linear_score(w, -solution.b, problem)
        else:
            assert solution.scores is not None
            score = self._score(w, problem, solution.scores)
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
        """Return a ranker with the best weights so far and their bounds, to warm-start from."""
        progress = watch.progress
        if progress is None:
            return None
        best = copy(progress.best)
        best.w, best.n_iter = best.w.copy(), max(best.n_iter, 0)
        score = {"coef_": best.w[np.newaxis].copy(), "intercept_": np.array([best.b])}
        certificate = Certificate(progress.primal, progress.dual, progress.primal, watch.unit)
        learnt = Learnt(score, best.n_iter, certificate, best.solver, watch.history, trivial=False)
        ranker: Self = clone(self)
        seen = {name: value for name, value in vars(self).items() if name in SEEN}
        ranker.__dict__.update(seen, _solution=best, **learnt.attributes())
        return ranker

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
