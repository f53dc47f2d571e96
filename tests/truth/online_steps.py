"""The steps of the online methods in plain NumPy, as their papers write them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def spam_steps(
    X: Array,
    sign: Array,
    order: Any,
    *,
    means: Array,
    share: float,
    alpha: float,
    eta: float,
    cap: float = np.inf,
    weight: Array | None = None,
) -> Array:
    """The weights after each step; `means` is that of the negatives, then that of the positives."""
    w, iterates, p = np.zeros(X.shape[1]), [], share
    beta = 2 * p * (1 - p) * alpha
    for t, i in enumerate(order, start=1):
        step = min(eta / np.sqrt(t), cap) * (1.0 if weight is None else weight[i])
        b, a = means @ w
        dual = b - a
        if sign[i] > 0:
            g = 2 * (1 - p) * (w @ X[i] - a) - 2 * (1 + dual) * (1 - p)
        else:
            g = 2 * p * (w @ X[i] - b) + 2 * (1 + dual) * p
        w = (w - step * g * X[i]) / (1 + step * beta)
        iterates.append(w)
    return np.array(iterates)


def moment_steps(
    X: Array,
    sign: Array,
    order: Any,
    *,
    alpha: float,
    eta: float | None,
    adaptive: bool = False,
    weight: Array | None = None,
) -> Array:
    """The weights after each row, means and covariances taken anew from all rows read.

    No eta is 1 / (max v (4 max |x|^2 + alpha)) of the rows read.
    """
    weight = np.ones(len(X)) if weight is None else weight
    w, G, iterates = np.zeros(X.shape[1]), np.zeros(X.shape[1]), []
    read: list[int] = []
    for i in order:
        read.append(int(i))
        other = [k for k in read if sign[k] != sign[i]]
        if other:
            m = np.average(X[other], axis=0, weights=weight[other])
            Z = X[other] - m
            S = (weight[other, np.newaxis] * Z).T @ Z / weight[other].sum()
            d = X[i] - m
            g = weight[i] * (alpha * w - sign[i] * d + d * (d @ w) + S @ w)
            if adaptive:
                G += g * g
                w = w - eta * g / (1e-8 + np.sqrt(G))
                w = w * min(1.0, 1.0 / np.sqrt(alpha * max(w @ w, 1e-300)))
            elif eta is None:
                longest = max(X[k] @ X[k] for k in read)
                w = w - g / (weight[read].max() * (4 * longest + alpha))
            else:
                w = w - eta * g
        iterates.append(w)
    return np.array(iterates)


class Numbers:
    """The core's random numbers."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def _bits(self) -> int:
        mask = 2**64 - 1
        self._state = (self._state + 0x9E3779B97F4A7C15) & mask
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def uniform(self) -> float:
        return (self._bits() >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        return (self._bits() * n) >> 64


def oam_steps(
    X: Array,
    sign: Array,
    order: Any,
    *,
    C: float,
    size: int,
    sequential: bool,
    seed: int,
    weight: Array | None = None,
) -> tuple[Array, dict[float, list[int]]]:
    """The weights after each row, and the rows in the buffers at the end."""
    weight = np.ones(len(X)) if weight is None else weight
    numbers, w, iterates = Numbers(seed), np.zeros(X.shape[1]), []
    buffers: dict[float, list[int]] = {1.0: [], -1.0: []}
    read, total = {1.0: 0, -1.0: 0}, {1.0: 0.0, -1.0: 0.0}
    for i in order:
        y, x = float(sign[i]), X[i]
        chance, slot = numbers.uniform(), numbers.below(size)
        read[y] += 1
        total[y] += weight[i]
        if read[y] <= size:
            buffers[y].append(int(i))
        elif chance < size * weight[i] / total[y]:
            buffers[y][slot] = int(i)
        frozen = w
        for k in buffers[-y]:
            stands_for = weight[k] if read[-y] <= size else total[-y] / size
            most, d = C * weight[i] * stands_for / 2, x - X[k]
            if sequential and d.any():
                w = w + min(most, max(0.0, 1 - y * w @ d) / (d @ d)) * y * d
            elif not sequential and y * frozen @ d <= 1:
                w = w + most * y * d
        iterates.append(w)
    return np.array(iterates), buffers
