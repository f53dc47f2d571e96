"""Pairs of rows: how many to draw, drawing them, and the moments of their features.

The moments are sums that merge, so that pairs may come in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import ceil, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from ...designs import DenseDesign, MemoryDesign
from ...designs.pairs import CHUNK, RandomPairs
from ...estimators.validation import canonical, check_compressed, check_entries, check_weights
from ...inputs.arguments import check_above_zero
from ...inputs.class_split import Split
from .moments import MOST_FEATURES, Moments, moments_by_group
from .risks import MomentRisk

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


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


#: Pairs that are drawn at a time, at the most; their rows and what it takes to draw them come to
#: about 100 MB.
AT_ONCE = 64 * CHUNK


def draw_pairs(
    split: Split, n_pairs: int, sampling: str, rng: np.random.Generator, at_once: int = AT_ONCE
) -> Iterator[tuple[Rows, Rows]]:
    """Positive and negative rows of pairs, each pair (i, j) with the probability p_i q_j.

    "uniform": one pair independently of the other. "matched": every row as often as its weight
    says, to within one, in random order. Blocks have `at_once` pairs or less.
    """
    if sampling == "uniform":
        yield from _uniform(split, n_pairs, rng, at_once)
        return
    above = _systematic(split.p, n_pairs, rng, at_once)
    below = _systematic(split.q, n_pairs, rng, at_once)
    for i, j in zip(above, below, strict=True):
        yield split.pos[i], split.neg[j]


def _uniform(
    split: Split, n: int, rng: np.random.Generator, at_once: int
) -> Iterator[tuple[Rows, Rows]]:
    draws = RandomPairs(split)
    for begin in range(0, n, at_once):
        drawn = list(draws.chunks(rng, min(at_once, n - begin), 1.0))
        yield np.concatenate([i for i, _ in drawn]), np.concatenate([j for _, j in drawn])


def _systematic(
    share: Array, n: int, rng: np.random.Generator, at_once: int
) -> Iterator[NDArray[np.intp]]:
    """Draw n places in random order, each n times its share often, to within one.

    The shares are laid end to end, in random order, and n points put down at equal distances,
    the first at random: every point falls on a place with the probability of its share. A block
    has every so many of the points, so that it spreads over all places.
    """
    order = rng.permutation(len(share))
    first, n_blocks = rng.random(), -(-n // at_once)
    ends = None if np.ptp(share) == 0.0 else np.cumsum(share[order])
    for block in range(n_blocks):
        points = np.arange(block, n, n_blocks) + first
        if ends is None:
            places = (points * len(share) / n).astype(np.int64)
        else:
            places = np.searchsorted(ends, points * (ends[-1] / n), side="right")
        drawn = order[np.minimum(places, len(share) - 1)]
        rng.shuffle(drawn)
        yield drawn


#: Psi(X1, X0), one row for each pair.
Features = Callable[[Any, Any], Any]

#: Pairs whose features are made at a time.
BLOCK = 4096


@dataclass(frozen=True)
class PairSums:
    """What is known of some pairs."""

    moments: Moments
    n_pairs: int
    #: The mean of the rows of the pairs, and of how many: pairs without rows have none.
    middle: Array
    n_from_rows: int = 0

    @classmethod
    def of_rows(
        cls, design: MemoryDesign, first: Rows, second: Rows, features: Features | None, width: int
    ) -> PairSums:
        """Of pairs of rows, by their differences or by their features."""
        n_pairs = len(first)
        if features is not None:
            moments = _of_features(features, design, first, second, width)
            return cls(moments, n_pairs, np.zeros(width))
        n_rows = design.shape[0]
        times = np.bincount(first, minlength=n_rows) + np.bincount(second, minlength=n_rows)
        rows = np.flatnonzero(times)
        middle = design.pull_back(times[rows] / (2.0 * n_pairs), rows)
        blocks = map(Moments.of_rows, design.pair_moments(first, second))
        return cls(reduce(Moments.merge, blocks), n_pairs, middle, n_pairs)

    @classmethod
    def of_pairs(cls, design: MemoryDesign, weight: Array | None) -> PairSums:
        """Of pairs whose features are the rows of a matrix."""
        n_pairs = design.shape[0] if weight is None else int(np.count_nonzero(weight))
        return cls(_of_matrix(design, weight), n_pairs, np.zeros(design.shape[1]))

    @property
    def width(self) -> int:
        """How many features a pair has."""
        return len(self.moments.mean)

    def risk(self) -> MomentRisk:
        """The mean of (1 - w.psi)^2 / 2 over the pairs."""
        moments = self.moments
        spread = np.sqrt(np.maximum(np.diag(moments.scatter), 0.0) / moments.weight)
        return MomentRisk(moments.without_rounding(spread), self.middle)

    def merge(self, other: PairSums) -> PairSums:
        """The sums over the pairs of both."""
        n = self.n_from_rows + other.n_from_rows
        middle = self.middle + other.n_from_rows / max(n, 1) * (other.middle - self.middle)
        return PairSums(self.moments.merge(other.moments), self.n_pairs + other.n_pairs, middle, n)


def check_square(width: int) -> int:
    """Refuse more features of a pair than their square leaves room for."""
    if width > MOST_FEATURES:
        raise ValueError(
            f"A pair has {width} features: LCBR keeps a square of them, which is beyond it from "
            f"{MOST_FEATURES} on. Use fewer features, or RankSVM, which needs no square."
        )
    return width


def _of_features(
    features: Features, design: MemoryDesign, first: Rows, second: Rows, width: int
) -> Moments:
    """The moments of Psi over the pairs, which are handed to it in blocks."""
    found = Moments.none(width)
    for begin in range(0, len(first), BLOCK):
        block = slice(begin, begin + BLOCK)
        above, below = design.X[first[block]], design.X[second[block]]
        psi = pair_features(features, above, below, width, design.n_threads)
        found = found.merge(_of_matrix(psi))
    return found


def _of_matrix(design: MemoryDesign, weight: Array | None = None) -> Moments:
    """The moments of the rows of a matrix, which are the features of pairs."""
    group = np.zeros(design.shape[0], dtype=np.int32)
    return moments_by_group(design, group, 1, weight)[0]


def pair_features(
    features: Features,
    above: Any,
    below: Any,
    width: int | None = None,
    n_threads: int | None = None,
) -> MemoryDesign:
    """psi of some pairs: a finite matrix with one row for each pair, as wide as before."""
    psi = features(above, below)
    if not sparse.issparse(psi):
        try:
            psi = np.asarray(psi)
        except ValueError as error:
            raise ValueError(f"features must return a matrix of numbers: {error}.") from error
    if psi.ndim != 2 or psi.shape[0] != above.shape[0] or psi.shape[1] < 1:
        raise ValueError(
            f"features returned an array of shape {psi.shape} for {above.shape[0]} pairs: it must "
            "return two dimensions, one row for each pair and at least one column."
        )
    if psi.dtype.kind not in "biuf":
        raise ValueError(f"features returned {psi.dtype} entries: it must return real numbers.")
    if width is not None and psi.shape[1] != width:
        raise ValueError(
            f"features returned {psi.shape[1]} columns after {width}: every call must return the "
            "same number of columns."
        )
    return _checked(psi, "features(X1, X0)", n_threads)


def check_pairs(
    Psi: ArrayLike, sample_weight: ArrayLike | None, width: int | None, n_threads: int | None
) -> tuple[MemoryDesign, Array | None]:
    """The design of given features of pairs, and the weights of the pairs."""
    if sparse.issparse(Psi):
        check_compressed(Psi, "Psi")
    psi = check_array(
        Psi,
        accept_sparse=True,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        input_name="Psi",
    )
    check_square(psi.shape[1])
    if width is not None and psi.shape[1] != width:
        raise ValueError(
            f"Psi has {psi.shape[1]} columns, but the ranker has {width} features of a pair."
        )
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, psi.shape[0], of="Psi", summed=True)
        if not weight.any():
            raise ValueError("All of sample_weight is zero: at least one pair must have a weight.")
    return _checked(psi, "Psi", n_threads), weight


def _checked(psi: Any, of: str, n_threads: int | None) -> MemoryDesign:
    """The design of a matrix of finite numbers that leads nowhere outside itself."""
    if sparse.issparse(psi):
        check_compressed(psi, of)
        psi = psi.tocsr()
    if psi.dtype not in (np.float32, np.float64):
        psi = psi.astype(np.float64)
    if sparse.issparse(psi):
        return canonical(psi, None, n_threads, of)
    design = DenseDesign(psi, n_threads)
    check_entries(None, design, of)
    return design
