"""Makers of dense synthetic data."""

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..inputs.arguments import check_count, check_number
from ._checks import (
    RandomState,
    check_weights,
    count_positives,
    seed_sequence,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@overload
def make_gaussian_mixture(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    n_components: int = ...,
    positive_fraction: float = ...,
    separation: float = ...,
    sigma: float = ...,
    weights: Sequence[float] | FloatArray | None = ...,
    return_centers: Literal[False] = ...,
    random_state: RandomState = ...,
) -> tuple[FloatArray, IntArray]: ...


@overload
def make_gaussian_mixture(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    n_components: int = ...,
    positive_fraction: float = ...,
    separation: float = ...,
    sigma: float = ...,
    weights: Sequence[float] | FloatArray | None = ...,
    return_centers: Literal[True],
    random_state: RandomState = ...,
) -> tuple[FloatArray, IntArray, FloatArray]: ...


def make_gaussian_mixture(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    n_components: int = 1,
    positive_fraction: float = 0.5,
    separation: float = 1.0,
    sigma: float = 2.0,
    weights: Sequence[float] | FloatArray | None = None,
    return_centers: bool = False,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray] | tuple[FloatArray, IntArray, FloatArray]:
    r"""Draw each class from a mixture of Gaussians, the positives above the negatives.

    With K components a row of class :math:`c \in \{0, 1\}` has the density

    .. math::
        \sum_{k=1}^{K} \pi_k \, N(x \mid \mu_{ck}, \sigma^2 I),

    where the centres :math:`\mu_{1k}` are uniform in the cube :math:`[0, a]^d`, the centres
    :math:`\mu_{0k}` uniform in :math:`[-a, 0]^d`, and :math:`a` is the separation. More components
    and a larger sigma make ranking harder. ``separation=1`` with K = 1, 2, 3 and sigma = 2, 3, 4 is
    the experiment of the low cost bipartite ranking (LCBR) paper, which leaves :math:`\pi_k` open.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows of both classes together.
    n_features : int, default=10
        Columns, d.
    n_components : int, default=1
        Gaussians in each class, K.
    positive_fraction : float, default=0.5
        Share of positives; exactly ``round(positive_fraction * n_samples)`` rows are positive.
    separation : float, default=1.0
        Side a of the two cubes the centres are drawn from; 0 makes the classes alike.
    sigma : float, default=2.0
        Standard deviation of every component in every direction.
    weights : sequence of n_components floats, default=None
        Mixture weights of both classes, summing to 1; None makes them equal.
    return_centers : bool, default=False
        Return the centres as well: with them the likelihood ratio, the best score, is known.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the data the same in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows, in random order.
    y : ndarray of shape (n_samples,)
        1 for positives, 0 for negatives.
    centers : ndarray of shape (2, n_components, n_features)
        ``centers[c, k]`` is :math:`\mu_{ck}`. Only with ``return_centers=True``.

    Examples
    --------
    >>> from toprank.datasets import make_gaussian_mixture
    >>> X, y = make_gaussian_mixture(2000, n_components=3, sigma=4.0, random_state=0)
    >>> X.shape, int(y.sum())
    ((2000, 10), 1000)
    """
    n_samples = check_count("n_samples", n_samples, least=2)
    n_features = check_count("n_features", n_features)
    n_components = check_count("n_components", n_components)
    n_positive = count_positives(n_samples, positive_fraction)
    separation = check_number("separation", separation, 0)
    sigma = check_number("sigma", sigma, 0)
    shares = check_weights("weights", weights, n_components)

    rng = np.random.default_rng(seed_sequence(random_state))
    side = np.array([-separation, separation])[:, np.newaxis, np.newaxis]
    centers = side * rng.random((2, n_components, n_features))
    y = rng.permutation((np.arange(n_samples) < n_positive).astype(np.int64))
    component = rng.choice(n_components, size=n_samples, p=shares)
    X = rng.standard_normal((n_samples, n_features))
    X *= sigma
    X += centers[y, component]
    return (X, y, centers) if return_centers else (X, y)


@overload
def make_noisy_linear(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    flip: float = ...,
    positive_fraction: float = ...,
    return_coef: Literal[False] = ...,
    random_state: RandomState = ...,
) -> tuple[FloatArray, IntArray]: ...


@overload
def make_noisy_linear(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    flip: float = ...,
    positive_fraction: float = ...,
    return_coef: Literal[True],
    random_state: RandomState = ...,
) -> tuple[FloatArray, IntArray, FloatArray]: ...


def make_noisy_linear(
    n_samples: int = 1000,
    n_features: int = 20,
    *,
    flip: float = 0.1,
    positive_fraction: float = 0.5,
    return_coef: bool = False,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray] | tuple[FloatArray, IntArray, FloatArray]:
    r"""Draw Gaussian rows, label them by a linear score, then flip a share of the labels.

    Rows are :math:`x \sim N(0, I)`, the true weights w are uniform on the unit sphere. The
    ``round(positive_fraction * n_samples)`` rows with the highest score :math:`w \cdot x` become
    positive; then ``round(flip * n_samples)`` rows, chosen at random, get the other label. So with
    a share p of positives before the flips, about p (1 - flip) + (1 - p) flip of the rows end up
    positive.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows.
    n_features : int, default=20
        Columns.
    flip : float, default=0.1
        Share of the labels that are flipped, at most 0.5; 0 makes the classes linearly separable.
    positive_fraction : float, default=0.5
        Share of positives before the flips.
    return_coef : bool, default=False
        Return the true weights as well.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the data the same in every call; X and the weights do not depend on `flip`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,)
        1 for positives, 0 for negatives, after the flips.
    coef : ndarray of shape (n_features,)
        The true weights w, of length 1. Only with ``return_coef=True``.

    Examples
    --------
    >>> from sklearn.metrics import roc_auc_score
    >>> from toprank.datasets import make_noisy_linear
    >>> X, y, coef = make_noisy_linear(flip=0.0, return_coef=True, random_state=0)
    >>> float(roc_auc_score(y, X @ coef))
    1.0
    """
    n_samples = check_count("n_samples", n_samples, least=2)
    n_features = check_count("n_features", n_features)
    flip = check_number("flip", flip, 0, 0.5)
    n_positive = count_positives(n_samples, positive_fraction)

    rng = np.random.default_rng(seed_sequence(random_state))
    coef = rng.standard_normal(n_features)
    coef /= np.linalg.norm(coef)
    X = rng.standard_normal((n_samples, n_features))
    y = np.zeros(n_samples, dtype=np.int64)
    y[np.argsort(X @ coef)[n_samples - n_positive :]] = 1
    flipped = rng.permutation(n_samples)[: round(flip * n_samples)]
    y[flipped] = 1 - y[flipped]
    return (X, y, coef) if return_coef else (X, y)
