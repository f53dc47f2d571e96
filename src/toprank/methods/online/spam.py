"""SPAM: stochastic proximal steps on the pairwise squared loss, at the cost of a row's entries.

Problem  min over w   alpha/2 |w|^2 + 1/2 mean over pairs of (1 - w.(x_i - x_j))^2
         i a positive row, j a negative one
Paper    M. Natole, Y. Ying and S. Lyu, Stochastic Proximal Algorithms for AUC Maximization, ICML
         2018: SPAM with the squared norm
Symbols  beta -> 2 p (1-p) alpha, p the positives' share: the mean of its gradients is 2 p (1-p)
         times that of the mean over pairs;  the step C / sqrt(t) -> learning_rate / sqrt(t)
Differs  a, b and alpha of the paper are put in: a positive row is compared with the mean score
         of the negatives, and the other way round. The step has a cap, 1 / (2 max(p, 1-p)
         max |x|^2), without which long rows throw w far off; it can be left out. Class means
         and p are those of the rows of `fit`, or of the rows seen by the end of a block.
         Rows may have weights. The 1-norm (elastic net) is not here.
Checked  the step and the mean of the iterates against the authors' program, as read for the
         specification of this family; tables of the paper were not made again.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from ..._core import ProximalDescent
from ...estimators.old_parameters import renamed_parameters
from .base import Stream
from .reading import OnlineRanker, Reading, State

Array = NDArray[np.float64]


@renamed_parameters(eta="learning_rate", n_passes="max_iter")
class SPAM(OnlineRanker):
    r"""Rank by single steps that cost what the entries of a row cost: any number of features.

    Steps towards the minimum of :math:`\frac{\alpha}{2}\|w\|^2 + \frac12\,\mathrm{mean}_{i,j}\,
    (1 - w\cdot(x_i - x_j))^2`, i the positive rows, j the negative ones. Step t on row x, p the
    positives' share and m the mean of the *other* class: :math:`w \leftarrow (w - \eta_t g x) /
    (1 + \eta_t\beta)` with :math:`g = 2(1-p)(w\cdot(x - m) - 1)` for a positive row,
    :math:`2p\,(w\cdot(x - m) + 1)` for a negative one, :math:`\eta_t = \eta/\sqrt t` and
    :math:`\beta = 2p(1-p)\alpha`. The mean of all iterates is returned.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation; beta / (2 p (1-p)) of the paper.
    learning_rate : float, default=10.0
        The length of the first step, where the cap allows it; C of the paper.
    step_cap : bool or float, default=True
        No step may be longer than this. True is ``1 / (2 max(p, 1-p) max |x|^2)``, which keeps
        steps from blowing up; False is no cap, as in the paper.
    class_means : array-like of shape (2, n_features), optional
        The means of the negative and the positive class, where they are known beforehand. Those
        of the rows otherwise.
    positive_share : float, optional
        p, where it is known beforehand. That of the rows otherwise.
    max_iter : int, default=5
        The most passes of `fit` over the rows. `partial_fit` reads them once.
    shuffle : bool, default=True
        Read the rows in another random order in every pass of `fit`, not in the order given.
    n_threads : int, optional
        Threads for checking and scoring rows; without it OMP_NUM_THREADS, else one per core. Steps
        are taken one after the other. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the orders; pass an int for the same result every time.
    verbose : int, default=0
        Print a line for each pass if above zero.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one, and the fit says so with a
        `PositiveLabelWarning` unless the labels are 0/1, -1/1 or booleans.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold above which `predict` calls a row positive: set so that the share of
        rows above it is that of the positives, in the training rows or in the last block that had
        both classes.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_iter_ : int
        Rows read by the last `fit` or `partial_fit`.
    t_ : int
        Counted since the weights were zero: rows read.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    OPAUC : The same minimum, from covariances; few features.
    CRR : Steps on random pairs and points.

    Notes
    -----
    Nothing is certified. In `partial_fit` class means, p and the longest row are those of all
    rows up to the end of the block; before both classes have been seen no step is taken. So
    other blocks are other steps, unless `class_means`, `positive_share` and a number for
    `step_cap` are given: then calls on blocks are one call on all of them. A row of weight v takes
    a step v times as long, and counts v times in means and p; the cap is divided by the largest v.

    References
    ----------
    M. Natole, Y. Ying and S. Lyu, Stochastic Proximal Algorithms for AUC Maximization,
    Proceedings of the 35th International Conference on Machine Learning, 2018.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from toprank import SPAM
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = SPAM(random_state=0).fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.95
    >>> ranker.partial_fit(X[:50], y[:50]).n_iter_
    50
    """

    _remedy: ClassVar[str] = (
        "its steps are too long for rows of this size. Lower learning_rate, or set step_cap=True; "
        "or scale the features, for instance with sklearn.preprocessing.StandardScaler."
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineRanker._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "step_cap": ["boolean", Interval(Real, 0, None, closed="neither")],
        "class_means": [None, "array-like"],
        "positive_share": [None, Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        learning_rate: float = 10.0,
        step_cap: bool | float = True,
        class_means: ArrayLike | None = None,
        positive_share: float | None = None,
        max_iter: int = 5,
        shuffle: bool = True,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.step_cap = step_cap
        self.class_means = class_means
        self.positive_share = positive_share
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _begin(self, n_features: int, seed: int) -> State:
        return {
            "t": 0,
            "steps": Stream.of(n_features),
            "weight": np.zeros(2),
            "means": np.zeros((2, n_features)),
            "sizes": np.zeros(2),
        }

    def _weights(self, state: State) -> Array:
        steps: Stream = state["steps"]
        return steps.mean

    def _read(self, reading: Reading, state: State) -> State:
        seen = {**state, **self._moments(reading, state)}
        means, share = self._known(seen)
        learnt = {**seen, "steps": Stream(**vars(state["steps"]))}
        if share is None:
            for rows in reading.orders:  # told, and not read: a class has not been seen yet
                reading.over(len(rows), lambda: self._weights(learnt))
            return learnt
        steps: Stream = learnt["steps"]
        design = reading.block.design
        rules = (
            float(self.learning_rate),
            self._cap(seen, share),
            2 * share * (1 - share) * self.alpha,
        )
        below_rows, above_rows = (design.scores(mean) for mean in means)
        for rows in reading.orders:
            core = ProximalDescent(steps.w, steps.t, *rules, share)
            # Taken anew for every pass: rounding must not add up for ever.
            below, above = (float(mean @ steps.w) for mean in means)
            taken = core.run(
                reading.matrix,
                rows,
                reading.signs,
                reading.weights,
                above,
                below,
                above_rows,
                below_rows,
            )
            self._check_taken(taken, rows, reading.t + reading.n_read)
            steps.w, steps.t = core.w, steps.t + taken
            if taken:
                steps.average_with(core.total, taken)
            if reading.over(taken, lambda: steps.mean):
                break
        return learnt

    @staticmethod
    def _moments(reading: Reading, state: State) -> State:
        """Weight and mean of each class, max |x|^2 and max v, with these rows among them."""
        block = reading.block
        weight, means, sizes = (state[name].copy() for name in ("weight", "means", "sizes"))
        sides = ((block.split.neg, block.split.q), (block.split.pos, block.split.p))
        for k, (rows, shares) in enumerate(sides):
            if not len(rows):
                continue
            more = float(reading.weights[rows].sum())
            weight[k] += more
            means[k] += more / weight[k] * (block.design.pull_back(shares, rows) - means[k])
            lengths, weights = block.design.squared_norms(rows), reading.weights[rows]
            sizes = np.maximum(sizes, [lengths.max(), weights.max()])
        return {"weight": weight, "means": means, "sizes": sizes}

    def _known(self, seen: State) -> tuple[Array, float | None]:
        """The means of the classes and the positives' share; None where they are not known yet."""
        weight, means = seen["weight"], seen["means"]
        share = None if self.positive_share is None else float(self.positive_share)
        if self.class_means is not None:
            wanted = (
                f"class_means must be {means.shape[0]} rows of {means.shape[1]} finite numbers, "
                "the mean of the negative class and that of the positive one"
            )
            try:
                told = np.array(self.class_means, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{wanted}: {error}.") from error
            if told.shape != means.shape:
                raise ValueError(f"{wanted}; got an array of shape {told.shape}.")
            if not np.isfinite(told).all():
                row, column = np.argwhere(~np.isfinite(told))[0]
                raise ValueError(f"{wanted}; [{row}, {column}] is {told[row, column]}.")
            means = told
        elif not weight.all():
            return means, None
        if share is None and weight.all():
            share = float(weight[1] / weight.sum())
        return means, share

    def _cap(self, seen: State, share: float) -> float:
        """The longest step there may be."""
        if not isinstance(self.step_cap, bool | np.bool_):
            return float(self.step_cap)
        if not self.step_cap:
            return np.inf
        squared = 2.0 * max(share, 1.0 - share) * float(np.prod(seen["sizes"]))
        return 1.0 / squared if squared > 0.0 else np.inf
