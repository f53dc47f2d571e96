"""The models of a comparison: given, or made by their names; logistic regression always."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedGroupKFold, TimeSeriesSplit
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from ...features import table_pipeline
from ..head import HeadRanker
from ..named_models import chooses_alpha, named_model
from ..ranker_cv import RankerCV

#: The model that all others are compared with.
REFERENCE = "logistic"


class ModelMaker:
    """Makes models by name, for rows of a kind and a measure."""

    def __init__(
        self, X: Any, scoring: str, capacity: float | None, *, cv: Any, random_state: Any
    ) -> None:
        self.sparse = sparse.issparse(X)
        self.scoring, self.capacity = scoring, capacity
        # Inside a training part five folds choose alpha. A HeadRanker has three by default.
        self.cv, self.cv_of_heads = _inner(cv, 5), _inner(cv, 3)
        self.random_state = random_state

    def of(self, models: Any) -> dict[str, Any]:
        """All models by name, logistic regression first."""
        found = {}
        for name, model in _named(models).items():
            if isinstance(model, str):
                model = self.make(model)
            _check(name, model)
            found[name] = model
        if REFERENCE not in found:
            found = {REFERENCE: self.make(REFERENCE), **found}
        return found

    def make(self, name: str) -> Any:
        """The model of a name, not fitted."""
        known = named_model(name)
        cls = known.ranker
        if known.options is not None:
            return HeadRanker(
                self.capacity,
                scoring=self.scoring,
                cv=self.cv_of_heads,
                random_state=self.random_state,
                **known.options,
            )
        ranker = cls(**self._seed(cls))
        if chooses_alpha(cls):
            ranker = RankerCV(ranker, cv=self.cv, scoring=self.scoring)
        return self._prepared(ranker)

    def _seed(self, cls: Any) -> dict[str, Any]:
        known = "random_state" in cls._get_param_names()
        return {"random_state": self.random_state} if known else {}

    def _prepared(self, ranker: Any) -> Any:
        """The ranker behind what makes numbers of columns and scales them."""
        if self.sparse:
            return Pipeline([("scale", MaxAbsScaler()), ("ranker", ranker)])
        (numbers,) = table_pipeline().steps
        return Pipeline([numbers, ("scale", StandardScaler()), ("ranker", ranker)])


def _inner(cv: Any, count: int) -> Any:
    """Folds inside a training part, of the kind of those around it: of groups, of time."""
    if isinstance(cv, TimeSeriesSplit):
        return type(cv)(count)
    return StratifiedGroupKFold(count) if isinstance(cv, GroupsConsumerMixin) else count


def _named(models: Any) -> dict[str, Any]:
    """Models or names of models by what they are called; equal names are numbered."""
    if isinstance(models, Mapping):
        return {str(name): model for name, model in models.items()}
    if isinstance(models, str) or not isinstance(models, list | tuple):
        models = [models]
    found: dict[str, Any] = {}
    for model in models:
        base = model.lower() if isinstance(model, str) else _class_name(model)
        name, number = base, 1
        while name in found:
            number += 1
            name = f"{base} {number}"
        found[name] = model
    return found


def _class_name(model: Any) -> str:
    if isinstance(model, Pipeline):
        return _class_name(model.steps[-1][1])
    inner = getattr(model, "estimator", None)
    return type(model).__name__ if inner is None else _class_name(inner)


def _check(name: str, model: Any) -> None:
    """Refuse what is no estimator, and one that names a label: labels are 0 and 1 here."""
    if not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise ValueError(
            f"The model {name!r} must be an estimator or a name, such as 'head', got "
            f"{type(model).__name__}."
        )
    for parameter, value in model.get_params().items():
        named = parameter.split("__")[-1] == "pos_label" and value is not None
        if named and not (np.isscalar(value) and value == 1):
            raise ValueError(
                f"The model {name!r} has {parameter}={value!r}: models see labels 0 and 1 here. "
                "Leave it out, and pass compare(..., pos_label=...)."
            )


__all__ = ["REFERENCE", "ModelMaker"]
