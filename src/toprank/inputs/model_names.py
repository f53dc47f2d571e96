"""Names of models, for `fit --model`, `compare --models` and `toprank models`; light to import."""

from __future__ import annotations

import difflib
import sys
from typing import Any, NamedTuple


class HeadModel(NamedTuple):
    """A model that is a HeadRanker with some options."""

    #: What it is called in a sentence.
    title: str
    #: What it does, in a line.
    help: str
    options: dict[str, Any]


#: The models that are a HeadRanker, by name.
HEADS = {
    "head": HeadModel(
        "HeadRanker", "The best of linear scores, boosted trees, forests and ensembles of them.", {}
    ),
    "head-fast": HeadModel(
        "HeadRanker, fast",
        "The better of one linear score, boosted trees and both together.",
        {"effort": "fast"},
    ),
    "head-best": HeadModel(
        "HeadRanker, best",
        "As head, with more candidates, folds and rows.",
        {"effort": "best"},
    ),
    "trees": HeadModel(
        "gradient boosting",
        "Gradient boosting of trees, by scikit-learn.",
        {"candidates": "trees", "trees": "scikit-learn"},
    ),
    "lightgbm": HeadModel(
        "LightGBM",
        "Gradient boosting of trees, by LightGBM if it is installed.",
        {"candidates": "trees", "trees": "lightgbm"},
    ),
    "forest": HeadModel(
        "random forest",
        "A forest of random trees, by scikit-learn.",
        {"candidates": ["forest"], "trees": False},
    ),
}


def model_titles() -> dict[str, str]:
    """Return every model that can be asked for by name, and what it is called in a sentence.

    Examples
    --------
    >>> from toprank.inputs.model_names import model_titles
    >>> list(model_titles())[:3], model_titles()["toppush"]
    (['head', 'head-fast', 'head-best'], 'TopPush')
    """
    package = sys.modules["toprank"]  # lazy: it knows its names without importing methods
    return {
        **{name: model.title for name, model in HEADS.items()},
        "logistic": "logistic regression",
        **{name.lower(): name for name in sorted(package._METHODS, key=str.lower)},
    }


def check_name(name: str) -> None:
    """Refuse a name that no model has, with a list of those there are."""
    known = model_titles()
    if name.lower() not in known:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        is_it = f" Is it {near[0]!r}?" if near else ""
        raise ValueError(f"There is no model {name!r}.{is_it} The models are {', '.join(known)}.")


__all__ = ["HEADS", "HeadModel", "check_name", "model_titles"]
