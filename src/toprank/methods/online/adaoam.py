"""AdaOAM: the gradient of OPAUC with a step length for every feature.

Problem  min over w   alpha/2 |w|^2 + 1/2 mean over pairs of (1 - w.(x_i - x_j))^2,
         |w| <= 1/sqrt(alpha);  i a positive row, j a negative one
Paper    Y. Ding, P. Zhao, S. C. H. Hoi and Y.-S. Ong, An Adaptive Gradient Method for Online AUC
         Maximization, AAAI 2015
Symbols  lambda -> alpha, unchanged;  eta -> learning_rate;  delta = 1e-8
Differs  rows with weights and several passes are ours. The ball is the Euclidean one, which the
         minimum never leaves.
Checked  against nothing: no public program was found, and the paper's text was not at hand. The
         steps are those of the specification of this family: OPAUC's gradient g, entry by entry
         G += g^2, w -= eta g / (delta + sqrt G), then back into the ball.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ...estimators.old_parameters import renamed_parameters
from .reading import MomentRanker


@renamed_parameters(eta="learning_rate", n_passes="max_iter")
class AdaOAM(MomentRanker):
    r"""Rank by single steps against all rows of the other class, a step length for every feature.

    Steps towards the minimum of :math:`\frac{\alpha}{2}\|w\|^2 + \frac12\,\mathrm{mean}_{i,j}\,
    (1 - w\cdot(x_i - x_j))^2`, as OPAUC does. With its gradient g, each entry on its own:
    :math:`G \leftarrow G + g^2`, :math:`w \leftarrow w - \eta\,g / (10^{-8} + \sqrt G)`. Then w is
    brought back to a length of at most :math:`1/\sqrt\alpha`.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation; lambda of the paper.
    learning_rate : float, default=0.1
        The length of the steps: the first one moves every weight by that much. Features times c
        need learning_rate / c.
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
    OPAUC : The same gradient, one step length.
    SPAM : The same minimum, for many features.

    Notes
    -----
    Nothing is certified. Memory and work for every row grow with the square of the number of
    features; beyond 1 GiB `fit` refuses. Calls of `partial_fit` on blocks are one call on all of
    them, up to rounding. The gradient of a row of weight v counts v times, and so does the row in
    means and covariances.

    References
    ----------
    Y. Ding, P. Zhao, S. C. H. Hoi and Y.-S. Ong, An Adaptive Gradient Method for Online AUC
    Maximization, Proceedings of the 29th AAAI Conference on Artificial Intelligence, 2015.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from toprank import AdaOAM
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> ranker = AdaOAM(random_state=0).fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.95
    >>> ranker.partial_fit(X[:50], y[:50]).n_iter_
    50
    """

    _adaptive = True
    _remedy: ClassVar[str] = (
        "its gradients are too large for rows of this size, or learning_rate is. Scale the "
        "features, for instance with sklearn.preprocessing.StandardScaler, or lower learning_rate."
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MomentRanker._parameter_constraints,
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        learning_rate: float = 0.1,
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
