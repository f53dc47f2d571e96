"""OAM: online AUC maximisation, the pairwise hinge against buffers of past rows.

Problem  min over w   1/2 |w|^2 + C sum over pairs of [1 - w.(x_i - x_j)]_+, row by row
         i a positive row, j a negative one
Paper    P. Zhao, S. C. H. Hoi, R. Jin and T. Yang, Online AUC Maximization, ICML 2011: OAM_seq and
         OAM_gra, with reservoir sampling
Symbols  C -> C;  N+, N- (buffer sizes) -> buffer_size;  as a batch problem over m positives and n
         negatives C sums over pairs where alpha here would weigh their mean: C = 1 / (alpha m n)
Differs  each kept row stands for its share of the rows read, also where rows have weights; both
         buffers have one size; several passes. A pair of equal rows is passed over.
Checked  the two updates, C_t and the reservoir against a public program by others than the
         authors, as read for the specification of this family; no program of the authors' was seen.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..._core import BufferedDescent
from ...estimators.old_parameters import renamed_parameters
from .reading import OnlineRanker, Reading, State


@renamed_parameters(n_passes="max_iter")
class OAM(OnlineRanker):
    r"""Rank by single steps on the hinge, each row against a sample of the other class.

    Of every class `buffer_size` rows are kept, a fair sample of those read so far. A row x of label
    :math:`y = \pm1` is compared with the kept rows z of the other class, each of which stands for
    u rows: those read over those kept. One after the other, :math:`w \leftarrow w + \tau y (x -
    z)`, :math:`\tau = \min(C u / 2,\ [1 - y\,w\cdot(x - z)]_+ / \|x - z\|^2)`; or all at once, by
    the gradient of the hinge.

    Parameters
    ----------
    C : float, default=1e-4
        How far a pair may move the weights, times the rows it stands for. Steps do not become
        shorter: the more rows, the smaller C should be. Try powers of ten from 1e-6 to 1e-2.
    buffer_size : int, default=100
        Rows kept of each class. Work for a row grows with it.
    update : {"sequential", "gradient"}, default="sequential"
        Pair by pair, or all pairs of a row at once: OAM_seq and OAM_gra of the paper.
    max_iter : int, default=1
        The most passes of `fit` over the rows. `partial_fit` reads them once.
    shuffle : bool, default=True
        Read the rows in another random order in every pass of `fit`, not in the order given.
    n_threads : int, optional
        Threads for checking and scoring rows; without it OMP_NUM_THREADS, else one per core. Steps
        are taken one after the other. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Decides the orders and which rows are kept; pass an int for the same result every time.
        `partial_fit` goes on with what the first call began with.
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
    RankSVM : The hinge on all pairs, solved to a certified gap.
    SPAM : Steps on the squared loss, which need no buffer and cost far less.

    Notes
    -----
    Nothing is certified. Kept rows of a sparse matrix stay sparse. Calls of `partial_fit` on
    blocks are one call on all of them, up to rounding. A pair of rows of weights u and v counts
    u v times; a row of weight v is kept with a probability proportional to v.

    References
    ----------
    P. Zhao, S. C. H. Hoi, R. Jin and T. Yang, Online AUC Maximization, Proceedings of the 28th
    International Conference on Machine Learning, 2011.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from toprank import OAM
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = OAM(random_state=0).fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.96
    >>> ranker.partial_fit(X[:50], y[:50]).n_iter_
    50
    """

    _remedy: ClassVar[str] = (
        "its steps are too long for rows of this size. Lower C, or scale the features, for "
        "instance with sklearn.preprocessing.StandardScaler."
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineRanker._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "buffer_size": [Interval(Integral, 1, 10**9, closed="both")],
        "update": [StrOptions({"sequential", "gradient"})],
    }

    def __init__(
        self,
        C: float = 1e-4,
        *,
        buffer_size: int = 100,
        update: str = "sequential",
        max_iter: int = 1,
        shuffle: bool = True,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.C = C
        self.buffer_size = buffer_size
        self.update = update
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    def _begin(self, n_features: int, seed: int) -> State:
        return {
            "t": 0,
            "seed": seed,
            "capacity": self.buffer_size,
            "w": np.zeros(n_features),
            "n_read": np.zeros(2, dtype=np.int64),
            "weight": np.zeros(2),
            "row_weights": np.zeros(0),
            "data": np.zeros(0),
            "indices": np.zeros(0, dtype=np.int64),
            "indptr": np.zeros(1, dtype=np.int64),
        }

    def _read(self, reading: Reading, state: State) -> State:
        if state["capacity"] != self.buffer_size:
            raise ValueError(
                "buffer_size was changed between calls of partial_fit: set it back to "
                f"{state['capacity']}, or begin anew with fit."
            )
        kept = ("w", "n_read", "weight", "row_weights", "data", "indices", "indptr")
        core = BufferedDescent(
            float(self.C),
            int(self.buffer_size),
            self.update == "sequential",
            state["seed"],
            **{name: state[name] for name in kept},
        )
        self._run(core, reading)
        return {**state, **{name: getattr(core, name) for name in kept}}
