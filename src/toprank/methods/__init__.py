"""The catalogue: one line a method."""

from .rectpush import RectPush, ReverseRectPush
from .toppush import TopPush

__all__ = ["RectPush", "ReverseRectPush", "TopPush"]
