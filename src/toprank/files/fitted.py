"""Checks of the fitted attributes in a model file: their types, and lengths that must agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import ModelFileError

#: Where fitted arrays hold numbers only, except labels.
_OF_NUMBERS = ("toprank.methods.", "toprank.problems.solution", "toprank.weak_learners.")
#: Attributes that are arrays with named columns.
_TABLES = ("history_", "rounds_")


def check_fitted(cls: type, attributes: dict[str, Any]) -> None:
    """Refuse dates where numbers belong, and weights that do not fit the number of columns.

    An ensemble of trees is its parameters, which its constructor checks: attributes would replace
    them afterwards.
    """
    if cls.__module__.startswith("toprank.trees.") and attributes:
        raise ModelFileError(f"its {cls.__name__} has attributes, and should have parameters only")
    if cls.__module__.startswith(_OF_NUMBERS):
        for name, value in attributes.items():
            kind = value.dtype.kind if isinstance(value, np.ndarray | np.generic) else ""
            named, dates = kind == "V" and name not in _TABLES, kind in ("m", "M")
            if named or (dates and name != "classes_"):
                raise ModelFileError(
                    f"its {cls.__name__}.{name} is of type {str(value.dtype)[:80]}, not of numbers"
                )
    if cls.__module__.startswith("toprank.") and "coef_" in attributes:
        _check_weights(cls.__name__, attributes["coef_"], attributes.get("n_features_in_"))


def _check_weights(name: str, coef: Any, width: Any) -> None:
    if not (type(width) is int and isinstance(coef, np.ndarray) and coef.dtype == np.float64):
        raise ModelFileError(f"its {name} has no array of weights, one for each column")
    if coef.shape != (1, width):
        raise ModelFileError(
            f"its {name}.coef_ has shape {str(coef.shape)[:80]}, but it has {str(width)[:40]} "
            "columns"
        )


__all__ = ["check_fitted"]
