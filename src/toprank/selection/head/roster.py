"""Who races: the candidates by name, and the losses that the winning features are tried with."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from ...convex import ConvexRanker
from ...methods import LogExpPush, LogisticRank, PNormPush, TopPush
from ...metrics import positives_at_top
from .contenders import Contender, Data, Given
from .feature_sets import DENSE, SPARSE, SUPERVISED
from .forest import Forest
from .linear import Linear
from .making import Making
from .race import Entry

#: What a name of candidates stands for: how many of the feature sets, and whether losses follow.
_ROSTERS = {"default": (None, True), "linear": (1, True), "fast": (2, False), "trees": (0, False)}
#: In a list of candidates, this stands for the losses.
LOSSES = "losses"
#: A random forest.
FOREST = "forest"
#: The most rows that a fit on expensive features learns from.
_MOST_ROWS = {"nystroem": 40_000}
#: Negatives weigh so much more in the second logistic regression.
_HEAVIER = 16.0
#: A list is near separable if so many of the positives held out lie above all negatives.
_AT_TOP = 0.1


def first_stage(candidates: Any, sparse: bool, seed: int) -> list[Contender]:
    """Logistic regression on the feature sets that were asked for, and estimators given."""
    known = SPARSE if sparse else DENSE
    if isinstance(candidates, str):
        count = _ROSTERS[candidates][0]
        # One way to scale sparse rows is no more linear than another.
        names = list(known) if sparse and candidates == "linear" else list(known)[:count]
        return [linear(name, "logistic", LogisticRank(random_state=seed), seed) for name in names]
    found: list[Contender] = []
    for place, one in enumerate(candidates):
        if isinstance(one, str) and one == LOSSES:
            continue
        if one == FOREST and not sparse:
            found.append(Forest(FOREST, seed))
            continue
        if isinstance(one, str):
            if one not in known:
                kind = "sparse" if sparse else "dense"
                listed = ", ".join(map(repr, known))
                raise ValueError(
                    f"candidates[{place}] is {one!r}: for {kind} rows it must be one of {listed}, "
                    f"{FOREST!r} for dense rows, {LOSSES!r}, an estimator, or a pair of a name and "
                    "an estimator."
                )
            found.append(linear(one, "logistic", LogisticRank(random_state=seed), seed))
            continue
        name, estimator = one if isinstance(one, tuple) else (type(one).__name__, one)
        if isinstance(estimator, type):
            raise TypeError(f"candidates[{place}] is a class: pass {estimator.__name__}().")
        if not hasattr(estimator, "fit"):
            raise ValueError(f"candidates[{place}] has no fit: pass an estimator, not {one!r}.")
        found.append(Given(str(name), estimator))
    if not found:
        raise ValueError("candidates is empty: name a feature set, or pass an estimator.")
    return found


def wants_losses(candidates: Any) -> bool:
    """Whether the winning features are tried with other losses."""
    if isinstance(candidates, str):
        return _ROSTERS[candidates][1]
    return any(isinstance(one, str) and one == LOSSES for one in candidates)


def second_stage(winner: Entry, data: Data, sparse: bool, seed: int) -> list[Contender]:
    """Other losses on the features of the winner, if it is a linear score of a feature set."""
    if not isinstance(winner.contender, Linear):
        return []
    losses: dict[str, ConvexRanker] = {
        f"logistic, negatives x{_HEAVIER:g}": LogisticRank(
            negative_weight=_HEAVIER, random_state=seed
        ),
        "p-norm push, p = 4": PNormPush(p=4.0),
    }
    if sparse and _near_separable(winner, data):
        losses["top push"] = TopPush(random_state=seed)
        losses["log/exp push, p = 16"] = LogExpPush(p=16.0)
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


__all__ = ["LOSSES", "first_stage", "linear", "second_stage", "wants_losses"]
