"""LCBR: the squared loss on a sample of pairs, with any features of a pair.

Problem  min over w   alpha/2 |w|^2 + mean over the pairs of (1 - w.psi)^2 / 2,   |w| <= radius
         psi = x_i - x_j, or Psi(x_i, x_j); i a positive row, j a negative one
Paper    Risk Bounds for Low Cost Bipartite Ranking, arXiv:1912.00537: Algorithm 2
Symbols  S -> n_pairs;  Sigma_S, mu_S -> second and first moments of the pairs;  W_* -> radius;
         D -> n_features
Differs  alpha beside the ball, which the paper has alone; pairs drawn so that every row comes up
         equally often ("matched"; the paper's draws are "uniform"), which spreads less and which
         the paper's bounds do not cover; weights of rows; pairs without rows, and streams of them.
         With psi = x_i - x_j all pairs cost no more than all rows, by BBR: use that.
"""

from __future__ import annotations

from functools import reduce
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ...designs import MemoryDesign
from ...estimators.ranker import Learnt, fitting
from ...estimators.validation import LabelledRows, check_matrix
from ...inputs.class_split import Split
from ...solvers.watch import Watch
from .pair_ranker import PairRanker
from .pairs import (
    BLOCK,
    Features,
    PairSums,
    check_square,
    draw_pairs,
    pair_features,
    practical_pairs,
)

Array = NDArray[np.float64]

#: What `n_pairs="auto"` allows above the least mean square loss.
RELATIVE_EXCESS = 0.01
#: More pairs than this are refused.
MOST_PAIRS = 10**12


class LCBR(PairRanker):
    r"""Rank by the squared loss on a sample of pairs, whatever the features of a pair are.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \mathrm{mean}_{(i,j)}\,\frac12(1 - w\cdot
    \psi_{ij})^2` over :math:`\|w\|` up to `radius`, the mean over pairs that are drawn at random,
    or given. By default :math:`\psi_{ij} = x_i - x_j`. Then BBR, which has all pairs in about the
    time that LCBR needs for as many pairs as there are rows, is the better choice.

    Parameters
    ----------
    alpha : float or None, default=None
        Strength of the regularisation; 0 is none, and gives the shortest of the solutions. None
        is 1e-3, or 0 where a radius is given.
    radius : float or None, default=None
        The ball that w must lie in, W of the paper. None is no ball.
    n_pairs : int or "auto", default="auto"
        Pairs that `fit` draws, and that `partial_fit` draws from a block. "auto": for `fit` as
        many as bring the mean square loss within 1% of the least, on average, by the rule
        `toprank.theory.practical_pairs`; for a block as many as it has rows. Pairs are drawn a
        million at a time: however many they are, they take up 100 MB at the most, beside the
        square matrix of their features.
    sampling : {"matched", "uniform"}, default="matched"
        "uniform" draws the pairs independently, with replacement. "matched" draws every row
        equally often, to within one, and matches positives with negatives at random.
    features : callable, optional
        Psi(X1, X0): the features of pairs, a row for each, from their positive rows and their
        negative ones. It is called with blocks of rows, sparse ones if X is sparse, and returns a
        dense or sparse matrix, of the same width each time. They should change sign when the rows
        change places: a feature that does not tells nothing about which row comes first. Without
        it they are X1 - X0. With it only pairs have a score: `compare` takes the place of
        `decision_function` and `predict`.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the draws; pass an int for the same result every time.
    verbose : int, default=0
        Print a row of `history_` as it comes if above zero.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one, and the fit says so with a
        `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_pair_features)
        The weights w of the features of a pair.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: halfway between the mean
        scores of the positives and of the negatives of the pairs drawn. Zero where no row was seen,
        or where `features` is given.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class. 0 and 1 where only pairs were seen.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap` of the problem on the pairs drawn.
    multiplier_ : float
        What the ball adds to alpha: 0 where it does not bind.
    kkt_ : float
        What is left of the gradient of the Lagrangian,
        ``|S w - u + (alpha + multiplier_) w| / |u|``.
    trivial_ : bool
        Whether w = 0 is optimal: whether the features have a mean of zero.
    n_iter_ : int
        Decompositions it took: 1, or 0 where the optimum is trivial.
    solver_ : str
        The algorithm that finished the fit: "moments".
    history_ : structured ndarray
        One row for each check of the gap: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_pairs_ : int
        Pairs seen since the last `fit`.
    n_features_in_ : int
        Features of a row; of a pair where only pairs were seen.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    BBR : All pairs of rows, exactly, for the price of one pass over them.
    toprank.theory.practical_pairs : How many pairs come how near.
    toprank.theory.required_pairs : How many are proved to be enough.

    References
    ----------
    Risk Bounds for Low Cost Bipartite Ranking, arXiv:1912.00537.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from toprank import LCBR
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = LCBR(random_state=0).fit(X, y)
    >>> ranker.n_pairs_, round(ranker.score(X, y), 2)
    (5758, 0.96)

    Features that are no difference of something; what is learnt compares rows:

    >>> def bounded(X1, X0):
    ...     return np.tanh(X1 - X0)
    >>> ranker = LCBR(features=bounded, random_state=0).fit(X, y)
    >>> bool(ranker.compare(X[y == 1][:50], X[y == 0][:50]).mean() > 0.5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairRanker._parameter_constraints,
        "n_pairs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "sampling": [StrOptions({"matched", "uniform"})],
        "features": [None, callable],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha: float | None = None,
        radius: float | None = None,
        *,
        n_pairs: int | str = "auto",
        sampling: str = "matched",
        features: Features | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.radius = radius
        self.n_pairs = n_pairs
        self.sampling = sampling
        self.features = features
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _check(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> LabelledRows:
        self._check_number()
        self._restart()
        return super()._check(X, y, sample_weight)

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        rng, width = np.random.default_rng(self._seed()), self._width(rows.design, rows.split)
        n_pairs = practical_pairs(RELATIVE_EXCESS, width) if self.n_pairs == "auto" else None
        self._add(self._draw(rows, n_pairs or int(self.n_pairs), width, rng))
        return self._solved(self._sums.risk(), watch)

    @fitting
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Draw pairs from a block of rows; the problem is solved when the score is next used.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the block.
        y : array-like of shape (n_samples,)
            Their labels. A block that lacks a class has no pairs, and adds nothing.
        classes : array-like of shape (2,), optional
            The two labels there are; needed at the first call, and may be left out after it.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is drawn as often as two rows, one of weight 0 never.

        Returns
        -------
        self
            The ranker as it is after the block.
        """
        self._check_number()
        seed, before = self._seed(), self._kept_sums()
        # A call that failed may have left the width of its rows; classes are set last.
        new = before is None and "classes_" not in self.__dict__
        new = new or "n_features_in_" not in self.__dict__
        rows = self._check_block(X, y, classes, sample_weight, first=new)
        split = rows.split
        if not (len(split.pos) and len(split.neg)):
            if before is None:
                self._forget_solution()
            return self
        n_pairs = len(split.pos) + len(split.neg) if self.n_pairs == "auto" else int(self.n_pairs)
        # Blocks must not repeat each other's draws, wherever the seed comes from.
        rng = np.random.default_rng([seed, 0 if before is None else before.n_pairs])
        width = self._width(rows.design, split) if before is None else before.width
        return self._add(self._draw(rows, n_pairs, width, rng))

    def _draw(
        self, rows: LabelledRows, n_pairs: int, width: int, rng: np.random.Generator
    ) -> PairSums:
        """The sums over pairs that are drawn, block by block."""
        blocks = draw_pairs(rows.split, n_pairs, self.sampling, rng)
        sums = (PairSums.of_rows(rows.design, *pair, self.features, width) for pair in blocks)
        return reduce(PairSums.merge, sums)

    def _check_number(self) -> None:
        """Refuse more pairs than anyone would wait for."""
        if self.n_pairs != "auto" and int(self.n_pairs) > MOST_PAIRS:
            raise ValueError(
                f"n_pairs={self.n_pairs} is too many: more than {MOST_PAIRS:g} pairs would take "
                "days to draw. Lower n_pairs, or use BBR, which learns from all pairs of rows at "
                "the price of one pass over the rows."
            )

    def _check_fitted(self) -> None:
        if self.features is not None:
            raise AttributeError(
                "LCBR with features= has no score of a single row, and so no decision_function, "
                "predict, rank or score: use compare(X1, X0), which is above zero where a row of "
                "X1 goes before that of X0."
            )
        super()._check_fitted()

    def compare(self, X1: ArrayLike, X0: ArrayLike) -> Array:
        """Compare rows with rows: w.psi, above zero where the first goes before the second.

        Parameters
        ----------
        X1 : array-like or sparse matrix of shape (n_pairs, n_features)
            The first row of each pair.
        X0 : array-like or sparse matrix of shape (n_pairs, n_features)
            The second row of each pair.

        Returns
        -------
        ndarray of shape (n_pairs,)
            w.psi of each pair; one is what the loss asks for where the first is positive and the
            second negative.
        """
        check_is_fitted(self, "coef_")
        above = check_matrix(self, X1, reset=False, n_threads=self.n_threads)
        below = check_matrix(self, X0, reset=False, n_threads=self.n_threads)
        if above.shape[0] != below.shape[0]:
            raise ValueError(
                f"X1 has {above.shape[0]} rows, X0 {below.shape[0]}: each pair needs one of both."
            )
        w = self.coef_[0]
        if self.features is None:
            return np.asarray(above.scores(w) - below.scores(w))
        found = []
        for begin in range(0, above.shape[0], BLOCK):
            block = slice(begin, begin + BLOCK)
            # Copies, as in `fit`: it may write into what it is given.
            rows = above.X[block].copy(), below.X[block].copy()
            psi = pair_features(self.features, *rows, len(w))
            found.append(psi.scores(w))
        return np.concatenate(found)

    def _width(self, design: MemoryDesign, split: Split) -> int:
        """How many features a pair has: what `features` returns for one tells."""
        if self.features is None:
            return check_square(design.shape[1])
        above, below = design.X[split.pos[:1]], design.X[split.neg[:1]]
        return check_square(pair_features(self.features, above, below).shape[1])
