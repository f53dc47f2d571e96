"""Models by name: what each does, its class, and the command that fits it."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from .. import methods
from ..convex import ConvexRanker
from ..model_names import COMPARED_TREES, FITTED_TREES, TREES, model_titles
from .head import HeadRanker

_TREES_HELP = {
    "trees": "Gradient boosting of trees, by scikit-learn",
    "lightgbm": "Gradient boosting of trees, by LightGBM",
    "forest": "A forest of random trees, by scikit-learn",
}


class NamedModel(NamedTuple):
    """A model that has a name."""

    #: What it is called in a sentence.
    title: str
    #: What it does, in a line.
    help: str
    #: Its class; None for trees.
    ranker: Any


def named_models() -> dict[str, NamedModel]:
    """Return every model of `toprank.model_names` with its class and a line on it."""
    classes = {name.lower(): getattr(methods, name) for name in methods.__all__}
    classes |= {"head": HeadRanker, "logistic": methods.LogisticRank}
    return {
        name: NamedModel(title, _help(name, classes.get(name)), classes.get(name))
        for name, title in model_titles().items()
    }


def _help(name: str, cls: Any) -> str:
    """Return the line that `toprank models` shows: for trees, also which command lacks them."""
    if cls is not None:
        return (inspect.getdoc(cls) or "").split("\n", 1)[0]
    commands = (("fit", FITTED_TREES), ("compare", COMPARED_TREES))
    lacking = " and ".join(f"`{command}`" for command, known in commands if name not in known)
    return f"{_TREES_HELP[name]} (not in {lacking} yet)." if lacking else f"{_TREES_HELP[name]}."


def fit_command(name: str) -> str | None:
    """Return the `toprank fit` that makes a model as `compare` makes it, None if none does."""
    found = named_models().get(name)
    if found is None or (name in TREES and name not in FITTED_TREES):
        return None
    tuned = found.ranker is not None and chooses_alpha(found.ranker)
    return f"toprank fit --model {name}{' --cv 5' if tuned else ''}"


def chooses_alpha(cls: Any) -> bool:
    """Return whether the alpha of a method is chosen by folds."""
    return issubclass(cls, ConvexRanker) and "alpha" in cls._get_param_names()


__all__ = ["NamedModel", "chooses_alpha", "fit_command", "named_models"]
