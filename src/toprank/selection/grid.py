"""Which alphas to try: from the data, so that a grid fits columns of any scale."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..designs import Design
from ..inputs.arguments import check_values
from ..inputs.class_split import Split

Array = NDArray[np.float64]

#: The largest alpha, in units of the rows' mean square. From here on the best weights are all but
#: a multiple of one vector, the pull of the losses at w = 0, and the order stays as it is.
HIGHEST = 1.0
#: The smallest, in the same units: the penalty is then lost beside the losses of most data.
LOWEST = 1e-6


def mean_square(design: Design, split: Split) -> float:
    """The mean of |x - mean|^2 over the rows that count, each class weighing a half.

    Thresholds and differences of scores take no notice of the mean.
    """
    if design.elsewhere:
        return float(design.mean_square())  # type: ignore[attr-defined]
    rows = np.concatenate([split.pos, split.neg])
    weight = 0.5 * np.concatenate([split.p, split.q])
    mean = design.pull_back(weight, rows)
    square = float(weight @ design.squared_norms(rows))
    spread = square - float(mean @ mean)
    return spread if spread > 1e-12 * square else square  # what is left may be rounding alone


def grid(design: Design, split: Split, count: int) -> Array:
    """`count` alphas in decreasing order, evenly spaced on a logarithmic scale."""
    unit = mean_square(design, split) or 1.0  # all rows are zero: any alpha does
    return unit * np.geomspace(HIGHEST, LOWEST, count)


def check_alphas(alphas: Any) -> Array:
    """The alphas that were given, the largest first, each once."""
    values = np.array(check_values("alphas", alphas, above_zero=True))
    if not np.isfinite(values).all():
        raise ValueError(f"alphas[{int(np.argmax(np.isinf(values)))}] is inf: it must be finite.")
    return np.unique(values)[::-1]


def alphas_for(alphas: Any, design: Design, split: Split) -> Array:
    """The alphas that were given, or so many of them as the data ask for."""
    if isinstance(alphas, Integral):
        if isinstance(alphas, bool) or alphas < 1:
            raise ValueError(f"alphas={alphas!r}: pass how many, 1 or more, or a list of them.")
        return grid(design, split, int(alphas))
    return check_alphas(alphas)


__all__ = ["alphas_for", "check_alphas", "grid", "mean_square"]
