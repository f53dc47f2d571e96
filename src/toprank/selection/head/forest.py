"""Forests of random trees in the race, with exact splits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...designs.base import resolve_threads
from ...trees import TreeEnsemble, from_model
from ..fold_path import Rows
from .case_control import draw_rows, relative
from .contenders import Data, OneSetting

#: Larger values are clipped: forests of scikit-learn hold and add up columns in float32.
_LARGEST = 1e30


@dataclass(frozen=True)
class Forest(OneSetting):
    """A random forest, or extremely randomised trees, on case-control rows."""

    name: str
    seed: int
    #: Whether thresholds are drawn at random, as in extremely randomised trees.
    extra: bool = False
    n_trees: int = 100
    leaf_rows: int = 1
    #: The most rows of a fit.
    most: int | None = None
    features: str = "columns as given"
    loss: str = "Gini"
    setting: str = ""
    family: str = "forests"
    _note: list[str] = field(default_factory=list)

    @property
    def note(self) -> str:
        """Return what the leaderboard says of the rows."""
        return "".join(self._note)

    def _fitted(self, data: Data, rows: Rows) -> TreeEnsemble:
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

        rows = data.used(rows)
        drawn = draw_rows(data.y[rows] == 1, self.seed, most=self.most)
        if not drawn.every and not self._note:
            self._note.append(f"learnt from {len(drawn.rows)} of {len(rows)} rows")
        X, y, weights = data.part(rows[drawn.rows])
        X = np.clip(X, -_LARGEST, _LARGEST)
        weight: Any = relative(weights.get("sample_weight"))
        if not drawn.every:
            shares = np.where(y == 1, drawn.positive_share, drawn.negative_share)
            weight = (1.0 if weight is None else weight) / shares
        kind = ExtraTreesClassifier if self.extra else RandomForestClassifier
        forest = kind(
            self.n_trees,
            min_samples_leaf=self.leaf_rows,
            n_jobs=resolve_threads(data.n_threads),
            random_state=self.seed,
        )
        return from_model(forest.fit(X, y, sample_weight=weight))


__all__ = ["Forest"]
