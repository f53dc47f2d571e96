"""Who races: the candidates by name, and the losses that the winning features are tried with."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from scipy.sparse import issparse

from ...estimators.convex import ConvexRanker
from ...methods import LogExpPush, LogisticRank, PNormPush, TopPush
from ...metrics import positives_at_top
from .contenders import Contender, Data, Given
from .effort import Boosting, Effort, Forests
from .feature_sets import DENSE, SPARSE, SUPERVISED
from .forest import Forest
from .libraries import LIBRARIES, estimator_of
from .linear import Linear
from .making import Making
from .race import Entry
from .trees import Trees, has_lightgbm, import_lightgbm

#: What a name of candidates stands for: how many of the feature sets, and whether losses follow.
#: "default" is decided by the effort.
_ROSTERS = {"linear": (1, True), "fast": (2, False), "trees": (0, False)}
#: In a list of candidates, this stands for the losses, and this for all that run by default.
LOSSES, DEFAULT = "losses", "default"
#: Forests by name.
FORESTS = {
    "forest": Forests("forest", extra=False),
    "extra trees": Forests("extra trees", extra=True),
}
#: Families that take dense rows as given.
FAMILIES_OF_TREES = (Trees.family, Forest.family)
#: Below this number of rows there are no trees unless asked for: they need rows to split.
_ROWS_FOR_TREES = 200
#: The feature set that is expensive.
KERNEL = "nystroem"
#: The most rows that a fit on expensive features learns from.
_MOST_ROWS = {KERNEL: 40_000, "bins": 100_000}
#: Negatives weigh so much more in the second logistic regression.
_HEAVIER = 16.0
#: A list is near separable if so many of the positives held out lie above all negatives.
_AT_TOP = 0.1


def first_stage(
    candidates: Any, trees: Any, data: Data, seed: int, effort: Effort
) -> list[Contender]:
    """Return the linear scores, trees, forests and given estimators that race first."""
    is_sparse = issparse(data.X)
    library = library_of(trees, candidates, data)
    if not len(candidates):
        raise ValueError("candidates is empty: name a feature set, or pass an estimator.")
    found: list[Contender] = []
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
    given = [isinstance(one, Given) for one in found]
    names = [one.name for one in found]
    return [one for k, one in enumerate(found) if given[k] or names.index(one.name) == k]


def _feature_sets(
    candidates: str, sparse: bool, seed: int, effort: Effort, n_rows: int
) -> list[Contender]:
    """Return logistic regression on the feature sets of a name of candidates."""
    known = SPARSE if sparse else DENSE
    count = effort.feature_sets if candidates == DEFAULT else _ROSTERS[candidates][0]
    if effort.kernel_rows is not None and n_rows > effort.kernel_rows:
        known = {name: made for name, made in known.items() if name != KERNEL}
    # One way to scale sparse rows is no more linear than another.
    names = list(known) if sparse and candidates == "linear" else list(known)[:count]
    return [linear(name, "logistic", LogisticRank(random_state=seed), seed) for name in names]


def _listed(
    place: int, one: Any, sparse: bool, seed: int, effort: Effort, n_rows: int
) -> list[Contender]:
    """Return what an entry of a list of candidates stands for."""
    known = SPARSE if sparse else DENSE
    if isinstance(one, str):
        if one == LOSSES:
            return []
        if one == DEFAULT:
            return _feature_sets(DEFAULT, sparse, seed, effort, n_rows)
        if one in FORESTS and not sparse:
            return [_forest(FORESTS[one], seed, effort)]
        if one in LIBRARIES and not sparse:
            return [Given(one, estimator_of(one, seed))]
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
    return [Given(str(name), estimator)]


def library_of(trees: Any, candidates: Any, data: Data) -> str | None:
    """Return the library whose boosted trees race, None if none do."""
    if candidates == "trees" and not trees:
        raise ValueError("candidates='trees' and trees=False leave nothing to fit.")
    if trees == "lightgbm":
        import_lightgbm()
    if not trees:
        return None
    if trees == "auto" and candidates != "trees":
        few = len(data.y) < _ROWS_FOR_TREES
        if few or issparse(data.X) or candidates == "fast":
            return None
    if issparse(data.X):
        raise ValueError(
            f"trees={trees!r} fits boosted trees, which take dense rows only: pass X.toarray() if "
            "it fits into memory, or leave trees out."
        )
    return "lightgbm" if trees != "scikit-learn" and has_lightgbm() else "scikit-learn"


def boosted(setting: Boosting, library: str, seed: int, effort: Effort) -> Trees:
    """Return a setting of boosted trees."""
    return Trees(
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


def _forest(setting: Forests, seed: int, effort: Effort) -> Forest:
    return Forest(
        setting.name, seed, setting.extra, leaf_rows=setting.leaf_rows, most=effort.forest_rows
    )


def wants_losses(candidates: Any, effort: Effort) -> bool:
    """Return whether the winning features are tried with other losses."""
    if candidates == DEFAULT:
        return effort.losses
    if isinstance(candidates, str):
        return _ROSTERS[candidates][1]
    names = [one for one in candidates if isinstance(one, str)]
    return LOSSES in names or (DEFAULT in names and effort.losses)


def second_stage(winner: Entry, data: Data, sparse: bool, seed: int) -> list[Contender]:
    """Other losses on the features of the winner, if it is a linear score of a feature set."""
    if not isinstance(winner.contender, Linear):
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
    making = winner.contender.making
    if not data.exchangeable or making.supervised:  # other processes may have made them
        making.known = {k: fit.ranker["features"] for k, fit in enumerate(winner.fits)}
    features = winner.contender.features
    return [
        replace(winner.contender, name=f"{features}, {name}", loss=name, ranker=ranker)
        for name, ranker in losses.items()
    ]


def linear(features: str, loss: str, ranker: ConvexRanker, seed: int) -> Linear:
    """A loss on a feature set."""
    maker = partial({**DENSE, **SPARSE}[features], seed=seed)
    making = Making(maker, features in SUPERVISED, _MOST_ROWS.get(features), seed)
    return Linear(f"{features}, {loss}", features, loss, making, ranker)


def _near_separable(entry: Entry, data: Data) -> bool:
    """Whether many positives held out lie above all negatives of their fold."""
    at_top = [
        positives_at_top(data.y[test], fit.decisions)
        for k, fit in enumerate(entry.fits)
        if 0 < data.y[test := data.folds.held_out(k)].sum() < len(test)
    ]
    return sum(at_top) >= _AT_TOP * len(at_top)


__all__ = ["FAMILIES_OF_TREES", "first_stage", "linear", "second_stage", "wants_losses"]
