"""Bounds for the pairwise square loss on a sample of pairs (LCBR), or of rows (BBR).

N pairs have the average second moment Sigma and the average mu of their features psi, S of them,
drawn independently with replacement, Sigma_S and mu_S. With R(w) = w'Sigma w / 2 - mu'w, and w_S
and w_N the best weights of length W at most for the sample and for all pairs,

    R(w_S) - R(w_N) <= W^2 |Sigma_S - Sigma| + 2 W |mu_S - mu|.

The two terms are bounded by Bernstein's inequality for matrices and by McDiarmid's. The paper is
Risk Bounds for Low Cost Bipartite Ranking, arXiv:1912.00537; `printed=True` is what it prints.

For rows: R is the expectation of the pairwise square loss (1 - w.(x - x'))^2 / 2, R_N its average
over the pairs of N independent rows, rho of them positive. With rows no longer than X and weights
no longer than W, a net of weights and McDiarmid's inequality bound the greatest difference:

    P(sup |R - R_N| >= t) <= 2 (1 + 4 C W / t)^d exp(-t^2 rho (1 - rho) N / (2 c^2)),
    C = 8 X^2 W + 4 X,  c = 2 X^2 W^2 + 2 X W.
"""

from __future__ import annotations

from math import ceil, exp, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..inputs.arguments import check_above_zero, check_count, check_number, check_share

#: Shares of eps that `required_pairs` tries for the first moment.
_SPLITS = np.arange(1, 1000) / 1000.0


def second_moment_tail(
    *,
    eps: float,
    n_pairs: int,
    n_features: int,
    radius: float,
    pair_bound: float,
    spectral_norm: float | None = None,
    printed: bool = False,
) -> float:
    r"""How likely the second moments of drawn pairs are off by eps: Lemma 2(i).

    .. math:: P\Big(\sup_{|w| \le W} |w'(\Sigma_S - \Sigma)w| \ge \epsilon\Big) \le 2 d
        \exp\frac{-S \epsilon^2}{2 B^2 W^4 |\Sigma| + \frac23 B^2 W^2 \epsilon}

    Parameters
    ----------
    eps : float
        The deviation.
    n_pairs : int
        S, pairs drawn independently.
    n_features : int
        d, features of a pair.
    radius : float
        W, the greatest length of w.
    pair_bound : float
        B, the greatest length of psi; twice that of a row where psi is a difference of rows.
    spectral_norm : float, optional
        The greatest eigenvalue of Sigma; B^2, which it never exceeds, if it is not given.
    printed : bool, default=False
        As the paper has it, with 4/3 in the place of 2/3: true as well, and weaker.

    Returns
    -------
    float
        A bound of the probability, at most one.

    Examples
    --------
    >>> from toprank.theory import second_moment_tail
    >>> known = dict(eps=0.5, n_pairs=2000, n_features=10, radius=1.0, pair_bound=2.0)
    >>> round(second_moment_tail(**known), 6), round(second_moment_tail(**known, printed=True), 6)
    (6e-06, 1.1e-05)
    """
    check_count("n_pairs", n_pairs)
    check_count("n_features", n_features)
    check_above_zero(eps=eps, radius=radius, pair_bound=pair_bound)
    norm = _spectral_norm(spectral_norm, pair_bound)
    constant = 4.0 / 3.0 if printed else 2.0 / 3.0
    reach = (pair_bound * radius) ** 2
    spread = 2.0 * reach * radius**2 * norm + constant * reach * eps
    return min(1.0, 2.0 * n_features * exp(-n_pairs * eps**2 / spread))


def first_moment_tail(
    *,
    eps: float,
    n_pairs: int,
    radius: float,
    pair_bound: float,
    variance: float | None = None,
    printed: bool = False,
) -> float:
    r"""How likely the mean of drawn pairs is off by eps: Lemma 2(ii).

    .. math:: P\Big(\sup_{|u|,|w| \le W} |(u - w)'(\mu_S - \mu)| \ge \epsilon\Big) \le
        \exp\Big(-\tfrac12 \Big[\frac{\sqrt S \epsilon}{2 B W} - \frac{\sqrt v}{B}\Big]_+^2\Big)

    Parameters
    ----------
    eps : float
        The deviation.
    n_pairs : int
        S, pairs drawn independently.
    radius : float
        W, the greatest length of u and w.
    pair_bound : float
        B, the greatest length of psi; twice that of a row where psi is a difference of rows.
    variance : float, optional
        ``v = tr Sigma - |mu|^2``; B^2, which it never exceeds, if it is not given.
    printed : bool, default=False
        As the paper has it: 2 exp(-[sqrt(S) eps / (B W) - 1]^2 / 2). It is wrong, for the supremum
        is ``2 W |mu_S - mu|``, not half of that; the example is one where the exact probability is
        3.6 times what is printed.

    Returns
    -------
    float
        A bound of the probability, at most one.

    Examples
    --------
    Rows of one feature, 1 or -1 with equal chances in both classes. The sum of a hundred pairs is
    binomial, which makes the probability known:

    >>> from scipy.stats import binom
    >>> from toprank.theory import first_moment_tail
    >>> known = dict(eps=1.2, n_pairs=100, radius=1.0, pair_bound=2.0)
    >>> print(f"{2 * binom.cdf(70, 200, 0.5):.3g}")
    2.65e-05
    >>> print(f"{first_moment_tail(**known):.3g}, {first_moment_tail(**known, printed=True):.3g}")
    0.135, 7.45e-06
    """
    check_count("n_pairs", n_pairs)
    check_above_zero(eps=eps, radius=radius, pair_bound=pair_bound)
    v = _variance(variance, pair_bound)
    if printed:
        beyond = sqrt(n_pairs) * eps / (pair_bound * radius) - 1.0
        return min(1.0, 2.0 * exp(-0.5 * max(beyond, 0.0) ** 2))
    beyond = sqrt(n_pairs) * eps / (2.0 * pair_bound * radius) - sqrt(v) / pair_bound
    return exp(-0.5 * max(beyond, 0.0) ** 2)


def required_pairs(
    *,
    eps: float,
    delta: float,
    n_features: int,
    radius: float,
    pair_bound: float,
    spectral_norm: float | None = None,
    variance: float | None = None,
    split: float | None = None,
    printed: bool = False,
) -> int:
    r"""How many independent pairs are proved to be enough: Theorem 2, mended.

    With probability 1 - delta at least, :math:`R(w_S) - R(w_N) \le \epsilon`. A share s of
    epsilon goes to the mean, the rest, with :math:`g = (1 - s) \epsilon / W^2`, to the second
    moments:

    .. math:: S \ge 2 \log\frac{4d}{\delta}\, \frac{B^2 (|\Sigma| + g/3)}{g^2}, \qquad
        S \ge \Big(\frac{2 W}{s \epsilon}\Big)^2 \Big(\sqrt v + B \sqrt{2 \log(2 / \delta)}\Big)^2

    Parameters
    ----------
    eps : float
        How far above the least R(w) is allowed; R is half the mean square loss, less 1/2.
    delta : float
        How likely it may be to end above that.
    n_features : int
        d, features of a pair.
    radius : float
        W, the greatest length of w.
    pair_bound : float
        B, the greatest length of psi; twice that of a row where psi is a difference of rows.
    spectral_norm : float, optional
        The greatest eigenvalue of Sigma; B^2, which it never exceeds, if it is not given.
    variance : float, optional
        ``v = tr Sigma - |mu|^2``; B^2, which it never exceeds, if it is not given.
    split : float, optional
        s; if it is not given, the one that asks for the fewest pairs, in steps of 1/1000.
    printed : bool, default=False
        Equation (11) of the paper, whose proof rests on the false Lemma 2(ii) and on a slip of a
        factor 4 after it. The statement is not known to be false. It has no `variance` or `split`.

    Returns
    -------
    int
        S, rounded up.

    See Also
    --------
    practical_pairs : A rule that comes near what happens, and asks for far fewer.

    Examples
    --------
    >>> from toprank.theory import required_pairs
    >>> known = dict(eps=0.1, delta=0.05, n_features=10, radius=1.0, pair_bound=2.0)
    >>> required_pairs(**known, spectral_norm=0.4)
    38194
    >>> required_pairs(**known, spectral_norm=0.4, split=0.5)
    88386
    """
    check_count("n_features", n_features)
    check_share(delta=delta)
    check_above_zero(eps=eps, radius=radius, pair_bound=pair_bound)
    norm, v = _spectral_norm(spectral_norm, pair_bound), _variance(variance, pair_bound)
    if split is not None:
        check_share(split=split)
    logarithm = log(4.0 * n_features) - log(delta)
    if printed:
        reach = (pair_bound * radius / 2.0) ** 2  # X W, squared
        matrix = logarithm * 32.0 * reach * (norm * radius**2 / eps + 1.0 / 3.0) / eps
        mean = 4.0 * reach / eps / eps * (sqrt(2.0 * (log(4.0) - log(delta))) + 1.0) ** 2
        return _whole(max(matrix, mean))
    s = _SPLITS if split is None else np.array([split])
    length = sqrt(v) + pair_bound * sqrt(2.0 * (log(2.0) - log(delta)))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        g = (1.0 - s) * eps / radius**2
        for_matrix = 2.0 * logarithm * pair_bound**2 * (norm / g + 1.0 / 3.0) / g
        for_mean = (2.0 * radius * length / (s * eps)) ** 2
    return _whole(float(np.maximum(for_matrix, for_mean).min()))


def _whole(pairs: float) -> int:
    """A number of pairs, rounded up."""
    if not np.isfinite(pairs):
        raise ValueError("So many pairs are no number: raise eps or delta.")
    return max(1, ceil(pairs))


def effective_dimension(second_moment: ArrayLike, alpha: float) -> float:
    r"""How many features a ridge leaves: the trace of :math:`\Sigma (\Sigma + \alpha I)^{-1}`.

    Parameters
    ----------
    second_moment : array-like of shape (n_features, n_features)
        Sigma, the average of psi psi'.
    alpha : float
        Strength of the regularisation; at zero the answer is the rank.

    Returns
    -------
    float
        Between zero and the number of features; `practical_pairs` takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.theory import effective_dimension
    >>> round(effective_dimension(np.diag([3.0, 1.0, 0.0]), alpha=1.0), 6)
    1.25
    """
    check_number("alpha", alpha, 0.0)
    sigma = np.asarray(second_moment, dtype=np.float64)
    if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1] or not np.isfinite(sigma).all():
        raise ValueError(
            f"second_moment must be a square matrix of finite numbers, got shape {sigma.shape}."
        )
    theta = np.linalg.eigvalsh(sigma)
    theta = theta[theta > len(theta) * np.finfo(np.float64).eps * max(theta[-1], 0.0)]
    return float(np.sum(theta / (theta + alpha)))


def _spectral_norm(spectral_norm: float | None, pair_bound: float) -> float:
    if spectral_norm is None:
        return float(pair_bound) ** 2
    return check_number("spectral_norm", spectral_norm, 0.0)


def _variance(variance: float | None, pair_bound: float) -> float:
    if variance is None:
        return float(pair_bound) ** 2
    return check_number("variance", variance, 0.0)


def generalisation_failure(
    *,
    eps: float,
    n_samples: int,
    positive_share: float,
    n_features: int,
    radius: float,
    row_bound: float,
    pair_failure: float | None = None,
) -> float:
    r"""How likely the learnt weights are eps worse than the best: Theorems 1 and 3, mended.

    For all pairs (BBR), with k = 2, and for a sample of pairs (LCBR), with k = 3 and p more,

    .. math:: P(R(w) - R(w^*) \ge \epsilon) \le p + 2 \Big(1 + \frac{4 k C W}{\epsilon}\Big)^d
        \exp\frac{-\epsilon^2 \rho (1 - \rho) N}{2 k^2 c^2}

    Parameters
    ----------
    eps : float
        How far above the least risk, half the expected square loss, is allowed.
    n_samples : int
        N, rows of both classes.
    positive_share : float
        rho, the share of them that is positive.
    n_features : int
        d, features of a row; a pair is the difference of two.
    radius : float
        W, the greatest length of w.
    row_bound : float
        X, the greatest length of a row.
    pair_failure : float, optional
        p, for LCBR with `required_pairs(eps=eps / 3, delta=p, pair_bound=2 * row_bound, ...)`
        pairs. Without it the bound is that of BBR.

    Returns
    -------
    float
        A bound of the probability, at most one.

    Examples
    --------
    >>> from toprank.theory import generalisation_failure
    >>> known = dict(eps=0.5, positive_share=0.5, n_features=3, radius=1.0, row_bound=1.0)
    >>> round(generalisation_failure(**known, n_samples=40_000), 4)
    0.0474
    >>> round(generalisation_failure(**known, n_samples=120_000, pair_failure=0.01), 4)
    0.0102
    """
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    check_share(positive_share=positive_share)
    parts, p = _parts(pair_failure)
    net, rate = _net_and_rate(eps, positive_share, n_features, radius, row_bound, parts)
    return min(1.0, p + exp(min(0.0, net - rate * n_samples)))


def required_samples(
    *,
    eps: float,
    delta: float,
    positive_share: float,
    n_features: int,
    radius: float,
    row_bound: float,
    pair_failure: float | None = None,
) -> int:
    """How many rows are proved to be enough: `generalisation_failure` at most delta.

    Parameters
    ----------
    eps : float
        How far above the least risk, half the expected square loss, is allowed.
    delta : float
        How likely it may be to end above that.
    positive_share : float
        rho, the share of the rows that is positive.
    n_features : int
        d, features of a row; a pair is the difference of two.
    radius : float
        W, the greatest length of w.
    row_bound : float
        X, the greatest length of a row.
    pair_failure : float, optional
        p, below delta, for LCBR with `required_pairs(eps=eps / 3, delta=p,
        pair_bound=2 * row_bound, ...)` pairs. Without it the answer is that of BBR.

    Returns
    -------
    int
        N, rounded up.

    Examples
    --------
    >>> from toprank.theory import required_samples
    >>> known = dict(eps=0.5, delta=0.05, n_features=3, radius=1.0, row_bound=1.0)
    >>> required_samples(**known, positive_share=0.5)
    39889
    >>> required_samples(**known, positive_share=0.05)
    209942
    """
    check_count("n_features", n_features)
    check_share(delta=delta, positive_share=positive_share)
    parts, p = _parts(pair_failure)
    if p >= delta:
        raise ValueError(f"pair_failure must be below delta={delta:g}, got {pair_failure!r}.")
    net, rate = _net_and_rate(eps, positive_share, n_features, radius, row_bound, parts)
    return max(1, ceil((net - log(delta - p)) / rate))


def _parts(pair_failure: float | None) -> tuple[int, float]:
    """Into how many parts eps is split, and what drawn pairs add to the probability."""
    if pair_failure is None:
        return 2, 0.0
    check_share(pair_failure=pair_failure)
    return 3, float(pair_failure)


def _net_and_rate(
    eps: float, share: float, n_features: int, radius: float, row_bound: float, parts: int
) -> tuple[float, float]:
    """log(2 (1 + 4 C W / t)^d) and t^2 rho (1 - rho) / (2 c^2) at t = eps / parts."""
    check_above_zero(eps=eps, radius=radius, row_bound=row_bound)
    t, reach = eps / parts, row_bound * radius
    steepness = 8.0 * row_bound**2 * radius + 4.0 * row_bound
    change = 2.0 * reach**2 + 2.0 * reach
    net = log(2.0) + n_features * log(1.0 + 4.0 * steepness * radius / t)
    return net, t**2 * share * (1.0 - share) / (2.0 * change**2)
