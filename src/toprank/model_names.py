"""Names of models, for `fit --model`, `compare --models` and `toprank models`; light to import."""

from __future__ import annotations

import difflib
import sys

#: Models of trees by name, with their titles; they are no rankers of `toprank.methods`.
TREES = {"trees": "gradient boosting", "lightgbm": "LightGBM", "forest": "random forest"}
#: Those of them that `compare` fits.
COMPARED_TREES = ("trees",)
#: Those that `toprank fit` fits.
FITTED_TREES: tuple[str, ...] = ()


def model_titles() -> dict[str, str]:
    """Return every model that can be asked for by name, and what it is called in a sentence.

    Examples
    --------
    >>> from toprank.model_names import model_titles
    >>> list(model_titles())[:3], model_titles()["toppush"]
    (['head', 'logistic', 'trees'], 'TopPush')
    """
    package = sys.modules[__package__]  # lazy: it knows its names without importing methods
    others = {*package._ELSEWHERE, *package._MODULES}
    methods = [name for name in package.__all__ if name not in others]
    return {
        "head": "HeadRanker",
        "logistic": "logistic regression",
        **TREES,
        **{name.lower(): name for name in sorted(methods, key=str.lower)},
    }


def check_name(name: str) -> None:
    """Refuse a name that no model has, with a list of those there are."""
    known = model_titles()
    if name.lower() not in known:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        is_it = f" Is it {near[0]!r}?" if near else ""
        raise ValueError(f"There is no model {name!r}.{is_it} The models are {', '.join(known)}.")


def check_fitted(name: str) -> None:
    """Refuse models that `toprank fit` does not fit."""
    check_name(name)
    if name.lower() in TREES and name.lower() not in FITTED_TREES:
        raise ValueError(
            f"--model {name}: `toprank fit` does not fit {TREES[name.lower()]} yet; in Python "
            "toprank.HeadRanker has trees among its candidates."
        )


def check_compared(name: str) -> None:
    """Refuse models that `compare` does not fit."""
    check_name(name)
    if name.lower() in TREES and name.lower() not in COMPARED_TREES:
        raise ValueError(
            f"compare does not fit {name!r} yet; of trees it fits {', '.join(COMPARED_TREES)}."
        )


__all__ = [
    "COMPARED_TREES",
    "FITTED_TREES",
    "TREES",
    "check_compared",
    "check_fitted",
    "check_name",
    "model_titles",
]
