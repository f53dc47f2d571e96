r"""How far a sample of rows can lead astray: BBR and LCBR beside the best weights there are.

R is the expectation of the pairwise square loss (1 - w.(x - x'))^2 / 2, R_N its average over the
pairs of N independent rows, rho of them positive. With rows no longer than X and weights no longer
than W, a net of weights and McDiarmid's inequality bound the greatest difference of the two:

    P(sup |R - R_N| >= t) <= 2 (1 + 4 C W / t)^d exp(-t^2 rho (1 - rho) N / (2 c^2)),
    C = 8 X^2 W + 4 X,  c = 2 X^2 W^2 + 2 X W.
"""

from __future__ import annotations

from math import ceil, exp, log

from ..inputs.arguments import check_above_zero, check_count, check_share


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
