"""Boosted trees in the race, on codes whose edges are quantiles of each class."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from ...designs.base import resolve_threads
from ...features.bin_edges import case_control_edges, code
from ...trees import TreeEnsemble, from_model
from ..fold_path import FoldFit, Rows
from .case_control import draw_rows, relative
from .contenders import Data

Array = NDArray[np.float64]

#: Numbers of trees that are scored together, and those that follow while the last is the best.
_NUMBERS = ((25, 50, 100), (200,), (400,), (800,))
#: Edges of a column from each class. With 240 edges and 254 words both libraries' 255 bins do.
N_EDGES = 120
#: Minimum number of rows in a leaf, the default of both libraries.
_LEAF_ROWS = 20
#: Number of columns from which each tree, or split, sees half of them: a little better then.
_WIDE, _HALF = 50, 0.5


@dataclass(frozen=True)
class Trees:
    """Gradient boosting of trees on codes of the columns.

    The edges between codes are quantiles of the positives and of the negatives alike, so that trees
    can split where positives are rare. Fitted trees have thresholds in the columns' own units.
    """

    name: str
    #: "scikit-learn" or "lightgbm".
    library: str
    seed: int
    leaves: int = 15
    rate: float = 0.05
    #: Whether each tree learns from a random half of the rows and columns.
    halves: bool = False
    #: The most trees that are tried.
    most_trees: int = 400
    #: The most rows of a fold's fit, and of the final one.
    most: int | None = None
    most_in_the_end: int | None = None
    features: str = "columns as given"
    loss: str = "logistic"
    setting: str = "trees"
    family: str = "boosted trees"
    #: Whether a fit at one more setting begins anew, so that no fold goes on beyond the settings
    #: that the first one suggests.
    restarts: bool = True
    #: The number of codes of each column of categories, 0 of numbers; None without categories.
    levels: NDArray[np.int64] | None = None
    #: Edges between codes where they come from more rows than the data have; else None.
    edges: Sequence[Array] | None = None
    #: Shares of the positives and of the negatives that the data are, where these were drawn.
    shares: tuple[float, float] = (1.0, 1.0)
    _note: list[str] = field(default_factory=list)

    @property
    def note(self) -> str:
        """Return what the leaderboard says of the rows."""
        return "".join(self._note)

    def path(
        self, data: Data, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold with more and more trees."""
        test = data.folds.held_out(fold)
        held_out = _safe_indexing(data.X, test)
        growing = self._begin(data, data.folds.training(fold), self.most)
        if settings is None:
            lines = [list(line) for line in _NUMBERS if line[-1] <= self.most_trees]
        else:
            lines = [[int(n) for n in sorted(settings)]]
        found: list[FoldFit] = []
        for numbers in lines:
            began = time.perf_counter()
            trees = growing.grow(numbers[-1])
            # Where trees run out, a setting that was given stands for the last one.
            grown = [min(number, trees.n_trees) for number in numbers]
            different = sorted(set(grown))
            stages = dict(zip(different, trees.stages(held_out, different), strict=True))
            for number in different if settings is None else grown:
                found.append(data.fit_of(trees.first(number), stages[number], test, began))
                began = time.perf_counter()
            best = int(np.argmax(np.nan_to_num([fit.score for fit in found])))
            if growing.is_done or best < len(found) - 1:
                break
        return np.array([fit.ranker.n_trees for fit in found], dtype=np.float64), found

    def beyond(self, setting: float) -> float | None:
        """Return None: the first fold has tried all numbers there are."""
        return None

    def final(self, data: Data, setting: float) -> TreeEnsemble:
        """Return `setting` trees of all rows, or more where the folds had fewer rows."""
        number = round(setting * data.growth)
        return self._begin(data, data.all_rows, self.most_in_the_end).grow(number)

    def _begin(self, data: Data, rows: Rows, most: int | None) -> _Growing:
        """Return a model without trees on case-control rows."""
        rows = data.used(rows)
        drawn = draw_rows(data.y[rows] == 1, self.seed, most=most)
        if not drawn.every and not self._note:
            self._note.append(f"learnt from {len(drawn.rows)} of {len(rows)} rows")
        X, y, weights = data.part(rows[drawn.rows])
        weight = relative(weights.get("sample_weight"))
        levels = np.zeros(X.shape[1], dtype=np.int64) if self.levels is None else self.levels
        categories = np.flatnonzero(levels)
        edges = self.edges
        if edges is None:
            edges = case_control_edges(X, y == 1, N_EDGES, weight, categories)
        codes = code(X, edges, np.float32, categories)
        columns = _splittable(codes)
        levels = levels[columns]
        own = _Growing(
            codes[:, columns],
            y,
            weight,
            [None if levels[k] else edges[j] for k, j in enumerate(columns)],
            columns,
            data.X.shape[1],
            np.log(
                (drawn.negative_share * self.shares[1]) / (drawn.positive_share * self.shares[0])
            ),
        )
        threads = resolve_threads(data.n_threads)
        maker = _boosted_by_lightgbm if self.library == "lightgbm" else _boosted_by_scikit_learn
        own.booster = maker(self, own, levels, threads)
        return own


@dataclass
class _Growing:
    """Codes of rows and a model on them that grows more trees when asked."""

    codes: NDArray[np.float32]
    y: NDArray[np.int64]
    weight: Array | None
    #: Edges of each coded column, None of one that passed unchanged.
    edges: Sequence[Array | None]
    columns: NDArray[np.int64]
    width: int
    #: What puts the share of positives back into log-odds.
    shift: float
    booster: Any = None
    #: Whether there is nothing left to split, so that no more trees can be grown.
    is_done: bool = False

    def grow(self, number: int) -> TreeEnsemble:
        """Return `number` trees, or all that can be grown, with thresholds in columns' units."""
        model, available = self.booster(number)
        self.is_done = available < number
        trees = from_model(
            model,
            n_trees=min(number, available),
            edges=self.edges,
            columns=self.columns,
            n_features=self.width,
        )
        if self.shift == 0.0:
            return trees
        parameters = trees.get_params(deep=False)
        return TreeEnsemble(**parameters | {"offset": trees.offset + self.shift})


def _boosted_by_lightgbm(
    trees: Trees, own: _Growing, levels: NDArray[np.int64], threads: int
) -> Any:
    """Return a function that grows trees of LightGBM, and returns a model and its trees."""
    lightgbm = import_lightgbm()
    wide = len(levels) >= _WIDE
    options = {
        "objective": "binary",
        "num_leaves": trees.leaves,
        "learning_rate": trees.rate,
        "bagging_fraction": _HALF if trees.halves else 1.0,
        "bagging_freq": int(trees.halves),
        "feature_fraction": _HALF if trees.halves or wide else 1.0,
        "min_data_in_leaf": _LEAF_ROWS,
        "max_bin": 255,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "seed": trees.seed % 2**31,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": threads,
        "verbosity": -1,
    }
    rows = lightgbm.Dataset(
        own.codes,
        own.y,
        weight=own.weight,
        categorical_feature=np.flatnonzero(levels).tolist(),
        params=options,
        free_raw_data=True,
    )
    booster = lightgbm.Booster(options, rows)

    def grown(number: int) -> Any:
        # `update` returns True where no leaf can be split. Called again, it would do so for ever.
        while booster.current_iteration() < number and not booster.update():
            pass
        return booster, booster.num_trees()

    return grown


def _boosted_by_scikit_learn(
    trees: Trees, own: _Growing, levels: NDArray[np.int64], threads: int
) -> Any:
    """Return a function that grows trees of scikit-learn, and returns a model and its trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    wide = len(levels) >= _WIDE
    model = HistGradientBoostingClassifier(
        max_leaf_nodes=trees.leaves,
        learning_rate=trees.rate,
        categorical_features=levels > 0 if levels.any() else None,
        min_samples_leaf=_LEAF_ROWS,
        max_features=_HALF if trees.halves or wide else 1.0,
        early_stopping=False,
        warm_start=True,
        random_state=trees.seed,
    )

    def grown(number: int) -> Any:
        with threadpool_limits(threads, user_api="openmp"):
            model.set_params(max_iter=number).fit(own.codes, own.y, sample_weight=own.weight)
        return model, model.n_iter_

    return grown


def _splittable(codes: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the columns in which at least a leaf's rows differ from the most frequent code."""
    n = len(codes)
    if n <= 2 * _LEAF_ROWS:
        return np.arange(codes.shape[1])
    kept = []
    for j in range(codes.shape[1]):
        column = codes[:, j]
        missing = np.isnan(column)
        there = column[~missing] if missing.any() else column
        counts = np.bincount(there.astype(np.int64), minlength=1)
        if n - max(int(counts.max()), n - len(there)) >= _LEAF_ROWS:
            kept.append(j)
    return np.array(kept if kept else range(codes.shape[1]), dtype=np.int64)


def has_lightgbm() -> bool:
    """Return whether LightGBM is installed and can be loaded."""
    try:
        import_lightgbm()
    except ImportError:
        return False
    return True


def import_lightgbm() -> Any:
    """Return LightGBM, or raise an error that says how to get it."""
    try:
        import lightgbm
    except (ImportError, OSError) as error:  # without libomp its library cannot be loaded
        raise ImportError(
            f"trees='lightgbm' needs LightGBM: pip install lightgbm, or pass "
            f"trees='scikit-learn' for scikit-learn's boosted trees ({error})."
        ) from error
    return lightgbm


__all__ = ["N_EDGES", "Trees", "has_lightgbm", "import_lightgbm"]
