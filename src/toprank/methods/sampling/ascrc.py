"""ASCRC: combined ranking and classification, on pairs and points drawn by active sampling.

Problem  min over w   alpha/2 |w|^2 + gamma mean_{i,j} [1 - w.(x_i - x_j)]_+
                                    + (1 - gamma) mean_k [1 - y_k w.x_k]_+
         on B of these pairs and points: see `base`, where the algorithm is
Paper    W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear
         Bipartite Ranking, ACML 2013: (5) and 3.4
Differs  a point is a pair with the zero vector; gamma counts once, in the sampling, and not also
         in the weights, unless they are those of the paper
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ...estimators.old_parameters import renamed_parameters
from ...inputs.class_split import Split
from .base import ActiveSamplingRanker


@renamed_parameters(budget="n_pairs")
class ASCRC(ActiveSamplingRanker):
    r"""Rank by a support vector machine on few pairs and points, drawn where the score is wrong.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \sum_q c_q [1 - w\cdot z_q]_+` over linear scores
    :math:`w\cdot x`, where :math:`z_q` is the difference of a positive row and a negative one or,
    for a pseudo-pair, one row alone: :math:`x_i` of a positive, :math:`-x_j` of a negative. They
    are drawn in rounds, at the weights of the round before. What the soft strategies' rounds cost
    depends on the number of pairs, hardly on that of rows; all rows are read a few times in all.

    Parameters
    ----------
    alpha : float, default=1/800
        Strength of the regularisation. The paper's C is 1 / (alpha n_pairs): 0.1 by default.
    gamma : float or "uniform", default=0.5
        The probability that a proposed pair is a real one: 1 is ASRankSVM, 0 learns from single
        rows only. "uniform" makes all m n pairs and m + n points alike: m n / (m n + m + n). The
        hard strategies take gamma of every round as real pairs. Once all of one kind are drawn,
        the other is all there is.
    n_pairs : int, default=8000
        Pairs that are drawn, B, of both kinds. If there are no more than that, all are taken in
        the end.
    batch_size : int, default=100
        Pairs per round, b. The first b are drawn at random.
    strategy : str, default="soft-correct"
        How pairs are drawn, by their margin d = w.z. "random": all alike. "soft-close" and
        "soft-correct": with a probability proportional to 2 / (1 + exp(\|d\|)), or to
        tanh([1 - d]_+ / 2). "hard-close" and "hard-correct": those with the smallest \|d\|, or the
        smallest d; these score every row in every round. The two that go by correctness take only
        pairs with a loss, d < 1.
    weighting : {"rate", "paper", "plain", "none"}, default="rate"
        What c_q is proportional to, p being the probability of the strategy above: a_t / p, a_t
        the mean p of the round, with p no less than 0.01; Gamma / p, Gamma being gamma for real
        pairs and 1 - gamma for points, divided by the sum of 1 / p as printed ("paper") or by
        their own sum ("plain"); or 1, all pairs alike.
    tol : float, default=1e-3
        The relative duality gap to stop at, in the last round.
    max_iter : int, default=1000
        The most epochs of the last round.
    n_threads : int, optional
        Threads for scoring all rows; without it OMP_NUM_THREADS, else one per core. The result does
        not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the draws; pass an int for the same result every time.
    verbose : int, default=0
        Print a row of `rounds_` as it comes if above zero.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one, and the fit says so with a
        `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: set so that the share of
        training rows above it is that of the positives.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    certificate_ : Certificate
        `primal`, `dual`, `gap` and `relative_gap` of the problem on the chosen pairs, computed
        afresh from the weights and the dual vector.
    pairs_ : ndarray of shape (n_pairs_, 2)
        The positive and the negative row of every pair, in the order they were drawn; -1 where a
        pseudo-pair has none.
    pair_weight_ : ndarray of shape (n_pairs_,)
        c_q. They sum to one or, if it stopped early, to n_pairs_ over n_pairs or, where that is
        less, over the number of pairs and points there are; to less with "paper".
    n_pairs_ : int
        Pairs that were drawn.
    stopped_early_ : bool
        Whether fewer pairs were drawn because no other has a loss at `coef_`, which is then the
        optimum, within the certificate, whatever weights the others had been given.
    trivial_ : bool
        Whether w = 0 is optimal for the pairs that were drawn, within the certificate.
    n_iter_ : int
        Rounds.
    solver_ : str
        The algorithm that finished the fit: "pair-descent", or "interior-point" where descent
        crawled.
    rounds_ : structured ndarray
        One row for each round: n_pairs so far, proposals (pairs looked at), their mean acceptance,
        seconds so far, auc of `eval_set` or NaN.
    history_ : structured ndarray
        One row for each round: iteration, passes over the data, seconds, primal, dual,
        relative_gap; the bounds are known of the last.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    ASRankSVM : Real pairs only.

    Notes
    -----
    Points know no intercept: their loss draws the line at w.x = 0. Centre the features, or add a
    column of ones, where that line cannot pass between the classes.

    References
    ----------
    W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs and Points for Large-scale Linear Bipartite
    Ranking, Asian Conference on Machine Learning, 2013.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from toprank import ASCRC
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = ASCRC(gamma=0.5, n_pairs=2000, random_state=0).fit(X, y)
    >>> ranker.score(X, y) > 0.97
    True
    >>> int((ranker.pairs_ == -1).sum()) > 0  # single rows among them
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ActiveSamplingRanker._parameter_constraints,
        "gamma": [Interval(Real, 0, 1, closed="both"), StrOptions({"uniform"})],
    }

    def __init__(
        self,
        alpha: float = 1 / 800,
        *,
        gamma: float | str = 0.5,
        n_pairs: int = 8000,
        batch_size: int = 100,
        strategy: str = "soft-correct",
        weighting: str = "rate",
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        super().__init__(
            alpha,
            n_pairs=n_pairs,
            batch_size=batch_size,
            strategy=strategy,
            weighting=weighting,
            tol=tol,
            max_iter=max_iter,
            n_threads=n_threads,
            random_state=random_state,
            verbose=verbose,
            pos_label=pos_label,
        )
        self.gamma = gamma

    def _gamma(self, split: Split) -> float:
        if isinstance(self.gamma, str):  # "uniform"
            m, n = len(split.pos), len(split.neg)
            return m * n / (m * n + m + n)
        return float(self.gamma)
