"""Models by name: one table for `compare`, `toprank fit` and `toprank models`."""

from __future__ import annotations

import difflib
import inspect
from typing import Any, NamedTuple

from .. import methods
from ..convex import ConvexRanker
from .head import HeadRanker

#: Models that are a HeadRanker: a title, a line, and its options.
_HEADS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "head": ("HeadRanker", "The best of linear scores, boosted trees and blends of both.", {}),
    "trees": (
        "gradient boosting",
        "Gradient boosting of trees, by scikit-learn.",
        {"candidates": "trees", "trees": True},
    ),
    "lightgbm": (
        "LightGBM",
        "Gradient boosting of trees, by LightGBM if it is installed.",
        {"candidates": "trees", "trees": "lightgbm"},
    ),
    "forest": (
        "random forest",
        "A forest of random trees, by scikit-learn.",
        {"candidates": ["forest"], "trees": False},
    ),
}


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
    """Return every model that can be asked for by name: head, trees, logistic, all methods.

    Examples
    --------
    >>> from toprank.selection.model_names import named_models
    >>> list(named_models())[:3], named_models()["toppush"].title
    (['head', 'trees', 'lightgbm'], 'TopPush')
    """
    found = {
        name: NamedModel(title, line, HeadRanker, options)
        for name, (title, line, options) in _HEADS.items()
    }
    found["logistic"] = _of_class(methods.LogisticRank)._replace(title="logistic regression")
    every = {name.lower(): _of_class(getattr(methods, name)) for name in methods.__all__}
    return found | dict(sorted(every.items()))


def _of_class(cls: Any) -> NamedModel:
    return NamedModel(cls.__name__, (inspect.getdoc(cls) or "").split("\n", 1)[0], cls)


def named_model(name: str) -> NamedModel:
    """Return the model of a name, in whatever case; unknown names are refused with a list."""
    known = named_models()
    found = known.get(name.lower())
    if found is None:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        is_it = f" Is it {near[0]!r}?" if near else ""
        raise ValueError(f"There is no model {name!r}.{is_it} The models are {', '.join(known)}.")
    return found


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
