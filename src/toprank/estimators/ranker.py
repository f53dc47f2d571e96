"""Ranker: the base class of estimators, and the one implementation of `fit`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from numbers import Integral
from typing import Any, ClassVar, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, make_constraint
from sklearn.utils.validation import check_is_fitted, check_random_state

from ..designs import Design, MemoryDesign
from ..exceptions import (
    TrivialSolutionWarning,
    UnfinishedFitError,
    warn_caller,
    warn_trivial,
    warn_unconverged,
)
from ..inputs.class_split import Split
from ..inputs.dispatch import cluster_of, dask_aware
from ..inputs.labels import POS_LABEL, refuse_sorted_order
from ..inputs.mapped_arrays import in_memory
from ..metrics import auc
from ..problems.solution import Certificate
from ..solvers.watch import Watch
from .sklearn_api import Callbacks, CallbackSupportMixin, Interop
from .validation import LabelledRows, check_block_labels, check_labels, check_matrix, check_weights

P = ParamSpec("P")
R = TypeVar("R")


def fitting(method: Callable[P, R]) -> Callable[P, R]:
    """Make a method one that fits: its parameters are checked, and if it fails nothing changes.

    A fit sets attributes one by one. One that raised halfway, on rows of another width say, would
    leave some of its own among those of the fit before.
    """
    checked = _fit_context(prefer_skip_nested_validation=True)(method)

    @wraps(method)
    def fit(*args: P.args, **kwargs: P.kwargs) -> R:
        own: dict[str, Any] = args[0].__dict__
        before = own.copy()
        try:
            return checked(*args, **kwargs)  # type: ignore[no-any-return]
        except BaseException:
            own.clear()
            own.update(before)
            raise

    return fit


@lru_cache(maxsize=128)
def constraints_of(kind: type[Any]) -> list[tuple[str, list[Any]]]:
    """The parameters of a class, and what each must satisfy one of."""
    known, unchecked = kind._parameter_constraints, "no_validation"
    named = [(name, known.get(name, unchecked)) for name in kind._get_param_names()]
    return [(name, list(map(make_constraint, own))) for name, own in named if own != unchecked]


@dataclass
class Learnt:
    """What `_learn` returns: `Ranker._keep` makes attributes of it, `Ranker._warn` warnings.

    What is None has no meaning for the method, and becomes no attribute.
    """

    #: The attributes of the score, `intercept_` among them.
    score: dict[str, Any]
    n_iter: int
    certificate: Certificate | None = None
    solver: str | None = None
    history: NDArray[np.void] | None = None
    #: Whether the optimum is w = 0, proven.
    trivial: bool | None = None
    #: Whether the fit is as good as was asked for.
    converged: bool = True
    #: Whether a callback ended it: then it was asked for no more.
    asked_to_stop: bool = False
    #: Where it stopped instead, if not at a relative gap above tol.
    reached: str = ""
    #: Iterations of the solver, where `n_iter` counts something else.
    solver_iterations: int | None = None
    #: What may help a fit that stopped short, beside more iterations.
    remedies: Sequence[str] = ("scale the features", "raise alpha")
    #: What the method alone has to tell.
    more: dict[str, Any] = field(default_factory=dict)

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes, by name."""
        common = {
            "n_iter_": self.n_iter,
            "certificate_": self.certificate,
            "solver_": self.solver,
            "history_": self.history,
            "trivial_": self.trivial,
        }
        known = {name: value for name, value in common.items() if value is not None}
        return {**self.score, **known, **self.more}


Array = NDArray[np.float64]

#: What a ranker knows of its data before it has learnt anything.
SEEN = ("classes_", "n_features_in_", "feature_names_in_")


class Ranker(Interop, CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """A linear score: the higher, the more surely a row is positive.

    Rankers are scikit-learn classifiers, because its displays and calibration ask for one, but
    what they learn is an order. `score` is the area under the ROC curve, not accuracy.

    A subclass names its parameters and learns (`_learn`); checks, attributes and warnings are
    here, the same for all.
    """

    coef_: Array
    intercept_: Array
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_iter_: int
    certificate_: Certificate
    solver_: str
    history_: NDArray[np.void]
    trivial_: bool
    n_threads: int | None
    verbose: int
    pos_label: Any

    #: What scoring needs of a fit.
    _scores_by: ClassVar[str] = "coef_"
    #: Whether weights count as they are, and not only as shares of their sum.
    _sums_weights: ClassVar[bool] = False
    #: Whether rows on a cluster will do: whether sums over them are all that it needs.
    _on_clusters: ClassVar[bool] = False
    #: Whether a label that is less than half as frequent as the other is positive.
    _rarer_first: ClassVar[bool] = False
    #: Whether their scores must come to one place for that.
    _gathers_scores: ClassVar[bool] = False
    #: Why w = 0 can be the optimum, and what to do then.
    _why_trivial: ClassVar[str] = (
        "The two classes have the same mean, so that no direction tells them apart on average, "
        "at any alpha and for any loss."
    )
    _instead: ClassVar[str] = "Try other features: products or powers of these, for instance."

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_threads": [None, Interval(Integral, 1, 4096, closed="both")],
        "verbose": ["verbose"],
        "pos_label": POS_LABEL,
    }

    @fitting
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. float32 and float64 are used as they are, without a copy; for losses of
            differences of scores columns far from zero are centred in one. Where sums over rows
            will do, a Dask DataFrame or array, which is fitted on its cluster.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none. Where rows are drawn,
            or read one by one, the notes of the class say how weights count.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight)

    def _validate_params(self) -> None:
        """Check the parameters as scikit-learn does, by constraints that are made once a class."""
        for name, constraints in constraints_of(type(self)):
            value = getattr(self, name)
            if not any(one.is_satisfied_by(value) for one in constraints):
                super()._validate_params()  # says what is wrong

    def _fit(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Self:
        """Check, learn, keep, warn; the options are for `_learn`."""
        y, sample_weight = in_memory(y), in_memory(sample_weight)
        cluster = cluster_of(X, y, sample_weight)
        if cluster is None:
            return self._fit_rows(self._check(X, y, sample_weight), X, y, **options)
        with cluster.rows_of(self, X, y, sample_weight) as rows:
            return self._fit_rows(rows, X, y, **options)

    def _fit_rows(self, rows: LabelledRows, X: Any, y: Any, **options: Any) -> Self:
        """Learn, keep, warn."""
        with Callbacks(self, X, y) as report:
            watch = Watch(rows.design, verbose=self.verbose, report=report)
            try:
                learnt = self._learn(rows, watch, **options)
            except UnfinishedFitError as error:
                error.solution = error.solution or self._unfinished(watch)
                raise
            learnt.asked_to_stop = watch.asked_to_stop
            self._keep(learnt)
        return self

    @abstractmethod
    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        """Learn from rows that have been checked."""

    def _unfinished(self, watch: Watch) -> Self | None:
        """A ranker with what a fit that could not go on has found; None if that is nothing."""
        return None

    def _check(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> LabelledRows:
        """What `fit` is given, checked; sets `classes_`."""
        design = self._design(X, reset=True)
        return self._labelled(design, self._weights_of(design, sample_weight), X, y)

    def _labelled(self, design: MemoryDesign, weight: Array | None, X: Any, y: Any) -> LabelledRows:
        """Rows with checked labels; sets `classes_`."""
        self.classes_, split = check_labels(
            y, weight, design, self.pos_label, rarer_first=self._rarer_first
        )
        return LabelledRows(design, split, weight, X, y)

    def _check_block(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
        *,
        first: bool,
    ) -> LabelledRows:
        """What `partial_fit` is given, checked. A block may lack a class; the first names them."""
        design = self._design(X, reset=first)
        weight = self._weights_of(design, sample_weight)
        positive = check_block_labels(self, y, classes, design)
        return LabelledRows(design, Split.of(positive, weight, one_class=True), weight)

    def _weights_of(self, design: MemoryDesign, weight: Any) -> Array | None:
        if weight is None:
            return None
        return check_weights(weight, design.shape[0], summed=self._sums_weights)

    def _seed(self) -> int:
        """A seed for the core; an int is one, and making a generator of it would cost more."""
        random_state = getattr(self, "random_state", 0)
        if isinstance(random_state, Integral):
            return int(random_state)
        return int(check_random_state(random_state).randint(2**31 - 1))

    def _keep(self, learnt: Learnt) -> None:
        """Set the fitted attributes, so that none is left of a fit before, and warn."""
        own = self.__dict__
        for name in [name for name in own if name.endswith("_") and name not in SEEN]:
            del own[name]
        own.update(learnt.attributes())
        self._warn(learnt)

    def _warn(self, learnt: Learnt) -> None:
        """Say what is amiss with a fit."""
        if learnt.trivial:
            warn_trivial(self, self._why_trivial, self._instead)
        if not (learnt.converged or learnt.asked_to_stop):
            n_iter = learnt.solver_iterations
            warn_unconverged(
                self,
                learnt.reached or self._gap_left(learnt),
                learnt.n_iter if n_iter is None else n_iter,
                learnt.remedies,
            )

    def _gap_left(self, learnt: Learnt, of: str = "") -> str:
        """The gap that a fit came to, in words."""
        assert learnt.certificate is not None
        gap, tol = learnt.certificate.relative_gap, self.get_params(deep=False).get("tol", 0.0)
        return f"a relative gap of {gap:.2g}{of}, above tol={tol:g}"

    @dask_aware
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
            positive. After a trivial fit they are all the same, and a `TrivialSolutionWarning`
            says so.
        """
        scores = self._decide(X)
        refuse_sorted_order(self.classes_)
        self._tell_ties()
        return scores

    def _decide(self, X: ArrayLike) -> Array:
        """The scores, without a word on what they are worth."""
        self._check_fitted()
        design = self._design(X, reset=False)
        return np.asarray(self._scores(design) + self.intercept_[0])

    def _to_score(self) -> Self:
        """What is sent to workers that score rows: without what that needs nothing of."""
        return self

    @property
    def _ties_all(self) -> bool:
        """Whether every row has the same score."""
        return bool(getattr(self, "trivial_", False))

    def _tell_ties(self, order: str = "") -> None:
        if self._ties_all:
            warn_caller(
                f"This {type(self).__name__} is trivial: it gives every row the same score{order}. "
                "The warning of the fit said why, and what to do.",
                TrivialSolutionWarning,
                about=type(self),
            )

    def _check_fitted(self) -> None:
        """Refuse to score before a fit."""
        check_is_fitted(self, self._scores_by)  # a failed fit may leave other attributes

    def _design(self, X: ArrayLike, *, reset: bool) -> MemoryDesign:
        """The rows, checked."""
        return check_matrix(self, X, reset=reset, n_threads=self.n_threads)

    def _scores(self, design: Design) -> Array:
        """The scores without the intercept."""
        return design.scores(self.coef_[0])

    @dask_aware
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
        positive = self._decide(X) > 0
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
            Row numbers, the highest score first; tied rows in the order they came in. After a
            trivial fit that is all rows, and a `TrivialSolutionWarning` says so.
        """
        if cluster_of(X) is not None:
            raise TypeError(
                "rank orders all rows in one place: toprank.dask.top(model, X, k) gives the k "
                "highest of a collection, and decision_function(X) their scores, lazily."
            )
        scores = self._decide(X)
        self._tell_ties(", so that all rows are tied and keep the order they came in")
        return np.argsort(-scores, kind="stable")

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
        cluster = cluster_of(X, y)
        if cluster is not None:
            positive, scores, weight = cluster.scored(self, X, y, sample_weight)
            return auc(positive, scores, sample_weight=weight, pos_label=True)
        scores = self._decide(X)
        return auc(y, scores, sample_weight=sample_weight, pos_label=self.classes_[1])


__all__ = ["SEEN", "Learnt", "Ranker", "constraints_of", "fitting"]
