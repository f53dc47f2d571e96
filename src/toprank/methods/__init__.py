"""The catalogue: all methods, those that few users need among them."""

from .boosting.rankboost import RankBoost
from .boosting.softrankboost import SoftRankBoost
from .online.adaoam import AdaOAM
from .online.crr import CRR
from .online.oam import OAM
from .online.opauc import OPAUC
from .online.spam import SPAM
from .pairs.ranksvm import RankSVM
from .push.aatp import AATP
from .push.infinitepush import InfinitePush
from .push.rectpush import RectPush, ReverseRectPush
from .push.sparseinfinitepush import SparseInfinitePush
from .push.topfractionpush import TopFractionPush
from .push.toppush import TopPush
from .rows.logexppush import LogExpPush
from .rows.logisticrank import LogisticRank
from .rows.logsumexppush import LogSumExpPush
from .rows.pnormpush import PNormPush
from .rows.quantilesigmoid import QuantileSigmoid
from .rows.rectpushapp import RectPushApp
from .rows.wsvm import WSVM
from .sampling.ascrc import ASCRC
from .sampling.asranksvm import ASRankSVM
from .soft_margin.lppair import LPPair
from .soft_margin.softmarginrank import SoftMarginRank
from .squared.bbr import BBR
from .squared.bbrcv import BBRCV
from .squared.lcbr import LCBR
from .structural.owpc import OWPC
from .structural.svmmap import SVMMAP
from .structural.svmpauc import SVMpAUC

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
    "InfinitePush",
    "LPPair",
    "LogExpPush",
    "LogSumExpPush",
    "LogisticRank",
    "PNormPush",
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
    "TopFractionPush",
    "TopPush",
]
