"""The catalogue: one line a method."""

from .infinitepush import InfinitePush
from .rectpush import RectPush, ReverseRectPush
from .toppush import TopPush

__all__ = ["InfinitePush", "RectPush", "ReverseRectPush", "TopPush"]
