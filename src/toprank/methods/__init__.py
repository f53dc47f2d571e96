"""The catalogue: one line a method."""

from .infinitepush import InfinitePush
from .pnormpush import PNormPush
from .rectpush import RectPush, ReverseRectPush
from .rectpushapp import RectPushApp
from .toppush import TopPush

__all__ = ["InfinitePush", "PNormPush", "RectPush", "RectPushApp", "ReverseRectPush", "TopPush"]
