"""The scores of batches of a table: what a model makes of them, made fast."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features.table import FastNumbers, is_of_table
from ..files.columns import frame_of

Array = NDArray[np.float64]


class Scorer:
    """Scores of columns as `as_kinds` makes them."""

    def __init__(self, model: Any) -> None:
        self._model = model
        steps = getattr(model, "steps", [])
        self._fast = FastNumbers(steps[0][1]) if steps and is_of_table(steps[0][1]) else None

    def __call__(self, columns: dict[str, Any]) -> Array:
        """A score for every row."""
        if self._fast is None:
            return np.asarray(self._model.decision_function(frame_of(columns)))
        return np.asarray(self._model[1:].decision_function(self._fast(columns)))


__all__ = ["Scorer"]
