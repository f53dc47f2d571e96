"""toprank: learn, from yes/no labels, a linear score that puts the yes-rows first.

The methods that most users need are importable from here, and all of them from `toprank.methods`.
`toprank.metrics` measures the head of a list and `toprank.datasets` holds data to try things on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, metrics
    from ._versions import show_versions
    from .exceptions import GridEdgeWarning, PositiveLabelWarning, TrivialSolutionWarning
    from .files import TRUSTED_TYPES as TRUSTED_TYPES
    from .files import load, open_dataset, save
    from .methods import (
        AATP as AATP,
    )
    from .methods import (
        ASCRC as ASCRC,
    )
    from .methods import (
        BBR,
        SPAM,
        ASRankSVM,
        LogisticRank,
        LPPair,
        PNormPush,
        RankBoost,
        RankSVM,
        RectPush,
        RectPushApp,
        TopPush,
    )
    from .methods import (
        BBRCV as BBRCV,
    )
    from .methods import (
        CRR as CRR,
    )
    from .methods import (
        LCBR as LCBR,
    )
    from .methods import (
        OAM as OAM,
    )
    from .methods import (
        OPAUC as OPAUC,
    )
    from .methods import (
        OWPC as OWPC,
    )
    from .methods import (
        SVMMAP as SVMMAP,
    )
    from .methods import (
        WSVM as WSVM,
    )
    from .methods import (
        AdaOAM as AdaOAM,
    )
    from .methods import (
        InfinitePush as InfinitePush,
    )
    from .methods import (
        LogExpPush as LogExpPush,
    )
    from .methods import (
        LogSumExpPush as LogSumExpPush,
    )
    from .methods import (
        QuantileSigmoid as QuantileSigmoid,
    )
    from .methods import (
        ReverseRectPush as ReverseRectPush,
    )
    from .methods import (
        SoftMarginRank as SoftMarginRank,
    )
    from .methods import (
        SoftRankBoost as SoftRankBoost,
    )
    from .methods import (
        SparseInfinitePush as SparseInfinitePush,
    )
    from .methods import (
        SVMpAUC as SVMpAUC,
    )
    from .methods import (
        TopFractionPush as TopFractionPush,
    )
    from .problems import Certificate
    from .selection import HeadRanker, RankerCV

__version__ = "0.2.0"

__all__ = [
    "BBR",
    "SPAM",
    "ASRankSVM",
    "Certificate",
    "GridEdgeWarning",
    "HeadRanker",
    "LPPair",
    "LogisticRank",
    "PNormPush",
    "PositiveLabelWarning",
    "RankBoost",
    "RankSVM",
    "RankerCV",
    "RectPush",
    "RectPushApp",
    "TopPush",
    "TrivialSolutionWarning",
    "datasets",
    "load",
    "metrics",
    "open_dataset",
    "save",
    "show_versions",
]

#: The methods, all of which are importable from here too.
_METHODS = (
    "AATP",
    "ASCRC",
    "ASRankSVM",
    "AdaOAM",
    "BBR",
    "BBRCV",
    "CRR",
    "InfinitePush",
    "LCBR",
    "LPPair",
    "LogExpPush",
    "LogSumExpPush",
    "LogisticRank",
    "OAM",
    "OPAUC",
    "OWPC",
    "PNormPush",
    "QuantileSigmoid",
    "RankBoost",
    "RankSVM",
    "RectPush",
    "RectPushApp",
    "ReverseRectPush",
    "SPAM",
    "SVMMAP",
    "SVMpAUC",
    "SoftMarginRank",
    "SoftRankBoost",
    "SparseInfinitePush",
    "TopFractionPush",
    "TopPush",
    "WSVM",
)
#: The modules of the other names.
_OTHERS = {
    "Certificate": "problems",
    "GridEdgeWarning": "exceptions",
    "HeadRanker": "selection",
    "PositiveLabelWarning": "exceptions",
    "RankerCV": "selection",
    "TRUSTED_TYPES": "files",
    "TrivialSolutionWarning": "exceptions",
    "load": "files",
    "open": "files",  # deprecated, and warns itself
    "open_dataset": "files",
    "save": "files",
    "show_versions": "_versions",
}
#: The modules of names that are deprecated here. `toprank.selection.path` is the way to a path.
_DEPRECATED = {
    "BBRPath": "methods.squared.bbr",
    "SparsePath": "methods.push.sparseinfinitepush",
    "bbr_path": "methods.squared.bbr",
    "sparse_infinitepush_path": "methods.push.sparseinfinitepush",
}
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
        if name in _DEPRECATED:
            module = f"toprank.{_DEPRECATED[name]}"
            import_module(".exceptions", __name__).warn_caller(
                f"toprank.{name} is deprecated and ends in version 0.4: import it from {module}.",
                FutureWarning,
                about=name,
            )
            return getattr(import_module(module), name)
        module = "methods" if name in _METHODS else _OTHERS.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f".{module}", __name__), name)
        return found


def __dir__() -> list[str]:
    return sorted({"__version__", *__all__, *_MODULES})
