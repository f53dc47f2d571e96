"""toprank: learn, from yes/no labels, a linear score that puts the yes-rows first.

Every estimator is importable from here; `toprank.metrics` measures the head of a list and
`toprank.datasets` holds data to try things on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, metrics
    from ._versions import show_versions
    from .exceptions import GridEdgeWarning, PositiveLabelWarning, TrivialSolutionWarning
    from .files import TRUSTED_TYPES, load, open_dataset, save
    from .methods import (
        AATP,
        ASCRC,
        BBR,
        BBRCV,
        CRR,
        LCBR,
        OAM,
        OPAUC,
        OWPC,
        SPAM,
        SVMMAP,
        WSVM,
        AdaOAM,
        ASRankSVM,
        InfinitePush,
        LogExpPush,
        LogisticRank,
        LogSumExpPush,
        LPPair,
        PNormPush,
        QuantileSigmoid,
        RankBoost,
        RankSVM,
        RectPush,
        RectPushApp,
        ReverseRectPush,
        SoftMarginRank,
        SoftRankBoost,
        SparseInfinitePush,
        SVMpAUC,
        TopFractionPush,
        TopPush,
    )
    from .methods.push.sparseinfinitepush import SparsePath, sparse_infinitepush_path
    from .methods.squared.bbr import BBRPath, bbr_path
    from .problems import Certificate
    from .selection import HeadRanker

__version__ = "0.2.0"

__all__ = [
    "AATP",
    "ASCRC",
    "BBR",
    "BBRCV",
    "CRR",
    "LCBR",
    "OAM",
    "OPAUC",
    "OWPC",
    "SPAM",
    "SVMMAP",
    "TRUSTED_TYPES",
    "WSVM",
    "ASRankSVM",
    "AdaOAM",
    "BBRPath",
    "Certificate",
    "GridEdgeWarning",
    "HeadRanker",
    "InfinitePush",
    "LPPair",
    "LogExpPush",
    "LogSumExpPush",
    "LogisticRank",
    "PNormPush",
    "PositiveLabelWarning",
    "QuantileSigmoid",
    "RankBoost",
    "RankSVM",
    "RectPush",
    "RectPushApp",
    "ReverseRectPush",
    "SVMpAUC",
    "SoftMarginRank",
    "SoftRankBoost",
    "SparseInfinitePush",
    "SparsePath",
    "TopFractionPush",
    "TopPush",
    "TrivialSolutionWarning",
    "bbr_path",
    "datasets",
    "load",
    "metrics",
    "open_dataset",
    "save",
    "show_versions",
    "sparse_infinitepush_path",
]

#: Where the names are that are no methods.
_ELSEWHERE = {
    "BBRPath": "methods.squared.bbr",
    "Certificate": "problems",
    "GridEdgeWarning": "exceptions",
    "HeadRanker": "selection",
    "PositiveLabelWarning": "exceptions",
    "SparsePath": "methods.push.sparseinfinitepush",
    "TRUSTED_TYPES": "files",
    "TrivialSolutionWarning": "exceptions",
    "bbr_path": "methods.squared.bbr",
    "load": "files",
    "open_dataset": "files",
    "save": "files",
    "show_versions": "_versions",
    "sparse_infinitepush_path": "methods.push.sparseinfinitepush",
}
#: Deprecated names, which only those who know them find.
_DEPRECATED = {"open": "files"}
_MODULES = (
    "dask",
    "datasets",
    "features",
    "files",
    "guarantees",
    "methods",
    "metrics",
    "plots",
    "selection",
    "theory",
    "trees",
)

# Names are imported when they are first used: scikit-learn takes a second to import, and
# `toprank --help` needs none of it.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        if name not in __all__ and name not in _DEPRECATED:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f".{(_ELSEWHERE | _DEPRECATED).get(name, 'methods')}", __name__)
        found = globals()[name] = getattr(module, name)
        return found


def __dir__() -> list[str]:
    return sorted({"__version__", *__all__, *_MODULES})
