"""Models of a race in the form that files hold."""

from __future__ import annotations

from typing import Any

from .blend import Blend
from .trees import FirstTrees


def plain(model: Any, width: int) -> Any:
    """Return a model with its boosted trees as plain arrays, for rows of that many columns."""
    if isinstance(model, FirstTrees):
        return model.as_arrays(width)
    if isinstance(model, Blend):
        one, other = (plain(own, width) for own in model.models)
        return Blend((one, other), model.curves, model.weight)
    return model


__all__ = ["plain"]
