"""The catalogue: one line a method."""

from .toppush import TopPush

__all__ = ["TopPush"]
