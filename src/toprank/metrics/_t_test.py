"""Whether one method is better than another on one data set, from the same random splits.

C. Nadeau, Y. Bengio, Inference for the Generalization Error, Machine Learning 52, 2003.
"""

from __future__ import annotations

from math import copysign, inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from ..inputs.arguments import check_number

Array = NDArray[np.float64]


class TTest(NamedTuple):
    """What a paired t test found."""

    difference: float
    """The mean of one's figures less the other's."""
    t: float
    """The difference over its standard error."""
    p: float
    """How likely a t as far from zero is between methods that are alike."""
    low: float
    """The lower end of the interval of the difference."""
    high: float
    """The upper end."""


def corrected_t_test(
    one: ArrayLike,
    other: ArrayLike,
    *,
    test_share: float | None = None,
    confidence: float = 0.95,
) -> TTest:
    r"""Compare two methods on the same splits of one set: the paired t test, corrected.

    .. math:: t = \bar d \Big/ \sqrt{\Big(\frac1J + \frac{s}{1 - s}\Big) \hat\sigma^2}

    with d the J differences, their variance (divisor J - 1) and s the share of rows in a test
    part; J - 1 degrees of freedom, two-sided. Random splits share most of their training rows, so
    their figures are not independent, and the plain test (without the second term) finds
    differences far too often.

    Parameters
    ----------
    one, other : array-like of shape (n_splits,)
        Figures of the two methods on the same splits, in the same order; two or more.
    test_share : float, optional
        s, strictly between 0 and 1: 1/3 for splits 2:1, 1/k for k folds. None is the plain
        paired t test, for figures that are independent.
    confidence : float in (0, 1), default=0.95
        Of the interval.

    Returns
    -------
    TTest
        `difference`, `t`, `p`, and the interval of the difference, `low` to `high`. Where all
        differences are equal p is 0, or 1 if they are zero.

    Examples
    --------
    >>> from toprank.metrics import corrected_t_test
    >>> one, other = [0.61, 0.58, 0.63, 0.60, 0.62], [0.59, 0.58, 0.60, 0.59, 0.60]
    >>> round(corrected_t_test(one, other).p, 3)
    0.035
    >>> round(corrected_t_test(one, other, test_share=1 / 3).p, 3)
    0.169
    """
    a, b = _figures("one", one), _figures("other", other)
    if len(a) != len(b):
        raise ValueError(
            f"one has {len(a)} figures and other {len(b)}: pass those of the same splits."
        )
    sure = check_number("confidence", confidence, 0.0, 1.0, ends="()")
    overlap = 0.0
    if test_share is not None:
        share = check_number("test_share", test_share, 0.0, 1.0, ends="()")
        overlap = share / (1.0 - share)
    d, n = a - b, len(a)
    mean, error = float(d.mean()), sqrt((1.0 / n + overlap) * float(d.var(ddof=1)))
    # Equal figures differ by rounding only, and so do their differences.
    if error <= 1e-14 * float(np.abs(np.concatenate([a, b])).max(initial=0.0)):
        same = abs(mean) <= 1e-14 * float(np.abs(a).max())
        t, p = (0.0, 1.0) if same else (copysign(inf, mean), 0.0)
        return TTest(mean, t, p, mean, mean)
    t, reach = mean / error, error * float(stdtrit(n - 1, 0.5 + sure / 2.0))
    return TTest(mean, t, float(2.0 * stdtr(n - 1, -abs(t))), mean - reach, mean + reach)


def _figures(name: str, values: ArrayLike) -> Array:
    """Two finite figures or more."""
    figures = np.asarray(values, dtype=np.float64)
    if figures.ndim != 1 or len(figures) < 2:
        raise ValueError(
            f"{name} must hold one figure for each of two splits or more, got shape "
            f"{figures.shape}."
        )
    if not np.isfinite(figures).all():
        split = int(np.argmin(np.isfinite(figures)))
        raise ValueError(f"{name}[{split}] is {figures[split]}: every split needs a number.")
    return figures
