r"""How many new positives stand above most new negatives: TopPush's Theorem 3, with constants.

N. Li, R. Jin, Z.-H. Zhou, Top Rank Optimization in Linear Time, NIPS 2014. The threshold is the
highest training negative. Both classes are cut by one half-space, and half-spaces cut 2N points of
d features in at most G = 2 sum_{k <= d} C(2N - 1, k) ways. So, for all weights at once,

    no training negative is above the threshold:     Q(above) <= (2 / n) log2(2 G / delta),
    a share L of the training positives is not:      P(not above) <= L + 2 sqrt(L A) + 4 A,
                                                     A = log(4 G / delta) / m,

each with probability 1 - delta: Haussler and Welzl's nets, Vapnik and Chervonenkis' relative bound.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from ..inputs.arguments import check_count, check_number, check_share


class AboveMost(NamedTuple):
    """All but `missed` of the positives stand above all but `fpr` of the negatives."""

    fpr: float
    """The share of new negatives above the threshold, at most."""
    missed: float
    """The share of new positives not above it, at most."""


def above_most_negatives(
    missed: float,
    *,
    n_positives: int,
    n_negatives: int,
    n_features: int,
    delta: float = 0.05,
) -> AboveMost:
    r"""How new rows stand to the highest training negative: Theorem 3 of TopPush, with constants.

    .. math:: P_b(w, \epsilon) \le L + 2\sqrt{L A} + 4 A, \quad
        \epsilon > \tfrac2n \log_2 \tfrac{4 G_n}{\delta}, \quad
        A = \tfrac1m \log \tfrac{8 G_m}{\delta}

    where P_b(w, epsilon) is the chance that a new positive has a share of epsilon or more of the
    negatives at its height or above, and G_N = 2 sum_{k <= d} C(2N - 1, k). It holds for all
    weights at once, so for any linear method, and whatever was tuned.

    Parameters
    ----------
    missed : float
        L, the share of training positives that are not above every training negative:
        one minus `toprank.metrics.positives_at_top`. The mean loss of TopPush is no smaller, for
        the squared hinge and the exponential loss.
    n_positives, n_negatives : int
        m and n, training rows of the classes.
    n_features : int
        d, features of a row.
    delta : float, default=0.05
        How likely either share may be larger.

    Returns
    -------
    AboveMost
        `fpr` and `missed`, each at most one.

    Examples
    --------
    >>> from toprank.theory import above_most_negatives
    >>> known = dict(n_positives=5000, n_negatives=50_000, n_features=10)
    >>> fpr, missed = above_most_negatives(0.0, **known)
    >>> round(fpr, 4), round(missed, 3)
    (0.0061, 0.066)
    """
    check_number("missed", missed, 0.0, 1.0)
    m, n = check_count("n_positives", n_positives), check_count("n_negatives", n_negatives)
    check_count("n_features", n_features)
    check_share(delta=delta)
    fpr = 2.0 / n * (_log_cuts(2 * n, n_features) + log(4.0 / delta)) / log(2.0)
    a = (_log_cuts(2 * m, n_features) + log(8.0 / delta)) / m
    return AboveMost(min(1.0, fpr), min(1.0, missed + 2.0 * sqrt(missed * a) + 4.0 * a))


def _log_cuts(n_points: int, n_features: int) -> float:
    """log(2 sum_{k <= d} C(N - 1, k)): in how many ways half-spaces can cut N points (Cover)."""
    if n_features >= n_points - 1:
        return n_points * log(2.0)
    k = np.arange(n_features + 1)
    choices = gammaln(n_points) - gammaln(k + 1) - gammaln(n_points - k)
    return log(2.0) + float(logsumexp(choices))
