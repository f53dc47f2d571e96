"""OPAUC: one-pass optimisation of AUC, the pairwise squared loss from means and covariances.

Problem  min over w   alpha/2 |w|^2 + 1/2 mean over pairs of (1 - w.(x_i - x_j))^2
         i a positive row, j a negative one
Paper    W. Gao, R. Jin, S. Zhu and Z.-H. Zhou, One-Pass AUC Optimization, ICML 2013: OPAUC
Symbols  lambda -> alpha, unchanged;  eta -> learning_rate, constant;  Gamma+, Gamma- (covariances,
         divisor the count) are the scatters here over their weight;  c+, c- are the class means
Differs  the mean of a class is that before the row when the row's part of the covariance is
         taken, and the covariance loses the square of the mean's move: S += ((n-1)/n z z' - S)/n,
         z = x - (mean before). Two ports that go round get this wrong. `learning_rate="auto"` is
         ours, and so are rows with weights and several passes. The low-rank form for many features
         is not here: SPAM is for those.
Checked  the step and the constant eta against the authors' program, as read for the specification
         of this family; tables of the paper were not made again.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ...estimators.old_parameters import renamed_parameters
from .reading import MomentRanker


@renamed_parameters(eta="learning_rate", n_passes="max_iter")
class OPAUC(MomentRanker):
    r"""Rank by single steps, each against all rows of the other class that have been read.

    Steps towards the minimum of :math:`\frac{\alpha}{2}\|w\|^2 + \frac12\,\mathrm{mean}_{i,j}\,
    (1 - w\cdot(x_i - x_j))^2`, i the positive rows, j the negative ones. Of the rows read so far
    the mean m and the covariance S of each class are kept, and with them the loss of a row x of
    label :math:`y = \pm1` with all of the other class has the gradient :math:`g = \alpha w +
    (w\cdot(x - m) - y)(x - m) + S w`. A step is :math:`w \leftarrow w - \eta g`.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation; lambda of the paper.
    learning_rate : float or "auto", default="auto"
        The length of the steps, the same for all. "auto" is ``1 / (4 max |x|^2 + alpha)``, the
        maximum over the rows read so far, with which no step can blow up. The last steps leave w
        in a cloud about the minimum, the wider the longer they are: with many rows try a tenth.
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
    AdaOAM : The same gradient, a step length for every feature.
    SPAM : The same minimum, for many features.

    Notes
    -----
    Nothing is certified. Memory and work for every row grow with the square of the number of
    features; beyond 1 GiB `fit` refuses. Calls of `partial_fit` on blocks are one call on all of
    them, up to rounding. A row of weight v takes a step v times as long, and counts v times in
    means and covariances; "auto" is divided by the largest v.

    References
    ----------
    W. Gao, R. Jin, S. Zhu and Z.-H. Zhou, One-Pass AUC Optimization, Proceedings of the 30th
    International Conference on Machine Learning, 2013.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from toprank import OPAUC
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = OPAUC(random_state=0).fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.96
    >>> ranker.partial_fit(X[:50], y[:50]).n_iter_
    50
    """

    _adaptive = False
    _remedy: ClassVar[str] = (
        "its steps, learning_rate times the weight of a row, are too long for rows of this size. "
        'Lower learning_rate, or set learning_rate="auto"; or scale the features, for instance '
        "with sklearn.preprocessing.StandardScaler."
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MomentRanker._parameter_constraints,
        "learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        learning_rate: float | str = "auto",
        max_iter: int = 5,
        shuffle: bool = True,
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label
