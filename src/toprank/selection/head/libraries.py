"""Estimators of other libraries that can be named as candidates."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple


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


__all__ = ["LIBRARIES", "estimator_of"]
