"""BLAS on one thread, so that results do not depend on their number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


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
    before = []
    try:
        for library in _libraries():
            threads = library.get_num_threads()
            if threads != 1:
                before.append((library, threads))
                library.set_num_threads(1)
        yield
    finally:
        for library, threads in before:
            library.set_num_threads(threads)
        _limiting.release()
