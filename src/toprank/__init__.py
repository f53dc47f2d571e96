"""toprank: learn, from yes/no labels, a linear score that puts the yes-rows first.

Every estimator is importable from here; `toprank.metrics` measures the head of a list and
`toprank.datasets` holds data to try things on.
"""

from . import datasets, metrics
from .exceptions import PositiveLabelWarning, TrivialSolutionWarning
from .methods import (
    ASCRC,
    BBR,
    BBRCV,
    CRR,
    LCBR,
    OAM,
    OPAUC,
    SPAM,
    WSVM,
    AdaOAM,
    ASRankSVM,
    InfinitePush,
    LogisticRank,
    LPPair,
    PNormPush,
    RankBoost,
    RankSVM,
    RectPush,
    RectPushApp,
    ReverseRectPush,
    SoftMarginRank,
    SoftRankBoost,
    TopPush,
)
from .methods.squared.bbr import BBRPath, bbr_path
from .problem import Certificate

__version__ = "0.1.0"

__all__ = [
    "ASCRC",
    "BBR",
    "BBRCV",
    "CRR",
    "LCBR",
    "OAM",
    "OPAUC",
    "SPAM",
    "WSVM",
    "ASRankSVM",
    "AdaOAM",
    "BBRPath",
    "Certificate",
    "InfinitePush",
    "LPPair",
    "LogisticRank",
    "PNormPush",
    "PositiveLabelWarning",
    "RankBoost",
    "RankSVM",
    "RectPush",
    "RectPushApp",
    "ReverseRectPush",
    "SoftMarginRank",
    "SoftRankBoost",
    "TopPush",
    "TrivialSolutionWarning",
    "bbr_path",
    "datasets",
    "metrics",
]
