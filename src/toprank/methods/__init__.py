"""The catalogue: one line a method."""

from .pnormpush import PNormPush
from .rectpushapp import RectPushApp
from .toppush import TopPush

__all__ = ["PNormPush", "RectPushApp", "TopPush"]
