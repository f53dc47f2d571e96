"""Checks of the parts of a model of raw tables in a model file: they must agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import ModelFileError

#: How far from one the weights of a blend may sum, by rounding.
_ROUNDING = 1e-9
#: The parts of a date, in their order.
_PARTS = ["days", "month", "day", "weekday", "hour"]


def check_made(made: Any) -> None:
    """Refuse a coder, or what works on its codes, whose parts do not agree."""
    check = _CHECKS.get(type(made).__name__)
    if check is None or not type(made).__module__.startswith("toprank."):
        return
    try:
        agrees = check(made)
    except (AttributeError, TypeError, ValueError, IndexError, KeyError, OverflowError):
        agrees = False
    if not agrees:
        raise ModelFileError(f"the parts of its {type(made).__name__} do not agree")


def _coder(coder: Any) -> bool:
    n = len(coder.names)
    owners: list[int] = []
    levels: list[int] = []
    for j, kind in enumerate(coder.kinds):
        if kind == "category":
            words = coder.words[j]
            owners.append(j)
            levels.append(len(words) + 1)
            if not (_texts(words) and len(set(words)) == len(words)):
                return False
            if not (type(coder.pooled[j]) is int and coder.pooled[j] >= 0):
                return False
        elif kind in ("date", "span"):
            parts, zoned = coder.parts[j], coder.zoned[j]
            known = ["days"] if kind == "span" else [part for part in _PARTS if part in parts]
            if parts != known or "days" not in parts or zoned not in (None, True, False):
                return False
            owners += [j] * len(parts)
            levels += [0] * len(parts)
        elif kind == "number":
            owners.append(j)
            levels.append(0)
        elif kind is not None:
            return False
    whole = _texts(coder.names) and len(coder.kinds) == n and owners != []
    gaps = type(coder.gaps) is list and all(type(j) is int and 0 <= j < n for j in coder.gaps)
    return whole and gaps and _same(coder.owners, owners) and _same(coder.levels, levels)


def _texts(values: Any) -> bool:
    return type(values) is list and all(type(value) is str for value in values)


def _same(array: Any, values: list[int]) -> bool:
    return _ints(array) and array.tolist() == values


def _ints(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "i" and array.ndim == 1


def _floats(array: Any, shape: tuple[int, ...]) -> bool:
    known = isinstance(array, np.ndarray) and array.dtype == np.float64
    return known and array.shape == shape and bool(np.isfinite(array).all())


def _numbers(step: Any) -> bool:
    if not hasattr(step, "tables_"):  # not fitted
        return True
    levels = step.levels
    if not (_ints(levels) and (levels >= 0).all() and step.n_features_in_ == len(levels)):
        return False
    numbers, counts = np.flatnonzero(levels == 0), levels[levels > 0].tolist()
    tables = zip(step.tables_, counts, strict=True)
    return (
        _floats(step.medians_, numbers.shape)
        and _ints(step.flagged_)
        and bool(np.isin(step.flagged_, numbers).all())
        and type(step.tables_) is list
        and all(table.ndim == 2 and _floats(table, (n + 1, table.shape[1])) for table, n in tables)
    )


def _curve(curve: Any) -> bool:
    n = len(curve.scores)
    slopes = type(curve.slopes) is tuple and len(curve.slopes) == 2
    return (
        n > 0
        and _floats(curve.scores, (n,))
        and _floats(curve.values, (n,))
        and bool((np.diff(curve.scores) > 0).all())
        and slopes
        and all(type(slope) is float and slope >= 0.0 for slope in curve.slopes)
    )


def _blend(blend: Any) -> bool:
    from ..selection.head.ensemble import Stretch

    models, curves, weights = blend.models, blend.curves, blend.weights
    return (
        type(models) is tuple
        and type(curves) is tuple
        and type(weights) is tuple
        and len(models) == len(curves) == len(weights) >= 2
        and all(hasattr(model, "decision_function") for model in models)
        and all(type(curve) is Stretch for curve in curves)
        and all(type(weight) is float and 0.0 <= weight <= 1.0 for weight in weights)
        and abs(sum(weights) - 1.0) <= _ROUNDING
    )


_CHECKS = {"Blend": _blend, "CodedNumbers": _numbers, "Stretch": _curve, "TableCoder": _coder}

__all__ = ["check_made"]
