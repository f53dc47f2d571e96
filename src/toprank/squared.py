"""Rankers by the squared loss over pairs, which sees of the pairs their moments only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils._param_validation import Interval

from .base import Ranker, warn_caller, warn_trivial, warn_unconverged
from .labels import shown
from .moments import ClassMoments, Moments
from .problem import Certificate
from .solvers._common import one_blas_thread
from .solvers.krylov import PairOperator, krylov
from .solvers.quadratic import (
    Decomposition,
    QuadraticSolution,
    Target,
    decompose,
    solve_once,
)
from .solvers.quadratic_certificate import Curvature, Local, certify
from .solvers.refinement import refined
from .watch import Watch

Array = NDArray[np.float64]

#: Where neither alpha nor a radius is given.
DEFAULT_ALPHA = 1e-3
#: So few that BLAS keeps to one thread of itself.
FEW_FEATURES = 32
#: Set when the problem is solved, which `partial_fit` and `merge` leave until someone asks.
SOLVED = frozenset(
    {"coef_", "intercept_", "certificate_", "multiplier_", "kkt_", "trivial_", "n_iter_"}
)
#: What a ranker knows of its data beside their moments.
SEEN = ("classes_", "n_features_in_", "feature_names_in_")
#: Of smaller features the squares lose their digits.
SMALLEST = 1e-140


class Risk(Protocol):
    """E (1 - w.psi)^2 / 2 over pairs, however it is known."""

    @property
    def n_features(self) -> int:
        """How many features a pair has."""

    def decompose(self, targets: Sequence[Target], tol: float, max_iter: int) -> Decomposition:
        """A decomposition that serves all targets."""

    def solve(
        self, target: Target, tol: float, max_iter: int, watch: Watch | None
    ) -> tuple[QuadraticSolution, int]:
        """The minimum for one target alone, and how many steps it took."""

    def value_and_gradient(self, w: Array, alpha: float = 0.0) -> tuple[float, Array]:
        """The risk + alpha/2 |w|^2, and its gradient."""

    def settle(
        self, target: Target, found: QuadraticSolution, tol: float
    ) -> tuple[QuadraticSolution, Certificate]:
        """A solution with its certificate: the one found, or a better one."""

    def threshold(self, w: Array) -> float:
        """Halfway between the mean scores of the classes."""


class MomentRisk:
    """The risk from the moments of pairs; `middle` is halfway between the classes.

    Where the rows are at hand, `rows` gives products with them: they settle what the moments of
    rows that differ much in size have lost to rounding.
    """

    def __init__(
        self, pairs: Moments, middle: Array, rows: Callable[[], PairOperator] | None = None
    ) -> None:
        self._pairs, self._middle, self._rows = pairs, middle, rows
        self.n_features = len(pairs.mean)
        self.value_and_gradient = pairs.value_and_gradient

    @classmethod
    def of(
        cls, moments: ClassMoments, rows: Callable[[], PairOperator] | None = None
    ) -> MomentRisk:
        """The risk of all pairs of the rows of two classes."""
        return cls(moments.of_pairs(), moments.middle, rows)

    @cached_property
    def _curvature(self) -> Curvature:
        return Curvature(self._pairs.second(), self._pairs.second_rounding())

    def decompose(self, targets: Sequence[Target], tol: float, max_iter: int) -> Decomposition:
        """Exact, whatever the targets."""
        return decompose(self._curvature.second, self._pairs.mean)

    def solve(
        self, target: Target, tol: float, max_iter: int, watch: Watch | None
    ) -> tuple[QuadraticSolution, int]:
        """Exact, but for rounding."""
        return solve_once(self._curvature.second, self._pairs.mean, target), 1

    def settle(
        self, target: Target, found: QuadraticSolution, tol: float
    ) -> tuple[QuadraticSolution, Certificate]:
        """By the moments, and by products with the rows where those do not suffice."""
        value, gradient = self._pairs.value_and_gradient(found.w, target.alpha)
        at = Local(value, gradient, *self._pairs.rounding_at(found.w, target.alpha))
        certificate = certify(at, target, found, self._curvature)
        if certificate.holds(tol) or self._rows is None:
            return found, certificate
        local = partial(RowRisk(self._rows()).local, target.alpha, entrywise=True)
        return refined(self._curvature, target, found, local, tol)

    def threshold(self, w: Array) -> float:
        """w.(m1 + m0)/2."""
        return float(self._middle @ w)


class RowRisk:
    """The risk of all pairs from products with the rows."""

    def __init__(self, operator: PairOperator) -> None:
        self._operator = operator
        self.n_features = operator.design.shape[1]
        self.value_and_gradient = operator.value_and_gradient

    def decompose(self, targets: Sequence[Target], tol: float, max_iter: int) -> Decomposition:
        """Lanczos' method, until the targets are met."""
        return krylov(self._operator, targets, tol=tol, max_iter=max_iter)[0]

    def solve(
        self, target: Target, tol: float, max_iter: int, watch: Watch | None
    ) -> tuple[QuadraticSolution, int]:
        """Lanczos' method."""
        found, n_iter = krylov(self._operator, [target], tol=tol, max_iter=max_iter, on_look=watch)
        return found.solve(target), n_iter

    def local(self, alpha: float, w: Array, *, entrywise: bool = False) -> Local:
        """The risk at w, with the rounding of the products."""
        value, gradient = self._operator.value_and_gradient(w, alpha)
        rounding = self._operator.rounding_at(w, alpha, entrywise=entrywise)
        return Local(value, gradient, *rounding)

    def settle(
        self, target: Target, found: QuadraticSolution, tol: float
    ) -> tuple[QuadraticSolution, Certificate]:
        """By products with the rows."""
        return found, certify(self.local(target.alpha, found.w), target, found)

    def threshold(self, w: Array) -> float:
        """w.(m1 + m0)/2."""
        return self._operator.middle_score(w)


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
    certificate_: Certificate
    multiplier_: float
    kkt_: float
    trivial_: bool
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "alpha": [None, Interval(Real, 0, None, closed="left")],
        "radius": [None, Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
    }

    #: Why w = 0 can be the optimum, and what to do then.
    _why_trivial: ClassVar[str] = (
        "The two classes have the same mean, so that no direction tells them apart."
    )
    _instead: ClassVar[str] = "Try other features: products or powers of these, for instance."

    def _kept_risk(self) -> Risk | None:
        """The risk of what was seen so far, from what is kept of it; None if nothing is."""
        return None

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

    def __getattr__(self, name: str) -> Any:
        # Only asked for what is not there: after blocks the solution waits for its first use.
        if name in SOLVED and "_unsolved" in self.__dict__:
            if lacking := self._lacks():
                raise NotFittedError(f"{type(self).__name__} {lacking}.")
            self._validate_params()  # they may have been set since the last block
            risk = self._kept_risk()
            assert risk is not None
            self._solve(risk)
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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
        for name in (*SOLVED, "history_"):
            self.__dict__.pop(name, None)
        self._unsolved = True

    def _solve(self, risk: Risk, watch: Watch | None = None) -> None:
        """Solve the problem and set the solved attributes."""
        # The digits must not depend on the number of threads; of few features BLAS makes no more.
        threads = nullcontext() if risk.n_features <= FEW_FEATURES else one_blas_thread()
        with threads, np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._set_solution(risk, watch)
        self.__dict__.pop("_unsolved", None)
        if self.trivial_:
            warn_trivial(self, self._why_trivial, self._instead)
        elif not self.certificate_.holds(self.tol):
            if self.certificate_.dual == 0.0 and self._target() == Target():
                warn_caller(
                    f"{type(self).__name__} has no certificate: alpha is 0, and the features are "
                    "linearly dependent, but for rounding, so that nothing bounds the minimum from "
                    "below. Set alpha above 0 (1e-9, say), set a radius, or leave features out.",
                    ConvergenceWarning,
                    about=type(self),
                )
                return
            gap = f"a relative gap of {self.certificate_.relative_gap:.2g}, above tol={self.tol:g}"
            remedies = ["scale the features", "raise alpha"]
            if getattr(self, "solver_", "") == "lanczos":
                remedies.append("take solver='moments'")
            warn_unconverged(self, gap, self.n_iter_, remedies)

    def _set_solution(self, risk: Risk, watch: Watch | None) -> None:
        target = self._target()
        found, self.n_iter_ = QuadraticSolution(np.zeros(risk.n_features)), 0
        _, slope = risk.value_and_gradient(found.w)
        self.trivial_ = not slope.any()
        size = float(np.abs(slope).max())
        if 0.0 < size < SMALLEST:
            raise ValueError(
                f"The mean difference of the classes is {size:g} at the most, so small that its "
                "square vanishes. Scale the features first, for instance with "
                "sklearn.preprocessing.StandardScaler."
            )
        if not self.trivial_:
            found, self.n_iter_ = risk.solve(target, self.tol, self.max_iter, watch)
        found, self.certificate_ = risk.settle(target, found, self.tol)
        # Means that agree but for rounding prove nothing where rounding is large.
        self.trivial_ = self.trivial_ and self.certificate_.holds(self.tol)
        w, self.multiplier_ = found.w, found.multiplier
        gradient = risk.value_and_gradient(w, target.alpha)[1]
        left = float(np.linalg.norm(gradient + found.multiplier * w))
        self.kkt_ = left / float(np.linalg.norm(slope)) if slope.any() else 0.0
        self.coef_, self.intercept_ = w[np.newaxis], np.array([-risk.threshold(w)])


def is_trivial(risk: Risk) -> bool:
    """Whether w = 0 is the minimum: E psi = 0."""
    return not risk.value_and_gradient(np.zeros(risk.n_features))[1].any()


__all__ = ["SEEN", "MomentRisk", "Risk", "RowRisk", "SquaredLossRanker", "is_trivial"]
