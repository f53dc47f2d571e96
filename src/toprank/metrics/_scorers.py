"""The metrics as scikit-learn scorers, by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring, make_scorer

from ..exceptions import warn_undefined_metric
from ..inputs.arguments import check_number
from ..inputs.labels import tell_positive
from ._at_k import lift_at_k, precision_at_k, recall_at_k
from ._checks import check_k
from ._discounted import average_reciprocal_rank, dcg, ndcg
from ._precision_recall import average_precision, recall_at_precision
from ._ranking import UndefinedMetricError
from ._roc import auc, partial_auc, positives_at_top, tpr_at_fpr


class _RankingScorer(type(make_scorer(auc))):  # type: ignore[misc]
    """A scorer that knows which label the estimator ranks first, unless it is told one."""

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **options: Any
    ) -> Any:
        told = self
        if "pos_label" not in self._kwargs and hasattr(estimator, "classes_"):
            parameters = {**self._kwargs, "pos_label": _positive_label(estimator, y_true)}
            told = type(self)(self._score_func, self._sign, parameters, self._response_method)
        try:
            return super(_RankingScorer, told)._score(
                method_caller, estimator, X, y_true, **options
            )
        except UndefinedMetricError:
            # Raising, or NaN, would make the means of a search NaN for all candidates, so that
            # the first of them won. The same number for all leaves the choice to other folds.
            warn_undefined_metric(self._score_func.__name__, len(y_true))
            return 0.0


def _positive_label(estimator: Any, y_true: Any) -> Any:
    """The label that an estimator ranks first: its pos_label, or that of a step of it."""
    classes = np.asarray(estimator.classes_).tolist()
    for name, value in getattr(estimator, "get_params", dict)().items():
        if name.split("__")[-1] == "pos_label" and value in classes:
            return value
    if len(classes) == 2 and classes == sorted(classes):
        tell_positive(classes, np.asarray(y_true) == classes[1])
    return classes[-1]


def _scorer(metric: Callable[..., float], **parameters: Any) -> Any:
    # Forests and the like have probabilities only; these order the rows just as well.
    return _RankingScorer(metric, 1, parameters, ("decision_function", "predict_proba"))


_METRICS: dict[str, Callable[..., float]] = {
    metric.__name__: metric
    for metric in (auc, average_precision, average_reciprocal_rank, dcg, ndcg, positives_at_top)
}

SCORERS: dict[str, Any] = {name: _scorer(metric) for name, metric in _METRICS.items()}
"""Scorers of the metrics that need no parameter; `get_scorer` makes the others."""

_PARAMETRISED: dict[str, tuple[Callable[..., float], str]] = {
    "dcg_at": (dcg, "k"),
    "lift_at": (lift_at_k, "k"),
    "ndcg_at": (ndcg, "k"),
    "partial_auc": (partial_auc, "max_fpr"),
    "precision_at": (precision_at_k, "k"),
    "recall_at": (recall_at_k, "k"),
    "recall_at_precision": (recall_at_precision, "min_precision"),
    "tpr_at_fpr": (tpr_at_fpr, "fpr"),
}

_NAME_AND_NUMBER = re.compile(r"(?P<name>[a-z_]+)_(?P<number>\d+|\d*\.\d+(?:e-?\d+)?|\d+e-\d+)")


def get_scorer(name: str, *, pos_label: Any = None) -> Any:
    """Return a new scorer for `name`, for ``scoring=`` in GridSearchCV and the like.

    A scorer ranks by ``decision_function``, or by ``predict_proba`` if there is none, and takes
    ``sample_weight``. Ties: as in the metric of that name. On rows without a positive, precision
    and dcg are 0. Where a metric is undefined the scorer gives 0 too, the same for all candidates
    of a search, so that the other folds decide; an `UndefinedMetricWarning` says how to split.

    Parameters
    ----------
    name : str
        A key of `SCORERS`, or a metric and its parameter: "precision_at_50", "recall_at_0.1",
        "lift_at_100", "dcg_at_10", "ndcg_at_10", "partial_auc_0.05", "recall_at_precision_0.9",
        "tpr_at_fpr_0.01".
        A whole number k is so many rows of the part that is scored, and raises if the part has
        fewer; a fraction fits parts of any size.
    pos_label : label or None, default=None
        The positive label. None takes the one that the estimator ranks first: its `pos_label`, or
        else the second of its `classes_`.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None) -> float``. A copy, so that
        ``set_score_request`` on it changes nothing elsewhere.

    Raises
    ------
    ValueError
        If there is no such metric, or its parameter is out of range.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from toprank.metrics import get_scorer
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> model = LogisticRegression().fit(X, y)
    >>> get_scorer("precision_at_2")(model, X, y)
    0.5
    """
    metric, parameters = metric_of(name)
    told = {} if pos_label is None else {"pos_label": pos_label}
    return _scorer(metric, **parameters, **told)


def metric_of(name: str) -> tuple[Callable[..., float], dict[str, float]]:
    """The metric that a name means, and its parameter."""
    if name in _METRICS:
        return _METRICS[name], {}
    match = _NAME_AND_NUMBER.fullmatch(name)
    if match is None or match["name"] not in _PARAMETRISED:
        patterns = (f"{prefix}_<{keyword}>" for prefix, (_, keyword) in _PARAMETRISED.items())
        raise ValueError(
            f"There is no scorer {name!r}. Valid names: {', '.join((*SCORERS, *patterns))}; "
            "for example precision_at_50 or partial_auc_0.05."
        )
    metric, keyword = _PARAMETRISED[match["name"]]
    number = int(match["number"]) if match["number"].isdecimal() else float(match["number"])
    try:
        if keyword == "k":
            check_k(number)
        else:
            check_number(keyword, number, 0.0, 1.0, ends="[]" if keyword == "fpr" else "(]")
    except ValueError as error:
        raise ValueError(f"The scorer {name!r} cannot be: {error}") from error
    return metric, {keyword: number}


def find_scorer(scoring: str | Callable[..., float], estimator: Any) -> Any:
    """The scorer that is meant: one by name, ours before scikit-learn's, or what was given."""
    if callable(scoring):
        return scoring
    try:
        return get_scorer(scoring)
    except ValueError as ours:
        try:
            return check_scoring(estimator, scoring=scoring)
        except ValueError as theirs:
            raise ValueError(
                f"scoring={scoring!r} is known neither here nor to scikit-learn. {ours} {theirs}"
            ) from None


def takes_weights(scorer: Any) -> bool:
    """Whether a scorer has a parameter for weights."""
    known = inspect.signature(scorer).parameters.values()
    return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in known)


def reads_scores_only(scorer: Any) -> bool:
    """Whether this is a scorer of ours that leaves it to the estimator which label is positive."""
    return isinstance(scorer, _RankingScorer) and "pos_label" not in scorer._kwargs


def score_decisions(scorer: Any, positive: Any, decisions: Any, sample_weight: Any = None) -> float:
    """What such a scorer gives for decisions that are known, without its way to them."""
    return float(
        scorer._score_func(positive, decisions, sample_weight=sample_weight, **scorer._kwargs)
    )
