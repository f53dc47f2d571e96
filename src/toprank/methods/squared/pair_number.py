"""How many pairs to draw for the mean square loss; part of `toprank.theory`."""

from __future__ import annotations

from math import ceil, isfinite

from ...inputs.arguments import check_above_zero


def practical_pairs(relative_excess: float, n_features: float) -> int:
    r"""How many pairs come within a share of the least mean square loss, on average.

    The weights that are best on S independent pairs have a mean square loss above the least one
    by a share of about :math:`d / (S - d - 1)`, d the number of features of a pair: the law of
    least squares with Gaussian rows, which other rows follow closely. So

    .. math:: S = d / \epsilon + d + 1.

    It is a rule, not a guarantee, as `required_pairs` is, and asks for far fewer pairs.

    Parameters
    ----------
    relative_excess : float
        epsilon: 0.01 is one per cent above the least mean of (1 - w.psi)^2.
    n_features : float
        Features of a pair. With alpha > 0 `effective_dimension` may take their place, with the
        objective in the place of the loss.

    Returns
    -------
    int
        The number of pairs, rounded up.

    See Also
    --------
    required_pairs : A number that is proved to be enough.

    Examples
    --------
    >>> from toprank.theory import practical_pairs
    >>> practical_pairs(0.01, 20)
    2021
    """
    check_above_zero(relative_excess=relative_excess, n_features=n_features)
    pairs = n_features / relative_excess * (1.0 - 1e-12) + n_features + 1.0
    if not isfinite(pairs):
        raise ValueError(f"relative_excess={relative_excess!r} asks for too many pairs: raise it.")
    return ceil(pairs)
