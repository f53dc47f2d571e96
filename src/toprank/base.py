"""Rankers: scikit-learn classifiers whose score is what counts."""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, check_random_state

from .designs import DenseDesign, Design, MemoryDesign, SparseDesign, centred
from .exceptions import TrivialSolutionWarning
from .losses import Loss, ThresholdLoss
from .metrics import auc
from .problem import Certificate, Problem, Solution
from .surrogates import SURROGATES, Surrogate
from .validation import check_labels, check_matrix
from .watch import Watch

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks: `verbose` tells of progress."""


Array = NDArray[np.float64]


class Ranker(ClassifierMixin, BaseEstimator, ABC):
    """A linear score: the higher, the more surely a row is positive.

    Rankers are scikit-learn classifiers, because its displays and calibration ask for one, but
    what they learn is an order. `score` is the area under the ROC curve, not accuracy.
    """

    coef_: Array
    intercept_: Array
    classes_: NDArray[Any]
    n_threads: int | None

    #: What scoring needs of a fit.
    _scores_by: ClassVar[str] = "coef_"

    def decision_function(self, X: ArrayLike) -> Array:
        """Score rows: the higher, the nearer the top.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            X @ coef_, or a sum of base rankers, + intercept_; above zero where `predict` says
            positive.
        """
        self._check_fitted()
        design = self._design(X, reset=False)
        return np.asarray(self._scores(design) + self.intercept_[0])

    def _check_fitted(self) -> None:
        """Refuse to score before a fit."""
        check_is_fitted(self, self._scores_by)  # a failed fit may leave other attributes

    def _design(self, X: ArrayLike, *, reset: bool) -> DenseDesign | SparseDesign:
        """The rows, checked."""
        return check_matrix(self, X, reset=reset, n_threads=self.n_threads)

    def _scores(self, design: DenseDesign | SparseDesign) -> Array:
        """The scores without the intercept."""
        return design.scores(self.coef_[0])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Label rows: the positive class where the decision function is above zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of `classes_`.
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def rank(self, X: ArrayLike) -> NDArray[np.int64]:
        """Order rows from the top of the list down.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Row numbers, the highest score first; tied rows in the order they came in.
        """
        return np.argsort(-self.decision_function(X), kind="stable")

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Area under the ROC curve of the decision function; not accuracy.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        float
            The probability that a positive row scores above a negative one; ties count half.
        """
        scores = self.decision_function(X)
        return auc(y, scores, sample_weight=sample_weight, pos_label=self.classes_[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


class ConvexRanker(CallbackSupportMixin, Ranker):
    """A ranker that minimises alpha/2 |w|^2 + F(X w), and certifies the minimum.

    A subclass names its parameters, the loss of a split (`_loss`) and how it is solved
    (`_solve`); checking, warnings, warm starts and fitted attributes are here.
    """

    alpha: float
    loss: str
    tol: float
    max_iter: int
    warm_start: bool
    random_state: Any
    verbose: int
    certificate_: Certificate
    history_: NDArray[np.void]
    n_iter_: int
    trivial_: bool

    #: Why w = 0 can be the optimum, and what to do then.
    _why_trivial: ClassVar[str] = (
        "The two classes have the same mean, so that no direction tells them apart on average, "
        "at any alpha and for any loss."
    )
    _instead: ClassVar[str] = "Try other features: products or powers of these, for instance."

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_threads": [None, Interval(Integral, 1, 4096, closed="both")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    @abstractmethod
    def _loss(self, split: Any) -> Loss:
        """The loss of the scores of a split training set."""

    def _problem(self, design: Design, split: Any) -> Problem:
        """The problem of a training set: its rows may be others than those given.

        Where only differences of scores count, columns far from zero are brought there.
        """
        loss = self._loss(split)
        if loss.shift_invariant and isinstance(design, MemoryDesign):
            design = centred(design, split.rows)
        return Problem(design, loss, float(self.alpha))

    @abstractmethod
    def _solve(self, problem: Problem, start: Solution | None, watch: Watch, seed: int) -> Solution:
        """Solve the problem."""

    @abstractmethod
    def _threshold(self, w: Array, problem: Problem, scores: Array) -> float:
        """The score above which a row is called positive."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. float32 and float64 are used as they are, without a copy; for losses of
            differences of scores columns far from zero are centred in one.
        y : array-like of shape (n_samples,)
            Two labels; the greater one is the positive class.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        self
            The fitted ranker.
        """
        # A solver without chance has no such parameter, and must not use up random numbers.
        seed = _seed(self.random_state) if hasattr(self, "random_state") else 0
        design = check_matrix(self, X, reset=True, n_threads=self.n_threads)
        self.classes_, split = check_labels(y, sample_weight, design)
        problem = self._problem(design, split)
        with _Callbacks(self, problem, X, y) as report:
            watch = Watch(problem.design, verbose=self.verbose, on_iteration=report)
            start = getattr(self, "_solution", None) if self.warm_start else None
            if start is not None and len(start.w) != design.shape[1]:
                start = None
            solution = self._solve(problem, start, watch, seed)
            self._keep(problem, solution, watch)
        return self

    def _keep(self, problem: Problem, solution: Solution, watch: Watch) -> None:
        """Set the fitted attributes from a solution, and warn of what is amiss with it."""
        if self.warm_start:
            self._solution = solution
        solution.scores = scores = problem.design.scores(solution.w)
        self.certificate_ = problem.certify(solution.w, solution.dual, scores)
        for name, value in self._linear(solution.w, problem, scores).items():
            setattr(self, name, value)
        self.n_iter_ = solution.n_iter
        self.history_ = watch.history
        self.solver_ = solution.solver
        if not (self._accepts(solution) or watch.asked_to_stop):
            reached = (
                f"a relative gap of {self.certificate_.relative_gap:.2g}, above tol={self.tol:g}"
            )
            if self.certificate_.holds(self.tol):
                reached = "w = 0, with neither a better w nor a proof that there is none"
            warn_caller(
                f"{type(self).__name__} stopped after {solution.n_iter} iterations at {reached}. "
                "Raise max_iter or alpha, scale the features, or accept the gap by a larger tol.",
                ConvergenceWarning,
            )
        certified = solution.converged and self.certificate_.holds(self.tol)
        self.trivial_ = certified and not np.any(solution.w)
        if self.trivial_:
            warn_trivial(self, self._why_trivial, self._instead)

    def _linear(self, w: Array, problem: Problem, scores: Array) -> dict[str, Array]:
        """The attributes of the score x.w, less its threshold."""
        threshold = self._threshold(w, problem, scores)
        if problem.design.offset is not None:
            threshold += float(problem.design.offset @ w)
        return {"coef_": w[np.newaxis].copy(), "intercept_": np.array([-threshold])}

    def _accepts(self, solution: Solution) -> bool:
        """Whether the fit is as good as asked: by its certificate, whatever the solver says.

        At w = 0 a small gap does not tell a trivial optimum from a fit that never left its start.
        """
        return self.certificate_.holds(self.tol) and (solution.converged or bool(solution.w.any()))

    @property
    def _surrogate(self) -> Surrogate:
        return SURROGATES[self.loss]


class ThresholdRanker(ConvexRanker):
    """A ranker that learns a threshold b with its weights, by a ThresholdLoss."""

    def _threshold(self, w: Array, problem: Problem, scores: Array) -> float:
        loss = problem.loss
        assert isinstance(loss, ThresholdLoss)
        return -loss.best_bias(scores[loss.split.pos], scores[loss.split.neg])


def _seed(random_state: Any) -> int:
    """A seed for the core; an int is one, and making a generator of it would cost more."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the first line up the stack that is neither ours nor scikit-learn's."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("toprank.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_trivial(estimator: Ranker, why: str, advice: str) -> None:
    """Say that the optimum is w = 0, why, and what to do."""
    warn_caller(
        f"The optimum of {type(estimator).__name__} on these data is trivial: w = 0, every row "
        f"gets the same score. {why} {advice}",
        TrivialSolutionWarning,
    )


class _Callbacks:
    """Passes iterations on to scikit-learn's callbacks, where it has them and some are set."""

    def __init__(self, estimator: ConvexRanker, problem: Problem, X: Any, y: Any) -> None:
        self._estimator, self._problem, self._data = estimator, problem, {"X": X, "y": y}
        self._context: Any = None

    def __enter__(self) -> Callable[[Array], bool] | None:
        if not getattr(self._estimator, "_skl_callbacks", None):
            return None
        self._context = self._estimator._init_callback_context(max_subtasks=None)
        self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return self._iteration

    def _iteration(self, w: Array) -> bool:
        fitted = self._estimator._linear(w, self._problem, self._problem.design.scores(w))
        step = self._context.subcontext(task_name="iteration")
        step.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(
            step.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=fitted, **self._data
            )
        )

    def __exit__(self, kind: object, *_: object) -> None:
        if self._context is not None and kind is None:
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes={}, **self._data
            )


__all__ = ["ConvexRanker", "Ranker", "ThresholdRanker", "warn_caller", "warn_trivial"]
