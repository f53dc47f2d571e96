"""Classes and functions that a model file may name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .. import methods
from .errors import ModelFileError

#: Estimators, by the module that they are public in.
_ESTIMATORS = {
    "toprank.methods": " ".join(methods.__all__),
    "toprank.selection": "HeadRanker RankerCV",
    "toprank.trees": "TreeEnsemble",
    "toprank.features": "BinsAndPairs DateParts KernelColumns Squash",
    "toprank.features.table_coder": "CodedNumbers",
    "toprank.selection.head.ensemble": "Blend",
    "sklearn.compose": "ColumnTransformer",
    "sklearn.impute": "MissingIndicator SimpleImputer",
    "sklearn.kernel_approximation": "Nystroem RBFSampler",
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing": (
        "FunctionTransformer KBinsDiscretizer MaxAbsScaler MinMaxScaler Normalizer OneHotEncoder "
        "OrdinalEncoder PolynomialFeatures RobustScaler StandardScaler"
    ),
}
#: Things inside estimators that are made of attributes only.
_RECORDS = {
    "toprank.problems.solution": "Certificate",
    "toprank.features.table": "of_kind",
    "toprank.features.table_coder": "TableCoder",
    "toprank.selection.head.ensemble": "Stretch",
    "toprank.inputs.folds": "Folds WholeTimeSplit",
    "toprank.methods.online.base": "Stream",
    "toprank.methods.squared.moments": "ClassMoments Moments Rounding",
    "toprank.methods.squared.pairs": "PairSums",
    "toprank.weak_learners.sums": "ColumnSum StumpSum",
    "sklearn.model_selection": (
        "GroupKFold KFold StratifiedGroupKFold StratifiedKFold TimeSeriesSplit"
    ),
}
#: What a FunctionTransformer may call.
_FUNCTIONS = {"toprank.features.table": "as_floats as_words"}


def _by_name(table: dict[str, str]) -> dict[str, str]:
    """The module of each name; names begin with the package, so that a module may move."""
    return {
        f"{module.partition('.')[0]}.{name}": module
        for module, names in table.items()
        for name in names.split()
    }


ESTIMATORS = _by_name(_ESTIMATORS)
RECORDS = _by_name(_RECORDS)
FUNCTIONS = _by_name(_FUNCTIONS)


def name_of(thing: Any, table: dict[str, str]) -> str | None:
    """The name of a class or function in a table; None if it is not there."""
    package = str(getattr(thing, "__module__", "")).partition(".")[0]
    name = f"{package}.{getattr(thing, '__name__', '')}"
    if name not in table or _find(name, table) is not thing:
        return None
    return name


def named(name: Any, table: dict[str, str]) -> Any:
    """The class or function of a name in a table."""
    found = _find(name, table) if isinstance(name, str) and name in table else None
    if found is None:
        raise ModelFileError(
            f"it holds {str(name)[:80]!r}, which this version of toprank does not know"
        )
    return found


def _find(name: str, table: dict[str, str]) -> Any:
    return getattr(import_module(table[name]), name.partition(".")[2], None)


#: What rankers hold that model files do not: what a warm start keeps, and the parts of HeadRanker.
_PARTS = {
    "toprank.losses.rankings": "Mixture",
    "toprank.problems.solution": "Multipliers Solution",
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


def trusted_types() -> list[str]:
    """Return the names for ``skops.io.load(trusted=...)`` and MLflow's ``skops_trusted_types``.

    Every module that defines one of them is imported for this.
    """
    return [*_full_names([_ESTIMATORS, _RECORDS, _FUNCTIONS, _PARTS]), *_FOREIGN]


__all__ = ["ESTIMATORS", "FUNCTIONS", "RECORDS", "name_of", "named", "trusted_types"]
