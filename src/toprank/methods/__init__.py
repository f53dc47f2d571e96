"""The catalogue: one line a method."""

from .ascrc import ASCRC
from .asranksvm import ASRankSVM
from .crr import CRR
from .infinitepush import InfinitePush
from .pnormpush import PNormPush
from .rectpush import RectPush, ReverseRectPush
from .rectpushapp import RectPushApp
from .toppush import TopPush

__all__ = [
    "ASCRC",
    "CRR",
    "ASRankSVM",
    "InfinitePush",
    "PNormPush",
    "RectPush",
    "RectPushApp",
    "ReverseRectPush",
    "TopPush",
]
