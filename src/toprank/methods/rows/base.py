"""What the estimators of smooth losses of single rows share."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from ...estimators.convex import ConvexRanker


class PointRanker(ConvexRanker):
    """A ranker with a smooth loss of every row against a threshold: few passes, or Newton."""

    solver: str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexRanker._parameter_constraints,
        "solver": [StrOptions({"auto", "few-passes", "newton"})],
    }
