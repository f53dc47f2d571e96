"""The catalogue: one line a method."""

from .ascrc import ASCRC
from .asranksvm import ASRankSVM
from .bbr import BBR
from .crr import CRR
from .infinitepush import InfinitePush
from .lppair import LPPair
from .pnormpush import PNormPush
from .rankboost import RankBoost
from .ranksvm import RankSVM
from .rectpush import RectPush, ReverseRectPush
from .rectpushapp import RectPushApp
from .softmarginrank import SoftMarginRank
from .softrankboost import SoftRankBoost
from .toppush import TopPush
from .wsvm import WSVM

__all__ = [
    "ASCRC",
    "BBR",
    "CRR",
    "WSVM",
    "ASRankSVM",
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
