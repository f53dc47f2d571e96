"""The catalogue: one line a method."""

from .adaoam import AdaOAM
from .ascrc import ASCRC
from .asranksvm import ASRankSVM
from .bbr import BBR
from .bbrcv import BBRCV
from .crr import CRR
from .infinitepush import InfinitePush
from .lcbr import LCBR
from .lppair import LPPair
from .oam import OAM
from .opauc import OPAUC
from .pnormpush import PNormPush
from .rankboost import RankBoost
from .ranksvm import RankSVM
from .rectpush import RectPush, ReverseRectPush
from .rectpushapp import RectPushApp
from .softmarginrank import SoftMarginRank
from .softrankboost import SoftRankBoost
from .spam import SPAM
from .toppush import TopPush
from .wsvm import WSVM

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
    "InfinitePush",
    "LPPair",
    "PNormPush",
    "RankBoost",
    "RankSVM",
    "RectPush",
    "RectPushApp",
    "ReverseRectPush",
    "SoftMarginRank",
    "SoftRankBoost",
    "TopPush",
]
