"""The catalogue: one line a method."""

from .ascrc import ASCRC
from .asranksvm import ASRankSVM
from .bbr import BBR
from .bbrcv import BBRCV
from .crr import CRR
from .infinitepush import InfinitePush
from .lcbr import LCBR
from .pnormpush import PNormPush
from .ranksvm import RankSVM
from .rectpush import RectPush, ReverseRectPush
from .rectpushapp import RectPushApp
from .toppush import TopPush
from .wsvm import WSVM

__all__ = [
    "ASCRC",
    "BBR",
    "BBRCV",
    "CRR",
    "LCBR",
    "WSVM",
    "ASRankSVM",
    "InfinitePush",
    "PNormPush",
    "RankSVM",
    "RectPush",
    "RectPushApp",
    "ReverseRectPush",
    "TopPush",
]
