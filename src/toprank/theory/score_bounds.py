"""Bounds on the scores of new rows, and of pairs, from the scores of a sample.

AUC at a margin, and RectTop with a margin loss.

A score f is chosen from a class F after a look at the rows. Each f is within r of one of N(F, r)
scores, at every row there can be; what holds for a fixed score with probability 1 - p then holds
for all of F with probability 1 - N p, if a margin of 4 r on the sample pays for the distance.

C. Rudin, R. E. Schapire, Margin-based Ranking and an Equivalence between AdaBoost and RankBoost,
JMLR 10, 2009; quoted as Theorem 1 by D. Suehiro, K. Hatano, E. Takimoto, ALT 2011.
A. K. Menon, The risk of trivial solutions in bipartite top ranking, 2019: Proposition 4.

New positives above most new negatives: TopPush's Theorem 3, with constants.

N. Li, R. Jin, Z.-H. Zhou, Top Rank Optimization in Linear Time, NIPS 2014. The threshold is the
highest training negative. Both classes are cut by one half-space, and half-spaces cut 2N points of
d features in at most G = 2 sum_{k <= d} C(2N - 1, k) ways. So, for all weights at once,

    no training negative is above the threshold:     Q(above) <= (2 / n) log2(2 G / delta),
    a share L of the training positives is not:      P(not above) <= L + 2 sqrt(L A) + 4 A,
                                                     A = log(4 G / delta) / m,

each with probability 1 - delta: Haussler and Welzl's nets, Vapnik and Chervonenkis' relative bound.

Pairs bounded by a loss of single rows: Theorem 1 of the active sampling paper.

W.-Y. Shen, H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear Bipartite Ranking,
ACML 2013.
"""

from __future__ import annotations

from math import exp, log, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, logsumexp

from ..inputs.arguments import check_above_zero, check_count, check_number, check_share
from ..metrics._checks import check_rows
from ..metrics._ranking import class_total

Array = NDArray[np.float64]


def log_covering_number(*, n_features: int, reach: float, radius: float) -> float:
    r"""How many linear scores stand for all of them: the logarithm of a covering number.

    .. math:: \log N(F, r) \le d \, \log(1 + 2 R / r)

    F holds the scores w.x with \|w\| at most W on rows with \|x\| at most X, R = W X, in any norm
    and its dual: Euclidean twice, or the 1-norm of the weights and the greatest entry of a row.

    Parameters
    ----------
    n_features : int
        d, features of a row.
    reach : float
        R, the greatest score there can be.
    radius : float
        r, how far apart a score and its substitute may be at a row: a quarter of the margin.

    Returns
    -------
    float
        The natural logarithm of a number of open balls that is enough.

    Examples
    --------
    >>> from toprank.theory import log_covering_number
    >>> round(log_covering_number(n_features=10, reach=1.0, radius=0.05), 2)
    37.14
    """
    check_count("n_features", n_features)
    check_above_zero(reach=reach, radius=radius)
    return n_features * log1p(2.0 * reach / radius)


def auc_margin_failure(
    *,
    eps: float,
    n_positives: int,
    n_negatives: int,
    log_covering: float = 0.0,
    printed: bool = False,
) -> float:
    r"""How likely new rows have an AUC that is eps below the sample's AUC at a margin.

    .. math:: P\Big(\exists f \in F:\ \mathrm{AUC}(f) < \mathrm{AUC}_{S,\rho}(f) - \epsilon\Big)
        \le N(F, \rho/4) \, \exp\frac{-2 \epsilon^2 m n}{m + n}

    given the numbers m and n of positive and negative rows.

    Parameters
    ----------
    eps : float
        How far below `toprank.metrics.auc(..., margin=rho)` is allowed.
    n_positives, n_negatives : int
        m and n.
    log_covering : float, default=0.0
        log N(F, rho / 4), by open balls; `log_covering_number` has it for linear scores. The
        default is for a score that was chosen without these rows, at any margin.
    printed : bool, default=False
        As the papers have it, 2 N exp(-(m + n) eps^2 E^2 / 8), with E = mn / (m + n)^2: true as
        well, and much weaker.

    Returns
    -------
    float
        A bound of the probability, at most one.

    Examples
    --------
    >>> from toprank.theory import auc_margin_failure, log_covering_number
    >>> cover = log_covering_number(n_features=5, reach=1.0, radius=0.1 / 4)
    >>> known = dict(eps=0.1, n_positives=3000, n_negatives=30_000, log_covering=cover)
    >>> auc_margin_failure(**known) < 1e-10, auc_margin_failure(**known, printed=True)
    (True, 1.0)
    """
    check_above_zero(eps=eps)
    check_number("log_covering", log_covering, 0.0)
    pairs = _pairs_worth(n_positives, n_negatives)
    if printed:
        rows = n_positives + n_negatives
        share = (n_positives / rows) * (n_negatives / rows)
        return exp(min(0.0, log(2.0) + log_covering - rows * (eps * share) ** 2 / 8.0))
    return exp(min(0.0, log_covering - 2.0 * eps**2 * pairs))


def auc_margin_deviation(
    *, delta: float, n_positives: int, n_negatives: int, log_covering: float = 0.0
) -> float:
    r"""How much to take off the AUC at a margin, to be below that of new rows: the same, inverted.

    .. math:: \epsilon = \sqrt{\frac{(m + n) \, (\log N + \log 1/\delta)}{2 m n}}

    Parameters
    ----------
    delta : float
        How likely it may be that the AUC of new rows is lower all the same.
    n_positives, n_negatives : int
        m and n.
    log_covering : float, default=0.0
        As in `auc_margin_failure`.

    Returns
    -------
    float
        The deviation eps; one or more promises nothing.

    Examples
    --------
    >>> from toprank.theory import auc_margin_deviation
    >>> round(auc_margin_deviation(delta=0.05, n_positives=300, n_negatives=3000), 3)
    0.074
    """
    check_share(delta=delta)
    check_number("log_covering", log_covering, 0.0)
    pairs = _pairs_worth(n_positives, n_negatives)
    return sqrt((log_covering - log(delta)) / (2.0 * pairs))


def recttop_margin_risk(
    y_true: ArrayLike,
    scores: ArrayLike,
    margin: float,
    *,
    printed: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""RectTop on a sample, with the margin loss: what Proposition 4 promises a bound by.

    .. math:: \mathrm{mean}_i\, \ell_\gamma(s_i - t) + \mathrm{mean}_j\, \ell_\gamma(t - s_j),
        \quad t = \max_j s_j, \quad \ell_\gamma(v) = [v < \gamma] + \tfrac12 [v = \gamma]

    over the positives i and the negatives j.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Binary labels.
    scores : array-like of shape (n_rows,)
        Finite numbers.
    margin : float
        gamma, above zero.
    printed : bool, default=False
        As the paper has it: the greatest value over all negatives in the place of t. It is never
        below one, because beside the lowest negative every negative loses.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows; both means are weighted.
    pos_label : label, optional
        The positive label, as in `toprank.metrics.auc`.

    Returns
    -------
    float
        Between 0 and 2.

    Examples
    --------
    >>> from toprank.theory import recttop_margin_risk
    >>> y, s = [1, 1, 1, 0, 0, 0, 0], [4.0, 3.0, 1.0, 1.5, 0.0, -1.0, -2.0]
    >>> round(recttop_margin_risk(y, s, 1.0), 4)  # a third of one class, a quarter of the other
    0.5833
    >>> recttop_margin_risk(y, s, 1.0, printed=True)
    1.0
    """
    check_above_zero(margin=margin)
    positive, values, weights, _ = check_rows(y_true, scores, sample_weight, pos_label)
    if not np.isfinite(values).all():
        raise ValueError("scores must be finite: a margin needs differences of scores.")
    mass = np.ones(len(values)) if weights is None else weights
    high, low = values[positive].astype(np.float64), values[~positive].astype(np.float64)
    p = mass[positive] / class_total(mass[positive].sum(), "positive", "recttop_margin_risk")
    q = mass[~positive] / class_total(mass[~positive].sum(), "negative", "recttop_margin_risk")
    levels = np.unique(low) if printed else np.array([low.max()])
    risks = [p @ _short(high - t, margin) + q @ _short(t - low, margin) for t in levels]
    return float(max(risks))


def recttop_failure(
    *,
    eps: float,
    n_positives: int,
    n_negatives: int,
    low_share: float,
    log_covering: float = 0.0,
) -> float:
    r"""How likely RectTop is eps above its margin risk on the sample: Proposition 4, mended.

    .. math:: P\Big(\exists f \in F:\ R(f; D) > \hat R_\gamma(f; S) + \epsilon\Big) \le
        N(F, \gamma/4) \Big(\rho^n + e^{-2 m \epsilon^2 / 9} + 2 e^{-2 n \epsilon^2 / 9}\Big)

    R is the balanced zero-one risk of f less its highest value on a negative there can be,
    `recttop_margin_risk` the other.

    Parameters
    ----------
    eps : float
        How far above the sample's margin risk is allowed.
    n_positives, n_negatives : int
        m and n.
    low_share : float
        rho, the share of the negatives that stand so low that they tell nothing of the highest:
        beside such a one, eps / 3 fewer of the positives are within gamma (gamma / 2 with a
        cover) of it or below. The largest such share over the cover. No sample tells it.
    log_covering : float, default=0.0
        log N(F, gamma / 4), as in `auc_margin_failure`.

    Returns
    -------
    float
        A bound of the probability, at most one.

    Examples
    --------
    >>> from toprank.theory import recttop_failure
    >>> known = dict(eps=0.2, n_positives=1000, n_negatives=10_000)
    >>> round(recttop_failure(**known, low_share=0.99), 4)
    0.0001
    >>> round(recttop_failure(**known, low_share=0.9999), 3)  # the highest are too rare
    0.368
    """
    check_above_zero(eps=eps)
    check_number("low_share", low_share, 0.0, 1.0)
    check_number("log_covering", log_covering, 0.0)
    check_count("n_positives", n_positives)
    check_count("n_negatives", n_negatives)
    rate = 2.0 * (eps / 3.0) ** 2
    one = low_share**n_negatives + exp(-rate * n_positives) + 2.0 * exp(-rate * n_negatives)
    return exp(min(0.0, log_covering + log(one))) if one > 0.0 else 0.0


def _short(v: Array, margin: float) -> Array:
    """l_gamma(v): one below the margin, one half at it."""
    return np.asarray((v < margin) + 0.5 * (v == margin))


def _pairs_worth(n_positives: int, n_negatives: int) -> float:
    """mn / (m + n), the number of independent pairs that all of them are worth."""
    m = check_count("n_positives", n_positives)
    n = check_count("n_negatives", n_negatives)
    return m * n / (m + n)


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


def pair_hinge_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""A bound of RankSVM's mean hinge over all pairs, from the rows one by one.

    .. math:: \mathrm{mean}_{ij} [1 - (s_i - s_j)]_+ \le
        \tfrac12 \mathrm{mean}_i [1 - 2 s_i]_+ + \tfrac12 \mathrm{mean}_j [1 + 2 s_j]_+

    The right side is the loss of WSVM at twice the scores. With the penalties, RankSVM's
    objective at w and alpha is at most that of WSVM at 2 w and alpha / 4, and so are their minima:
    that is Theorem 1, whose factor is 1/4 for objectives that are written with sums.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Binary labels.
    scores : array-like of shape (n_rows,)
        The scores; a constant added to them changes the bound, not the pairs.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows; a pair has the product of its rows'.
    pos_label : label, optional
        The positive label, as in `toprank.metrics.auc`.

    Returns
    -------
    float
        The bound, which is also one of 1 - AUC.

    Examples
    --------
    >>> from toprank.theory import pair_hinge_bound
    >>> pair_hinge_bound([1, 1, 0, 0], [0.75, 0.25, 0.125, -1.0])
    0.4375
    """
    positive, values, weights, _ = check_rows(y_true, scores, sample_weight, pos_label)
    mass = np.ones(len(values)) if weights is None else weights
    p = mass[positive] / class_total(mass[positive].sum(), "positive", "pair_hinge_bound")
    q = mass[~positive] / class_total(mass[~positive].sum(), "negative", "pair_hinge_bound")
    high, low = values[positive].astype(np.float64), values[~positive].astype(np.float64)
    lost = p @ np.maximum(1.0 - 2.0 * high, 0.0) + q @ np.maximum(1.0 + 2.0 * low, 0.0)
    return float(lost) / 2.0
