"""Models by name: what each does, its class, and the command that fits it."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from .. import methods
from ..estimators.convex import ConvexRanker
from ..inputs.model_names import HEADS, check_name, model_titles
from .head import HeadRanker


class NamedModel(NamedTuple):
    """A model that has a name."""

    #: What it is called in a sentence.
    title: str
    #: What it does, in a line.
    help: str
    #: Its class.
    ranker: Any
    #: Options of a HeadRanker that is the model; None of other models.
    options: dict[str, Any] | None = None


def named_models() -> dict[str, NamedModel]:
    """Return every model of `toprank.inputs.model_names` with its class and a line on it."""
    classes = {name.lower(): getattr(methods, name) for name in methods.__all__}
    classes["logistic"] = methods.LogisticRank
    heads = {name: NamedModel(*head[:2], HeadRanker, head.options) for name, head in HEADS.items()}
    return {
        name: heads[name]
        if name in heads
        else NamedModel(title, _help(classes[name]), classes[name])
        for name, title in model_titles().items()
    }


def named_model(name: str) -> NamedModel:
    """Return the model of a name, in whatever case."""
    check_name(name)
    return named_models()[name.lower()]


def _help(cls: Any) -> str:
    return (inspect.getdoc(cls) or "").split("\n", 1)[0]


def fit_command(name: str) -> str | None:
    """Return the `toprank fit` that makes a model as `compare` makes it, None if none does."""
    found = named_models().get(name)
    if found is None:
        return None
    return f"toprank fit --model {name}{' --cv 5' if chooses_alpha(found.ranker) else ''}"


def chooses_alpha(cls: Any) -> bool:
    """Return whether the alpha of a method is chosen by folds."""
    return issubclass(cls, ConvexRanker) and "alpha" in cls._get_param_names()


__all__ = ["NamedModel", "chooses_alpha", "fit_command", "named_model", "named_models"]
