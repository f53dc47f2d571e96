"""Small fits of every method, in the forms that keep different things."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import toprank
from support.toy_rows import overlapping

X, Y = overlapping(60, 90, 4)


def fitted(name: str, **options: Any) -> Any:
    ranker = getattr(toprank, name)(**options)
    if "random_state" in ranker.get_params():
        ranker.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.fit(X, Y)


def forms_of(name: str) -> list[dict[str, Any]]:
    """Parameters that make a fit keep what it else would not."""
    parameters = inspect.signature(getattr(toprank, name)).parameters
    forms: list[dict[str, Any]] = [{}]
    if "warm_start" in parameters:
        forms.append({"warm_start": True})
    if "weak_learners" in parameters:
        forms += [{"weak_learners": "stumps"}, {"weak_learners": "linear"}]
    return forms
