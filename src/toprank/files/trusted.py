"""The types that a fitted ranker is made of, by name, for loaders that ask which to trust."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .classes import _ESTIMATORS, _FUNCTIONS, _RECORDS

#: What rankers hold that model files do not: what a warm start keeps, and the parts of HeadRanker.
_PARTS = {
    "toprank.losses.rankings": "Mixture",
    "toprank.problems.solution": "Solution",
    "toprank.solvers.row_hessians": "KeptHessian",
}
#: What scikit-learn's imputers and boosted trees hold, which skops does not trust by itself.
_FOREIGN = ["numpy.dtype", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"]


def _full_names(tables: list[dict[str, str]]) -> list[str]:
    """The names that pickle has for the things in the tables: the module that defines each."""
    found: list[Any] = [
        getattr(import_module(module), name)
        for table in tables
        for module, names in table.items()
        if module.startswith("toprank.")
        for name in names.split()
    ]
    return sorted(f"{one.__module__}.{one.__qualname__}" for one in found)


#: For ``skops.io.load(path, trusted=TRUSTED_TYPES)`` and MLflow's ``skops_trusted_types``.
TRUSTED_TYPES: list[str] = [*_full_names([_ESTIMATORS, _RECORDS, _FUNCTIONS, _PARTS]), *_FOREIGN]

__all__ = ["TRUSTED_TYPES"]
