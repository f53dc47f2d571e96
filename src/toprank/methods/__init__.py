"""The catalogue: one line a method."""

from .infinitepush import InfinitePush
from .pnormpush import PNormPush
from .rectpush import RectPush, ReverseRectPush
from .rectpushapp import RectPushApp
from .toppush import TopPush
from .wsvm import WSVM

__all__ = [  # noqa: RUF022  (takes the capitals of WSVM for a constant's)
    "InfinitePush",
    "PNormPush",
    "RectPush",
    "RectPushApp",
    "ReverseRectPush",
    "TopPush",
    "WSVM",
]
