"""Parameters in model files of earlier versions, changed to what the classes take now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Parameters = dict[str, Any]


def updated(name: str, parameters: Parameters) -> Parameters:
    """Return the parameters of a class as its constructor takes them in this version.

    The name is the one in the file, such as "toprank.Blend". Parameters that this version wrote
    are returned unchanged.
    """
    new_names = _RENAMED.get(name, {})
    parameters = {new_names.get(key, key): value for key, value in parameters.items()}
    update = _UPDATES.get(name)
    return parameters if update is None else update(parameters)


def _blend(parameters: Parameters) -> Parameters:
    """Replace the weight of the first of two models with a weight for each model."""
    if "weight" not in parameters or "weights" in parameters:
        return parameters
    others = {key: value for key, value in parameters.items() if key != "weight"}
    weight = parameters["weight"]
    return {**others, "weights": (weight, 1.0 - weight)}


#: Parameters that have new names, by class.
_RENAMED = {
    "toprank.ASCRC": {"budget": "n_pairs"},
    "toprank.ASRankSVM": {"budget": "n_pairs"},
    "toprank.AdaOAM": {"eta": "learning_rate", "n_passes": "max_iter"},
    "toprank.CRR": {"n_steps": "max_iter"},
    "toprank.LPPair": {"rankers": "weak_learners", "positive": "nonnegative"},
    "toprank.OAM": {"n_passes": "max_iter"},
    "toprank.OPAUC": {"eta": "learning_rate", "n_passes": "max_iter"},
    "toprank.RankBoost": {"rankers": "weak_learners"},
    "toprank.SPAM": {"eta": "learning_rate", "n_passes": "max_iter"},
    "toprank.SoftMarginRank": {"rankers": "weak_learners", "positive": "nonnegative"},
    "toprank.SoftRankBoost": {"rankers": "weak_learners", "max_iter": "n_estimators"},
}
#: Parameters that changed otherwise, by class.
_UPDATES: dict[str, Callable[[Parameters], Parameters]] = {"toprank.Blend": _blend}

__all__ = ["updated"]
