"""Rankers by the squared loss over pairs, which sees of the pairs their moments only."""

from __future__ import annotations

from contextlib import nullcontext
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval

from ...estimators.ranker import SEEN, Learnt, Ranker
from ...exceptions import warn_uncertified
from ...inputs.labels import shown
from ...solvers.linalg import one_blas_thread
from ...solvers.watch import Watch
from .quadratic import QuadraticSolution, Target
from .risks import Risk, slope_at_zero

Array = NDArray[np.float64]

#: Where neither alpha nor a radius is given.
DEFAULT_ALPHA = 1e-3
#: So few that BLAS keeps to one thread of itself.
FEW_FEATURES = 32
#: The attributes of the solution.
SOLVED = (
    "coef_",
    "intercept_",
    "certificate_",
    "multiplier_",
    "kkt_",
    "trivial_",
    "n_iter_",
    "history_",
)


class _SolvedOnUse:
    """An attribute of the solution, computed once, at the first use after `partial_fit` or `merge`.

    Like `functools.cached_property` it is no data descriptor: the value in the instance's
    dictionary takes its place. All attributes of the solution are computed together.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, ranker: SquaredLossRanker | None, owner: type) -> Any:
        if ranker is None:
            return self
        ranker._solve_pending()
        if self._name not in ranker.__dict__:
            raise AttributeError(self._name)  # `_why_lacking` explains
        return ranker.__dict__[self._name]


class SquaredLossRanker(Ranker):
    """A ranker that minimises E (1 - w.psi)^2 / 2 + alpha/2 |w|^2 over |w| <= radius.

    A subclass gathers the moments of its pairs. They may grow by blocks: then the problem is
    solved when a solved attribute is asked for.
    """

    alpha: float | None
    radius: float | None
    #: Of a subclass that has no such parameters: what is exact needs none.
    tol: float = 1e-6
    max_iter: int = 1

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "alpha": [None, Interval(Real, 0, None, closed="left")],
        "radius": [None, Interval(Real, 0, None, closed="neither")],
    }

    #: Why w = 0 can be the optimum, and what to do then.
    _why_trivial: ClassVar[str] = (
        "The two classes have the same mean, so that no direction tells them apart."
    )
    _instead: ClassVar[str] = "Try other features: products or powers of these, for instance."

    def _kept_risk(self) -> Risk | None:
        """The risk of what was seen so far, from what is kept of it; None if nothing is."""
        return None

    def _kept(self) -> dict[str, Any]:
        """What is kept of the data, as attributes."""
        return {}

    def _lacks(self) -> str:
        """What must still be seen before the problem can be solved; empty if nothing."""
        return ""

    def _target(self) -> Target:
        """The alpha and the radius asked for."""
        radius = np.inf if self.radius is None else float(self.radius)
        alpha = self.alpha
        if alpha is None:
            alpha = DEFAULT_ALPHA if self.radius is None else 0.0
        return Target(float(alpha), radius)

    coef_ = _SolvedOnUse()
    intercept_ = _SolvedOnUse()
    certificate_ = _SolvedOnUse()
    multiplier_ = _SolvedOnUse()
    kkt_ = _SolvedOnUse()
    trivial_ = _SolvedOnUse()
    n_iter_ = _SolvedOnUse()
    history_ = _SolvedOnUse()

    def _solve_pending(self) -> None:
        """Solve the problem of the blocks so far, if that has not been done."""
        if "_unsolved" not in self.__dict__ or self._lacks():
            return
        self._validate_params()  # they may have been set since the last block
        risk = self._kept_risk()
        assert risk is not None
        self._keep(self._solved(risk, Watch(verbose=self.verbose)))

    def _why_lacking(self, name: str) -> str:
        if name in SOLVED and "_unsolved" in self.__dict__ and (lacking := self._lacks()):
            return f": it {lacking}."
        return super()._why_lacking(name)

    def _check_fitted(self) -> None:
        if "_unsolved" in self.__dict__ and (lacking := self._lacks()):
            raise NotFittedError(f"{type(self).__name__} {lacking}.")
        super()._check_fitted()

    def _take_over(self, other: SquaredLossRanker) -> None:
        """What another ranker knows of its data, beside the moments."""
        if self.pos_label is not None and other.classes_[1] != self.pos_label:
            raise ValueError(
                f"Cannot merge: pos_label={shown(self.pos_label)}, but the other ranker has "
                f"{shown(other.classes_[1])} as its positive class."
            )
        for name in SEEN:
            if name in other.__dict__:
                setattr(self, name, other.__dict__[name])

    def _check_classes(self, other: SquaredLossRanker) -> None:
        """Refuse to merge what was learnt of other classes."""
        if not np.array_equal(self.classes_, other.classes_):
            raise ValueError(
                f"Cannot merge: one ranker has the classes {self.classes_.tolist()}, the other "
                f"{other.classes_.tolist()}; the second of them is the positive one."
            )

    def _forget_solution(self) -> None:
        """The moments have changed: solve again when someone asks."""
        for name in SOLVED:
            self.__dict__.pop(name, None)
        self._unsolved = True

    def _solved(self, risk: Risk, watch: Watch, solver: str = "moments") -> Learnt:
        """The solution of the problem, with its certificate."""
        threads = nullcontext() if risk.n_features <= FEW_FEATURES else one_blas_thread()
        watch.attributes = lambda w: _score(risk, w)
        with threads, np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            learnt = self._solution(risk, watch)
        learnt.solver, learnt.history = solver, watch.history
        learnt.more.update(self._kept())
        if solver == "lanczos":
            learnt.remedies = (*learnt.remedies, "take solver='moments'")
        return learnt

    def _keep(self, learnt: Learnt) -> None:
        self.__dict__.pop("_unsolved", None)
        super()._keep(learnt)

    def _warn(self, learnt: Learnt) -> None:
        certificate = learnt.certificate
        assert certificate is not None
        if not learnt.converged and certificate.dual == 0.0 and self._target() == Target():
            warn_uncertified(self)
        else:
            super()._warn(learnt)

    def _solution(self, risk: Risk, watch: Watch) -> Learnt:
        target, n_iter = self._target(), 0
        found = QuadraticSolution(np.zeros(risk.n_features))
        slope = slope_at_zero(risk)
        size = float(np.abs(slope).max())
        if size != 0.0:
            found, n_iter = risk.solve(target, self.tol, self.max_iter, watch)
        found, certificate = risk.settle(target, found, self.tol)
        met, w = certificate.holds(self.tol), found.w
        if not len(watch.history):
            watch(n_iter, certificate.primal, certificate.dual, lambda: w)
        gradient = risk.value_and_gradient(w, target.alpha)[1]
        left = float(np.linalg.norm(gradient + found.multiplier * w))
        kkt = left / float(np.linalg.norm(slope)) if slope.any() else 0.0
        return Learnt(
            _score(risk, w),
            n_iter,
            certificate,
            trivial=met and size == 0.0,
            converged=met,
            more={"multiplier_": found.multiplier, "kkt_": kkt},
        )


def _score(risk: Risk, w: Array) -> dict[str, Array]:
    """The attributes of the score x.w, less its threshold."""
    return {"coef_": w[np.newaxis], "intercept_": np.array([-risk.threshold(w)])}


__all__ = ["SquaredLossRanker"]
