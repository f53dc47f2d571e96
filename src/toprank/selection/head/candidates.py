"""Candidates by name: linear scores, trees, forests, and estimators given by the user."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from ...estimators.convex import ConvexRanker
from ...features.table_coder import CodedNumbers
from ...methods import LogExpPush, LogisticRank, PNormPush, TopPush
from ...metrics import positives_at_top
from ..fold_path import Rows
from .effort import BoostingSetting, Effort, ForestSetting
from .features import DENSE, SPARSE, SUPERVISED, FeatureCache
from .linear import LinearScore
from .race_data import Candidate, RaceData, RaceResult, SingleFit
from .trees import BoostedTrees, Forest, has_lightgbm, import_lightgbm

Array = NDArray[np.float64]

#: In a list of candidates, this stands for the losses, and this for all that run by default.
LOSSES, DEFAULT = "losses", "default"
#: Forests by name.
FORESTS = {
    "forest": ForestSetting("forest", extra=False),
    "extra trees": ForestSetting("extra trees", extra=True),
}
#: Families that take dense rows as given.
FAMILIES_OF_TREES = (BoostedTrees.family, Forest.family)
#: The feature set that is expensive.
KERNEL = "nystroem"
#: The most rows that a fit on expensive features learns from.
_MOST_ROWS = {KERNEL: 40_000, "bins": 100_000}
#: Negatives weigh so much more in the second logistic regression.
_HEAVIER = 16.0


#: What a name of candidates stands for: how many of the feature sets, and whether losses follow.
#: "default" is decided by the effort.
_NAMED_LISTS = {"linear": (1, True), "fast": (2, False), "trees": (0, False)}


def candidates_of(
    candidates: Any, trees: Any, data: RaceData, seed: int, effort: Effort
) -> list[Candidate]:
    """Return the linear scores, trees, forests and given estimators that race first."""
    is_sparse = issparse(data.X)
    library = library_of(trees, candidates, data)
    if not len(candidates):
        raise ValueError("candidates is empty: name a feature set, or pass an estimator.")
    found: list[Candidate] = []
    by_default = candidates == DEFAULT
    if isinstance(candidates, str):
        found += _feature_sets(candidates, is_sparse, seed, effort, len(data.y))
    else:
        by_default = DEFAULT in [one for one in candidates if isinstance(one, str)]
        for place, one in enumerate(candidates):
            found += _listed(place, one, is_sparse, seed, effort, len(data.y))
    if library is not None:
        settings = effort.trees[:1] if candidates == "linear" else effort.trees
        found += [boosted(setting, library, seed, effort) for setting in settings]
        if by_default and not is_sparse:
            found += [_forest(setting, seed, effort) for setting in effort.forests]
    if not found:
        raise ValueError(
            f"candidates={candidates!r} leaves nothing to fit: name a feature set, or pass an "
            "estimator."
        )
    # A list may name what runs by default too. Estimators of the user may share their names.
    given = [isinstance(one, GivenEstimator) for one in found]
    names = [one.name for one in found]
    return [one for k, one in enumerate(found) if given[k] or names.index(one.name) == k]


def _feature_sets(
    candidates: str, sparse: bool, seed: int, effort: Effort, n_rows: int
) -> list[Candidate]:
    """Return logistic regression on the feature sets of a name of candidates."""
    known = SPARSE if sparse else DENSE
    count = effort.feature_sets if candidates == DEFAULT else _NAMED_LISTS[candidates][0]
    if effort.kernel_rows is not None and n_rows > effort.kernel_rows:
        known = {name: made for name, made in known.items() if name != KERNEL}
    # One way to scale sparse rows is no more linear than another.
    names = list(known) if sparse and candidates == "linear" else list(known)[:count]
    return [linear(name, "logistic", LogisticRank(random_state=seed), seed) for name in names]


def _listed(
    place: int, one: Any, sparse: bool, seed: int, effort: Effort, n_rows: int
) -> list[Candidate]:
    """Return the candidates that an element of the list stands for."""
    known = SPARSE if sparse else DENSE
    if isinstance(one, str):
        if one == LOSSES:
            return []
        if one == DEFAULT:
            return _feature_sets(DEFAULT, sparse, seed, effort, n_rows)
        if one in FORESTS and not sparse:
            return [_forest(FORESTS[one], seed, effort)]
        if one in LIBRARIES and not sparse:
            return [GivenEstimator(one, estimator_of(one, seed))]
        if one in known:
            return [linear(one, "logistic", LogisticRank(random_state=seed), seed)]
        kind = "sparse" if sparse else "dense"
        names = [*known] if sparse else [*known, *FORESTS, *LIBRARIES]
        listed = ", ".join(map(repr, [*names, DEFAULT, LOSSES]))
        raise ValueError(
            f"candidates[{place}] is {one!r}: for {kind} rows it must be one of {listed}, an "
            "estimator, or a pair of a name and an estimator. Boosted trees come with trees=True."
        )
    name, estimator = one if isinstance(one, tuple) else (type(one).__name__, one)
    if isinstance(estimator, type):
        raise TypeError(f"candidates[{place}] is a class: pass {estimator.__name__}().")
    if not hasattr(estimator, "fit"):
        raise ValueError(f"candidates[{place}] has no fit: pass an estimator, not {one!r}.")
    return [GivenEstimator(str(name), estimator)]


def library_of(trees: Any, candidates: Any, data: RaceData) -> str | None:
    """Return the library whose boosted trees race, None if none do."""
    if candidates == "trees" and not trees:
        raise ValueError("candidates='trees' and trees=False leave nothing to fit.")
    if trees == "lightgbm":
        import_lightgbm()
    if not trees:
        return None
    if trees == "auto" and candidates != "trees":
        # Trees need many rows to split.
        few = len(data.y) < 200
        if few or issparse(data.X) or candidates == "fast":
            return None
    if issparse(data.X):
        raise ValueError(
            f"trees={trees!r} fits boosted trees, which take dense rows only: pass X.toarray() if "
            "it fits into memory, or leave trees out."
        )
    return "lightgbm" if trees != "scikit-learn" and has_lightgbm() else "scikit-learn"


def boosted(setting: BoostingSetting, library: str, seed: int, effort: Effort) -> BoostedTrees:
    """Return a setting of boosted trees."""
    return BoostedTrees(
        setting.name,
        library,
        (seed + setting.draw) % 2**32,
        setting.leaves,
        setting.rate,
        setting.halves,
        effort.most_trees,
        effort.fold_rows,
        effort.final_rows,
    )


def _forest(setting: ForestSetting, seed: int, effort: Effort) -> Forest:
    return Forest(
        setting.name, seed, setting.extra, leaf_rows=setting.leaf_rows, most=effort.forest_rows
    )


def wants_losses(candidates: Any, effort: Effort) -> bool:
    """Return whether the winning features are tried with other losses."""
    if candidates == DEFAULT:
        return effort.losses
    if isinstance(candidates, str):
        return _NAMED_LISTS[candidates][1]
    names = [one for one in candidates if isinstance(one, str)]
    return LOSSES in names or (DEFAULT in names and effort.losses)


def other_losses(winner: RaceResult, data: RaceData, sparse: bool, seed: int) -> list[Candidate]:
    """Return other losses on the features of the best linear score of a feature set."""
    if not isinstance(winner.candidate, LinearScore):
        return []
    losses: dict[str, ConvexRanker] = {
        f"logistic, negatives x{_HEAVIER:g}": LogisticRank(
            negative_weight=_HEAVIER, random_state=seed
        ),
        "p-norm push, p = 4": PNormPush(p=4.0, random_state=seed),
    }
    if sparse and _near_separable(winner, data):
        losses["top push"] = TopPush(random_state=seed)
        losses["log/exp push, p = 16"] = LogExpPush(p=16.0, random_state=seed)
    cache = winner.candidate.cache
    if not data.exchangeable or cache.supervised:  # other processes may have made them
        cache.known = {k: fit.ranker["features"] for k, fit in enumerate(winner.fits)}
    features = winner.candidate.features
    return [
        replace(winner.candidate, name=f"{features}, {name}", loss=name, ranker=ranker)
        for name, ranker in losses.items()
    ]


def linear(features: str, loss: str, ranker: ConvexRanker, seed: int) -> LinearScore:
    """Return a linear score on a feature set."""
    make = partial({**DENSE, **SPARSE}[features], seed=seed)
    cache = FeatureCache(make, features in SUPERVISED, _MOST_ROWS.get(features), seed)
    return LinearScore(f"{features}, {loss}", features, loss, cache, ranker)


def _near_separable(result: RaceResult, data: RaceData) -> bool:
    """Return whether many held-out positives lie above all negatives of their fold."""
    at_top = [
        positives_at_top(data.y[test], fit.decisions)
        for k, fit in enumerate(result.fits)
        if 0 < data.y[test := data.folds.held_out(k)].sum() < len(test)
    ]
    # A tenth of the held-out positives is enough to call a list nearly separable.
    return sum(at_top) >= 0.1 * len(at_top)


class Library(NamedTuple):
    """A classifier of another library."""

    module: str
    name: str
    package: str
    options: dict[str, Any]
    #: The option that takes the seed.
    seed: str = "random_state"


LIBRARIES = {
    "catboost": Library(
        "catboost",
        "CatBoostClassifier",
        "catboost",
        {"verbose": 0, "thread_count": 1, "allow_writing_files": False},
    ),
    "xgboost": Library("xgboost", "XGBClassifier", "xgboost", {"n_jobs": 1}),
    "ebm": Library(
        "interpret.glassbox", "ExplainableBoostingClassifier", "interpret", {"n_jobs": 1}
    ),
    "tabicl": Library("tabicl", "TabICLClassifier", "tabicl", {}),
}


def estimator_of(name: str, seed: int) -> Any:
    """Return an estimator by name, or raise an error that says how to get its library."""
    library = LIBRARIES[name]
    try:
        cls = getattr(importlib.import_module(library.module), library.name)
    except ImportError as error:
        raise ImportError(
            f"{name!r} in candidates needs {library.name}: pip install {library.package}."
        ) from error
    return cls(**library.options, **{library.seed: seed})


@dataclass(frozen=True)
class GivenEstimator(SingleFit):
    """An estimator of the user's, fitted unchanged."""

    name: str
    estimator: Any
    features: str = "its own"
    loss: str = "its own"
    setting: str = ""

    @property
    def family(self) -> str:
        """Return a name that no other family has: each estimator of the user's is a family."""
        return f"{self.name}, as given"

    def _fitted(self, data: RaceData, rows: Rows) -> Any:
        X, y, weights = data.part(data.used(rows))
        # Its parameters are the user's, so they are checked, as this ranker's own have been.
        with config_context(skip_parameter_validation=False):
            return clone(self.estimator).fit(X, y, **self._weights(weights))

    def _weights(self, given: dict[str, Array]) -> dict[str, Array]:
        """Return the options that pass the weights to `fit`, if the weights differ."""
        if not given or np.ptp(given["sample_weight"]) == 0.0:
            return {}
        if has_fit_parameter(self.estimator, "sample_weight"):
            return given
        if isinstance(self.estimator, Pipeline):
            name, last = self.estimator.steps[-1]
            if has_fit_parameter(last, "sample_weight"):
                return {f"{name}__sample_weight": given["sample_weight"]}
        raise ValueError(
            f"The fit of {self.name!r} in candidates takes no sample_weight: leave it out, or fit "
            "without weights."
        )


@dataclass(frozen=True)
class CodedFeatures:
    """Makes a feature set for coded rows, which become numbers first."""

    make: Any
    levels: NDArray[np.int64]

    def __call__(self, n: int, d: int) -> Any:
        """Return the transformer, not fitted."""
        made = self.make(n, d)
        steps = made.steps if isinstance(made, Pipeline) else [("made", made)]
        return Pipeline([("numbers", CodedNumbers(self.levels)), *steps])


def bind(candidate: Candidate, data: RaceData) -> Candidate:
    """Return a candidate as it runs on these rows."""
    candidate = data.bind(candidate)
    levels = data.levels
    if levels is None:
        return candidate
    if isinstance(candidate, LinearScore):
        cache = replace(candidate.cache, make=CodedFeatures(candidate.cache.make, levels))
        return replace(candidate, cache=cache)
    if isinstance(candidate, BoostedTrees):
        return replace(candidate, levels=levels)
    if isinstance(candidate, GivenEstimator):
        own = candidate.estimator
        steps = own.steps if isinstance(own, Pipeline) else [("estimator", own)]
        numbers = ("numbers", CodedNumbers(levels))
        return replace(candidate, estimator=Pipeline([numbers, *steps]))
    return candidate


__all__ = [
    "FAMILIES_OF_TREES",
    "LIBRARIES",
    "GivenEstimator",
    "bind",
    "candidates_of",
    "estimator_of",
    "linear",
    "other_losses",
    "wants_losses",
]
