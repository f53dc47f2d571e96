"""toprank: learn, from yes/no labels, a linear score that puts the yes-rows first.

Every estimator is importable from here; `toprank.metrics` measures the head of a list and
`toprank.datasets` holds data to try things on.
"""

from . import datasets, metrics
from .exceptions import PositiveLabelWarning, TrivialSolutionWarning
from .methods import (
    AATP,
    ASCRC,
    BBR,
    BBRCV,
    CRR,
    LCBR,
    OAM,
    OPAUC,
    SPAM,
    SVMMAP,
    WSVM,
    AdaOAM,
    ASRankSVM,
    InfinitePush,
    LPPair,
    PNormPush,
    RankBoost,
    RankSVM,
    RectPush,
    RectPushApp,
    ReverseRectPush,
    SoftMarginRank,
    SoftRankBoost,
    SVMpAUC,
    TopPush,
)
from .methods.squared.bbr import BBRPath, bbr_path
from .problem import Certificate

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
    "SPAM",
    "SVMMAP",
    "WSVM",
    "ASRankSVM",
    "AdaOAM",
    "BBRPath",
    "Certificate",
    "InfinitePush",
    "LPPair",
    "PNormPush",
    "PositiveLabelWarning",
    "RankBoost",
    "RankSVM",
    "RectPush",
    "RectPushApp",
    "ReverseRectPush",
    "SVMpAUC",
    "SoftMarginRank",
    "SoftRankBoost",
    "TopPush",
    "TrivialSolutionWarning",
    "bbr_path",
    "datasets",
    "metrics",
]
