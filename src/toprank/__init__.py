"""toprank: learn, from yes/no labels, a linear score that puts the yes-rows first.

Every estimator is importable from here; `toprank.metrics` measures the head of a list and
`toprank.datasets` holds data to try things on.
"""

from . import datasets, metrics
from .exceptions import GridEdgeWarning, PositiveLabelWarning, TrivialSolutionWarning
from .files import load, save
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
from .problem import Certificate
from .selection import HeadRanker

__version__ = "0.1.0"

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
    "save",
    "sparse_infinitepush_path",
]
