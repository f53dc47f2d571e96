"""Conventions of scikit-learn: callbacks, pickles, links to the docs, a twin of its own."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..solvers.watch import Report
from .validation import check_targets, check_weights

Array = NDArray[np.float64]

#: All but no regularisation: two numbers are fitted.
_C = 1e6
#: Of the gradient; the default would leave a trace in the third digit of the offset.
_TOL = 1e-8


def sigmoid(
    scores: Array, positive: NDArray[np.bool_], weight: Array | None
) -> tuple[float, float]:
    """Slope and offset of the logit of the probability.

    Labels are drawn towards each other by a row of each class, as Platt has it, so that scores
    which separate the classes get no certainty.

    J. Platt, Probabilistic Outputs for Support Vector Machines, 1999.
    """
    from sklearn.linear_model import LogisticRegression

    weight = np.ones(len(scores)) if weight is None else weight
    m, n = int(positive.sum()), int((~positive).sum())
    sure = np.where(positive, (m + 1.0) / (m + 2.0), 1.0 / (n + 2.0))
    centre, scale = float(scores.mean()), float(scores.std()) or 1.0
    z = (scores - centre) / scale
    model = LogisticRegression(C=_C, tol=_TOL).fit(
        np.concatenate([z, z])[:, np.newaxis],
        np.repeat([1, 0], len(z)),
        sample_weight=np.concatenate([weight * sure, weight * (1.0 - sure)]),
    )
    slope = max(float(model.coef_[0, 0]), 0.0) / scale  # a score that misleads tells nothing
    if slope == 0.0:
        share = float(weight[positive].sum() / weight.sum())
        return 0.0, float(np.log(share / (1.0 - share)))
    return slope, float(model.intercept_[0]) - slope * centre


try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks: `verbose` tells of progress."""


#: Where the address of the documentation is read from, before that in the package's metadata.
DOCS_VARIABLE = "TOPRANK_DOCS"


def docs_address() -> str:
    """The address of the documentation's site, with a slash at its end; empty if there is none.

    It is that of the environment variable `TOPRANK_DOCS`, a site that ``make docs`` built, for
    instance; or else the project's URL "Documentation".
    """
    address = os.environ.get(DOCS_VARIABLE) or _published()
    return f"{address.rstrip('/')}/" if address else ""


@cache
def _published() -> str:
    try:
        urls = metadata("toprank").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = dict(url.split(", ", 1) for url in urls)
    return str(named.get("Documentation", ""))


@cache
def _parameter_names(ranker: type[Interop]) -> list[str]:
    return super(Interop, ranker)._get_param_names()  # type: ignore[misc, no-any-return]


def public_name(estimator: type) -> str:
    """Where users import a class from: toprank.TopPush, toprank.selection.RankerCV."""
    package, module = estimator.__module__.split(".")[:2]
    at_the_top = estimator.__name__ in import_module(package).__all__
    return (
        f"{package}.{estimator.__name__}"
        if at_the_top
        else f"{package}.{module}.{estimator.__name__}"
    )


class Interop:
    """What a ranker gives to other tools, the same for all."""

    coef_: Array
    intercept_: Array
    classes_: NDArray[Any]
    n_features_in_: int
    n_iter_: int

    #: Attributes of cross-validation, which `toprank.save` leaves out unless asked for them.
    _of_folds: ClassVar[tuple[str, ...]] = ()
    _doc_link_module = "toprank"
    _doc_link_template = "{address}docs/api/{name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"address": docs_address(), "name": public_name(type(self))}

    def _get_doc_link(self) -> str:
        """A link to this class in the documentation, if that has an address."""
        return super()._get_doc_link() if docs_address() else ""  # type: ignore[misc]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The names of the parameters; scikit-learn reads a signature each time it is asked."""
        return list(_parameter_names(cls))  # type: ignore[arg-type]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Only asked for what is not there.
            lacks = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(lacks + self._why_lacking(name))

    def _why_lacking(self, name: str) -> str:
        """Return what to add to the error where an attribute is missing."""
        if name in self._of_folds and "classes_" in vars(self):
            return (
                ": model files leave it out unless they are written with "
                "toprank.save(model, path, folds=True)."
            )
        if name != "predict_proba":
            return ""
        return (
            ": its score is an order, not a probability. Wrap the ranker in scikit-learn's "
            "CalibratedClassifierCV, or take LogisticRank or HeadRanker, which have one."
        )

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the seconds that things took, so that equal fits are equal."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: without_seconds(value) for name, value in state.items()}

    def to_sklearn(
        self,
        X_cal: ArrayLike | None = None,
        y_cal: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """A fitted estimator of scikit-learn's with the same linear score.

        Tools that know scikit-learn's classes only, for serving say, take it as one of theirs.

        Parameters
        ----------
        X_cal : array-like or sparse matrix of shape (n_samples, n_features), optional
            Rows that had no part in the fit, to calibrate probabilities on.
        y_cal : array-like of shape (n_samples,), optional
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        LinearSVC or LogisticRegression
            Without rows to calibrate on a `LinearSVC` with the same `coef_`, `intercept_` and
            `classes_`; of a ranker whose score is the logit of its probability, a
            `LogisticRegression` with the same. A `HeadRanker` calibrates its probabilities apart
            from its score, so its twin is a `LinearSVC`.
            With them a `LogisticRegression` whose score is Platt's sigmoid of this one: the same
            order, and positive where the probability is above one half.

        Examples
        --------
        >>> from toprank import RankSVM
        >>> from toprank.datasets import load_spambase
        >>> X, y = load_spambase(return_X_y=True)
        >>> ranker = RankSVM().fit(X[::2], y[::2])
        >>> ranker.to_sklearn()
        LinearSVC()
        >>> twin = ranker.to_sklearn(X[1::2], y[1::2])
        >>> twin.predict_proba(X[:5]).shape
        (5, 2)
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        self._check_linear()
        if (X_cal is None) != (y_cal is None):
            raise ValueError("Pass both X_cal and y_cal, or neither: rows and their labels.")
        slope, offset, twin = 1.0, 0.0, LinearSVC()
        if X_cal is not None:
            slope, offset = self._sigmoid(X_cal, y_cal, sample_weight)
        is_logit = hasattr(self, "predict_proba") and not hasattr(self, "calibration_")
        if X_cal is not None or is_logit:
            twin = LogisticRegression()
        twin.coef_ = slope * self.coef_
        twin.intercept_ = slope * self.intercept_ + offset
        twin.classes_ = self.classes_.copy()
        twin.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            twin.feature_names_in_ = self.feature_names_in_.copy()
        twin.n_iter_ = np.array([self.n_iter_]) if hasattr(twin, "predict_proba") else self.n_iter_
        return twin

    def _check_linear(self) -> None:
        """Refuse a ranker whose score is not linear in the columns of X."""
        self._check_fitted()  # type: ignore[attr-defined]
        coef = getattr(self, "coef_", None)
        if coef is None or coef.shape[1] != self.n_features_in_:
            why = self._why_lacking("coef_").partition(", because ")[2]
            raise ValueError(
                f"The score of this {type(self).__name__} is not linear in the columns of X"
                f"{f' ({why[:-1]})' if why else ''}, and scikit-learn has no estimator with the "
                "same. Keep the ranker itself, by toprank.save or pickle."
            )

    def _sigmoid(self, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
        """Slope and offset of Platt's sigmoid, from rows that had no part in the fit."""
        scores: Array = self._decide(X)  # type: ignore[attr-defined]
        labels = check_targets(y, X=scores[:, np.newaxis])
        weight = None if sample_weight is None else check_weights(sample_weight, len(scores))
        counted = np.ones(len(scores), dtype=bool) if weight is None else weight > 0.0
        found = set(np.unique(labels[counted]).tolist())
        if found != set(self.classes_.tolist()):
            raise ValueError(
                f"y_cal holds the labels {sorted(found, key=str)}: to calibrate, it takes rows of "
                f"both classes, {self.classes_.tolist()}, and of no other."
            )
        positive = labels == self.classes_[1]
        slope, offset = sigmoid(scores, positive, weight)
        if not slope > 0.0:
            raise ValueError(
                "On X_cal the positives do not score above the negatives, so that the score says "
                "nothing of a probability. Is y_cal in the order of X_cal?"
            )
        return slope, offset


class Callbacks:
    """Passes the iterations of a fit on to the callbacks of an estimator, if any are set."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._context: Any = None

    def __enter__(self) -> Report | None:
        if not vars(self._estimator).get("_skl_callbacks"):
            return None
        self._context = self._estimator._init_callback_context(max_subtasks=None)
        self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return self._iteration

    def _iteration(self, fitted: dict[str, Any]) -> bool:
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


def without_seconds(value: Any) -> Any:
    """Return a structured array, or a dict of columns, with NaN in its seconds."""
    if isinstance(value, np.ndarray) and "seconds" in (value.dtype.names or ()):
        value = value.copy()
        value["seconds"] = np.nan
    elif isinstance(value, dict) and isinstance(value.get("seconds"), np.ndarray):
        value = {**value, "seconds": np.full_like(value["seconds"], np.nan)}
    return value


__all__ = [
    "DOCS_VARIABLE",
    "CallbackSupportMixin",
    "Callbacks",
    "Interop",
    "docs_address",
    "sigmoid",
    "without_seconds",
]
