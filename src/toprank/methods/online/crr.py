"""CRR: combined regression and ranking, stochastic steps on pairs and points.

Problem  min over w   alpha/2 |w|^2 + gamma E l(w.(x_i - x_j)) + (1 - gamma) E l(w.z)
         i a positive row, j a negative one, z a row, turned round if it is negative
Paper    D. Sculley, Combined Regression and Ranking, KDD 2010: Algorithm 1, as its program,
         sofia-ml, runs it; the baseline CRR of W.-Y. Shen and H.-T. Lin, Active Sampling of Pairs
         and Points for Large-scale Linear Bipartite Ranking, ACML 2013
Symbols  lambda -> alpha;  the paper's alpha, the chance of a regression step -> 1 - gamma
Differs  pairs are uniform over all of them, which is what sofia-ml's two draws come to; the
         column of ones, which sofia-ml adds by default, is an option; so is the mean of the last
         half of the iterates. Rows may have weights. In the paper l is the squared or the logistic
         loss, in sofia-ml by default the hinge, which makes it steps on the objective of ASCRC.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..._core import CombinedDescent
from ...designs.pairs import RandomPairs
from ...estimators.old_parameters import renamed_parameters
from ...estimators.validation import LabelledRows
from ...solvers.watch import Watch
from .base import Stream
from .drawing import DrawingRanker

Array = NDArray[np.float64]


@renamed_parameters(n_steps="max_iter")
class CRR(DrawingRanker):
    r"""Rank by stochastic steps on random pairs and points: quick and rough, in little memory.

    Steps towards the minimum of :math:`\frac{\alpha}{2}\|w\|^2 + \gamma\,\mathrm{mean}_{i,j}\,
    \ell(w\cdot(x_i - x_j)) + (1-\gamma)\,\mathrm{mean}_k\,\ell(y_k(w\cdot x_k + b))`, i the
    positive rows, j the negative ones, k all rows, :math:`y_k = \pm1`. Step t draws a pair or a
    point z, shrinks w by 1 - 1/t and adds z times :math:`-\ell'(w\cdot z) / (\alpha t)`.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation, and by it the length of the steps; lambda of sofia-ml.
    loss : {"hinge", "squared"}, default="hinge"
        l(u) = [1 - u]_+, or (t - u)^2 / 2 with the target t = 2 for a pair and 1 for a point.
    gamma : float, default=0.5
        The probability of a step on a pair: 1 is pairs only, 0 points only. A block of one class
        has no pairs: `partial_fit` then takes points, whatever gamma is.
    fit_intercept : bool, default=True
        Learn b with w, as the weight of a column of ones: regularised like the others, and
        without effect on pairs. Where one class is rare, points without it spoil the order.
    max_iter : int, default=100000
        The most steps of `fit`. `partial_fit` takes one for each row.
    average : bool, default=False
        Return the mean of the weights after each step instead of the last: of the last half of
        the steps of `fit`, of all steps that `partial_fit` took with `average` set.
    project : bool or "auto", default="auto"
        After each step bring w back to a length of at most 1 / sqrt(alpha), which the best w never
        exceeds, as Pegasos does. "auto" does so for the squared loss, whose first steps soon
        overflow without it, and not for the hinge.
    warm_start : bool, default=False
        Start from the last fit: from its weights, with steps as long as its last one.
    n_threads : int, optional
        Threads for checking and scoring rows; without it OMP_NUM_THREADS, else one per core. Steps
        are taken one after the other. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the draws; pass an int for the same result every time.
    verbose : int, default=0
        Print the mean loss of the draws, each before its step, now and then if above zero.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one, and the fit says so with a
        `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: -b, learnt from points; zero
        without `fit_intercept`, for then their loss draws the line at w.x = 0. Without points,
        gamma = 1, it is set so that the share of rows above it is that of the positives, in the
        training rows or in the last block that had both classes.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_iter_ : int
        Steps of the last `fit` or `partial_fit`.
    t_ : int
        Counted since the weights were zero: steps.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    RankSVM : All pairs, solved to a certified gap.
    sklearn.linear_model.SGDClassifier : Steps on points only, with more losses.

    Notes
    -----
    Nothing is certified: `max_iter` and the draws decide how near the minimum the weights are.

    References
    ----------
    D. Sculley, Combined Regression and Ranking, Proceedings of the 16th ACM SIGKDD International
    Conference on Knowledge Discovery and Data Mining, 2010.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from toprank import CRR
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = CRR(average=True, random_state=0).fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.97
    >>> ranker.partial_fit(X[:50], y[:50]).t_
    100050
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DrawingRanker._parameter_constraints,
        "loss": [StrOptions({"hinge", "squared"})],
        "gamma": [Interval(Real, 0, 1, closed="both")],
        "fit_intercept": ["boolean"],
        "project": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "hinge",
        gamma: float = 0.5,
        fit_intercept: bool = True,
        max_iter: int = 100_000,
        average: bool = False,
        project: bool | str = "auto",
        warm_start: bool = False,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.gamma = gamma
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.average = average
        self.project = project
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _steps(
        self,
        block: LabelledRows,
        stream: Stream,
        n_steps: int,
        n_averaged: int,
        rng: np.random.Generator,
        watch: Watch,
    ) -> None:
        matrix, draws = block.design.by_rows(), RandomPairs(block.split)
        told, before = 0.0, stream.t
        descent = CombinedDescent(stream.w, stream.t, float(self.alpha), self.loss, self._projects)
        for count, averaged in ((n_steps - n_averaged, False), (n_averaged, True)):
            for positives, negatives in draws.chunks(rng, count, self.gamma):
                taken = descent.run(matrix, positives, negatives, averaged)
                stream.t += taken
                if taken < len(positives):
                    raise ValueError(self._overflow(stream.t + 1))
                if self.verbose > 0:
                    mean = (descent.loss - told) / taken
                    print(f"step {stream.t}: loss {mean:.5g}, {watch.seconds:.2f} s", flush=True)
                    told = descent.loss
                if watch.note(stream.t, lambda: descent.weights):
                    break
            if watch.asked_to_stop:
                break
        stream.w = descent.weights
        n_averaged -= n_steps - (stream.t - before)  # those of the end were not taken
        if n_averaged > 0:
            stream.average_with(descent.total, n_averaged)

    def _n_weights(self, n_features: int) -> int:
        return n_features + int(self.fit_intercept)

    @property
    def _projects(self) -> bool:
        return self.loss == "squared" if self.project == "auto" else bool(self.project)

    def _overflow(self, step: int) -> str:
        remedy = "" if self._projects else ", or set project=True"
        return (
            f"CRR overflowed at step {step} with loss={self.loss!r} and alpha={self.alpha:g}: its "
            "first steps, 1 / alpha long, are too long for rows of this size. Scale the features, "
            "for instance with sklearn.preprocessing.StandardScaler, or raise alpha" + remedy + "."
        )

    def _threshold(self, block: LabelledRows, w: Array) -> float | None:
        n_features = block.design.shape[1]
        if self.gamma < 1.0:
            return -float(w[n_features:].sum())
        return block.share_threshold(w[:n_features])
