"""Models by name: one table for `compare`, `toprank fit` and `toprank models`."""

from __future__ import annotations

import difflib
import inspect
from typing import Any, NamedTuple

from .. import methods
from ..convex import ConvexRanker
from .head import HeadRanker

#: Names of models made of trees; they are not rankers of `toprank.methods`.
TREES = ("trees", "lightgbm", "forest")
#: Those of them that `compare` fits.
COMPARED_TREES = ("trees",)
#: Those that `toprank fit` fits.
FITTED_TREES: tuple[str, ...] = ()
_TREE_TITLES = {
    "trees": ("gradient boosting", "Gradient boosting of trees, by scikit-learn."),
    "lightgbm": ("LightGBM", "Gradient boosting of trees, by LightGBM."),
    "forest": ("random forest", "A forest of random trees, by scikit-learn."),
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
    """Return every model that can be asked for by name: head, logistic, trees, all methods.

    Examples
    --------
    >>> from toprank.selection.model_names import named_models
    >>> list(named_models())[:3], named_models()["toppush"].title
    (['head', 'logistic', 'trees'], 'TopPush')
    """
    found = {
        "head": _of_class(HeadRanker),
        "logistic": _of_class(methods.LogisticRank)._replace(title="logistic regression"),
    }
    for name in TREES:
        title, line = _TREE_TITLES[name]
        lacking = _lacking(name)
        found[name] = NamedModel(title, f"{line[:-1]} ({lacking})." if lacking else line, None)
    every = {name.lower(): _of_class(getattr(methods, name)) for name in methods.__all__}
    return found | dict(sorted(every.items()))


def _of_class(cls: Any) -> NamedModel:
    return NamedModel(cls.__name__, (inspect.getdoc(cls) or "").split("\n", 1)[0], cls)


def _lacking(name: str) -> str:
    """Return what does not take a model of trees yet, as `toprank models` shows it."""
    lacking = [
        command
        for command, known in (("fit", FITTED_TREES), ("compare", COMPARED_TREES))
        if name not in known
    ]
    return f"not in `{'` and `'.join(lacking)}` yet" if lacking else ""


def named_model(name: str) -> NamedModel:
    """Return the model of a name, in whatever case; unknown names are refused with a list."""
    known = named_models()
    found = known.get(name.lower())
    if found is None:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        is_it = f" Is it {near[0]!r}?" if near else ""
        raise ValueError(f"There is no model {name!r}.{is_it} The models are {', '.join(known)}.")
    return found


def fitted_model(name: str) -> NamedModel:
    """Return the model of a name, if `toprank fit` fits it."""
    found = named_model(name)
    if name.lower() in TREES and name.lower() not in FITTED_TREES:
        raise ValueError(
            f"--model {name}: `toprank fit` does not fit {found.title} yet; in Python "
            "toprank.HeadRanker has trees among its candidates."
        )
    return found


def compared_model(name: str) -> NamedModel:
    """Return the model of a name, if `compare` fits it."""
    found = named_model(name)
    if name.lower() in TREES and name.lower() not in COMPARED_TREES:
        raise ValueError(
            f"compare does not fit {name!r} yet; of trees it fits {', '.join(COMPARED_TREES)}."
        )
    return found


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


__all__ = [
    "COMPARED_TREES",
    "FITTED_TREES",
    "TREES",
    "NamedModel",
    "chooses_alpha",
    "compared_model",
    "fit_command",
    "fitted_model",
    "named_model",
    "named_models",
]
