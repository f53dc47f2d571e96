"""The weights of a chosen linear score, in units of the columns of X."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from ...features.table_coder import CodedNumbers

Array = NDArray[np.float64]


class NotLinear(Exception):
    """Why a score is not linear in the columns of X."""


class HeadWeights:
    """`coef_` and `intercept_` of a ranker that has chosen a linear score of single columns.

    They are there for a linear score of standardised columns and, where rows are sparse, of columns
    as given or with largest entry 1.
    """

    threshold_: float
    _coder: Any

    @property
    def coef_(self) -> Array:
        """Weights of the columns of X, where the chosen score is linear in them."""
        return self._linear("coef_")[0]

    @property
    def intercept_(self) -> Array:
        """What the decision function adds to the weighted sum, where that is linear."""
        return self._linear("intercept_")[1]

    def _linear(self, name: str) -> tuple[Array, Array]:
        if (model := vars(self).get("best_estimator_")) is None:
            raise AttributeError(name)
        try:
            coef, intercept = self._terms_of(model)
        except NotLinear as error:
            raise AttributeError(name) from error
        return coef[np.newaxis], np.array([intercept - self.threshold_])

    def _terms_of(self, model: Any) -> tuple[Array, float]:
        if self._coder is not None and not self._coder.plain:
            raise NotLinear("categories, dates and empty columns are not numbers")
        return weights_of(model)

    def _why_lacking(self, name: str) -> str:
        """Return what to add to the error where an attribute is missing."""
        model = vars(self).get("best_estimator_")
        if name in ("coef_", "intercept_"):
            if model is None:
                return ": it is not fitted yet."
            try:
                self._terms_of(model)
            except NotLinear as error:
                return f": the chosen score is not linear in the columns of X, because {error}."
        if name == "feature_importances_":
            return (
                ": how much each column moves scores is "
                "np.abs(ranker.explain(X).contributions).mean(axis=0)."
            )
        return str(super()._why_lacking(name))  # type: ignore[misc]


def weights_of(model: Any) -> tuple[Array, float]:
    """Return the weights and the intercept of a fitted estimator, one weight for each column."""
    *before, last = _steps(model)
    if not hasattr(last, "decision_function") or not hasattr(last, "coef_"):
        raise NotLinear(f"{type(last).__name__} has no weights")
    coef, intercept = last.coef_, np.ravel(getattr(last, "intercept_", 0.0))
    coef = np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=np.float64)
    if coef.shape[:-1] not in ((), (1,)) or len(intercept) != 1:
        raise NotLinear(f"{type(last).__name__} has the weights of several scores")
    weights, offset = coef.ravel(), float(intercept[0])
    for step in reversed(before):
        centre, scale = _affine(step)
        if scale is not None:
            weights = weights / scale
        if centre is not None:
            offset -= float(weights @ centre)
    return weights, offset


def _steps(model: Any) -> Iterator[Any]:
    """The steps of pipelines, and of pipelines inside them."""
    if not isinstance(model, Pipeline):
        yield model
        return
    for _, step in model.steps:
        if step is not None and step != "passthrough":
            yield from _steps(step)


def _affine(step: Any) -> tuple[Array | None, Array | None]:
    """What a scaler takes off each column, and what it divides it by; None is nothing."""
    if isinstance(step, CodedNumbers) and step.unchanged:
        return None, None
    if isinstance(step, StandardScaler):
        return (step.mean_ if step.with_mean else None), step.scale_
    if isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        return None, step.scale_
    if isinstance(step, FunctionTransformer) and step.func is None:
        return None, None
    raise NotLinear(f"its columns are made by {type(step).__name__}")


__all__ = ["HeadWeights", "NotLinear", "weights_of"]
