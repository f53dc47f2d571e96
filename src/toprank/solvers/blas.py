"""BLAS on one thread, so that results do not depend on their number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


_limiting = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread: its sums depend on their number otherwise.

    The limit is the whole process's. Of fits that overlap, in threads, only the first sets and
    lifts it: a second would take the first one's limit for what was there before.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()
