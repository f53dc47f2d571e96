"""Cholesky factors, conjugate gradients and line searches that several solvers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf
from threadpoolctl import ThreadpoolController

Array = NDArray[np.float64]


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


#: What is added to a diagonal where rounding has left no factor, as a share of what is given.
_RIDGES = (0.0, *np.geomspace(1e-15, 1.0, 16))


def cholesky(matrix: Array, lift: Array | float) -> Array | None:
    """The lower Cholesky factor of a symmetric matrix in Fortran order, which is written to.

    Columns may be multiples of each other, at a tiny alpha: the diagonal is lifted by ever more of
    `lift`, for what rounding lost, until there is a factor; None where nothing helps.
    """
    diagonal = np.einsum("ii->i", matrix)
    for ridge in _RIDGES:
        diagonal += ridge * lift
        factor, failed = dpotrf(matrix, lower=1, clean=0)
        if not failed:
            return np.asarray(factor)
    return None


def conjugate_gradient(
    product: Callable[[Array], tuple[Array, Any]],
    target: Array,
    *,
    enough: float,
    max_iter: int,
    scale: Array | None = None,
) -> tuple[Array, Any]:
    """x with |A x - target| <= enough, and what `product` would have told of x.

    `product` gives A d and a number or vector that is linear in d; `scale` is a diagonal near A's.
    """
    x, total = np.zeros_like(target), 0.0
    residual = target.copy()
    direction = residual.copy() if scale is None else residual / scale
    norm = float(residual @ direction)
    for _ in range(max_iter):
        image, told = product(direction)
        curved = float(direction @ image)
        length = norm / curved if norm > 0 and curved > 0 else 0.0  # underflow: no more digits
        x += length * direction
        total = total + length * told
        residual -= length * image
        if length == 0.0 or float(np.linalg.norm(residual)) <= enough:
            break
        scaled = residual if scale is None else residual / scale
        last, norm = norm, float(residual @ scaled)
        direction = scaled + (norm / last) * direction
    return x, total


#: A step is no shorter than this: where it would be, the slope it began with was rounding.
_SHORTEST = 1e-16


def descend(
    slope_at: Callable[[float], float], slope: float, share: float, longest: float = 1.0
) -> float:
    """Where on [0, longest] a slope that increases from below zero has fallen to a share of it.

    The end where it has not fallen so far; what is not finite is too far.
    """
    if not slope < 0:
        return 0.0
    enough = share * abs(slope)
    low, at_low, high, at_high, theta, kept = 0.0, slope, np.inf, np.inf, 1.0, ""
    for _ in range(60):
        value = slope_at(theta)
        if abs(value) <= enough or (value < 0 and theta >= longest):
            return theta
        if value < 0:
            at_high *= 0.5 if kept == "high" else 1.0  # an end that is kept twice counts for less
            low, at_low, kept = theta, value, "high"
        else:  # or not a number
            at_low *= 0.5 if kept == "low" else 1.0
            high, at_high, kept = theta, value, "low"
        if np.isinf(high):
            theta = min(4.0 * low, longest)
            continue
        if high - low <= 1e-8 * high or high <= _SHORTEST:  # a kink, maybe at the very beginning
            break
        part = at_low / (at_low - at_high) if np.isfinite(at_high) else 0.1
        theta = low + (high - low) * min(max(part, 0.02), 0.98)
    return low if low > 0 else theta


#: The slope a line search leaves, as a share of the slope it began with.
_LINE_SEARCH = 0.1


def step_length(line: Callable[[float], tuple[float, float]], slope: float) -> float:
    """Where the slope has fallen to a share of it, by Newton's method within a bracket."""
    low, high, theta = 0.0, np.inf, 1.0
    for _ in range(60):
        value, curvature = line(theta)
        if abs(value) <= _LINE_SEARCH * abs(slope):
            break
        if value > 0 or not np.isfinite(value):
            high = theta
        else:
            low = theta
        step = theta - value / curvature if np.isfinite(value) and curvature > 0 else np.nan
        if np.isfinite(high):
            theta = step if low < step < high else 0.5 * (low + high) if low > 0 else 0.1 * high
        else:
            theta = min(step, 4.0 * theta) if step > low else 2.0 * theta
    return theta
