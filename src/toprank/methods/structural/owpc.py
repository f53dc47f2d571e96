"""OWPC: pairs weighed by order, so that the negatives at the top count most.

Problem  min over w   alpha/2 |w|^2 + sum_i p_i sum_j b_j [1 + w.x_(j) - w.x_i]_+
         x_(1), x_(2), ... the negatives by falling score, b_1 >= b_2 >= ... >= 0 with sum one
Paper    N. Usunier, D. Buffoni, P. Gallinari, Ranking with Ordered Weighted Pairwise
         Classification, ICML 2009: ordered weighted averages of the hinges of a relevant row
Symbols  the weights of the average -> b;  C -> 1 / alpha
Differs  All positives see the negatives in one order, so that value and slope are a sort and linear
         scans. Solved by the bundle of cutting planes that serves SVM-pAUC, to a certified gap.
         The weights are a parameter; "harmonic", b_j ~ 1 / j, is this library's default.
         Positives may have weights p_i; negatives are counted, so that theirs must be equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions

from ...inputs.class_split import Split
from ...losses import OrderedPairsLoss
from .base import StructuralRanker

Array = NDArray[np.float64]

#: The families of weights by name, of n negatives; they need not sum to one.
FAMILIES: dict[str, Callable[[int], Array]] = {
    "harmonic": lambda n: 1.0 / np.arange(1.0, n + 1.0),
    "uniform": np.ones,
    "top": lambda n: np.eye(1, n)[0],
}


class OWPC(StructuralRanker):
    r"""Rank by pairs of which those with the highest negatives count most.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1m\sum_i\sum_j b_j [1 + w\cdot x_{(j)} -
    w\cdot x_i]_+` over linear scores, i the positive rows and :math:`x_{(1)}, x_{(2)}, \dots` the
    negatives by falling score, for weights b that do not rise and sum to one. The fit ends with a
    certificate, two numbers that bracket the minimum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the regularisation.
    weights : {"harmonic", "uniform", "top"}, array-like or callable, default="harmonic"
        b, up to a factor: "harmonic" is 1 / j; "uniform" makes the problem that of `RankSVM`, "top"
        that of `InfinitePush`. An array has one weight for each negative, not negative and not
        rising; a shorter one is followed by zeros. A callable is given the number of negatives.
    tol : float, default=1e-3
        The relative duality gap to stop at.
    max_iter : int, default=1000
        The most rounds, each a quadratic program and a line search.
    warm_start : bool, default=False
        Start from the last fit: worth it for a path of alphas, the largest first. Its rankings are
        the first planes.
    n_threads : int, optional
        Threads for products with the data; without it OMP_NUM_THREADS, else one per core. The
        result does not depend on it.
    verbose : int, default=0
        Print a row of `history_` as it comes if above zero. Callbacks of scikit-learn are called
        then too, whatever `verbose` is.
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
        `primal`, `dual`, `gap` and `relative_gap`, computed afresh from the weights and the
        rankings after the solver has stopped.
    trivial_ : bool
        Whether w = 0 is optimal, within the certificate.
    n_iter_ : int
        Rounds of the solver.
    solver_ : str
        The algorithm that finished the fit: "bundle".
    history_ : structured ndarray
        One row for each round: iteration, passes over the data, seconds, primal, dual,
        relative_gap.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    SVMpAUC : Equal weights on the highest negatives, none on the others.
    RankSVM : Equal weights on all.
    InfinitePush : The highest negative alone.

    Notes
    -----
    `sample_weight` repeats positives. Negatives are counted, so that their weights must be equal;
    zeros leave rows out.

    On noisy data the optimum may be w = 0, the more easily the more the first weights count: just
    when the mean of the positives is a mean of negatives with weights no more uneven than b. The
    fit then says so with a `TrivialSolutionWarning` and sets `trivial_`.

    References
    ----------
    N. Usunier, D. Buffoni and P. Gallinari, Ranking with Ordered Weighted Pairwise Classification,
    International Conference on Machine Learning, 2009.

    Examples
    --------
    >>> from toprank import OWPC
    >>> from toprank.datasets import make_gaussian_mixture
    >>> X, y = make_gaussian_mixture(random_state=0)
    >>> ranker = OWPC(alpha=1e-2).fit(X, y)
    >>> ranker.certificate_.relative_gap < 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StructuralRanker._parameter_constraints,
        "weights": [StrOptions(set(FAMILIES)), "array-like", callable],
    }
    _why_trivial: ClassVar[str] = (
        "The mean of the positives is a mean of negatives too, with weights no more uneven than "
        "those of the loss: no direction lifts the positives above the highest negatives on "
        "average, at any alpha."
    )
    _instead: ClassVar[str] = (
        'Give more weight to lower negatives, up to weights="uniform", or try RectPushApp.'
    )

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        weights: str | ArrayLike | Callable[[int], ArrayLike] = "harmonic",
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.alpha = alpha
        self.weights = weights
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _loss(self, split: Split) -> OrderedPairsLoss:
        return OrderedPairsLoss(split, _weights_of(self.weights, len(split.neg)))


def _weights_of(given: Any, n: int) -> Array:
    """The weights of n negatives, checked, with sum one."""
    made = FAMILIES[given](n) if isinstance(given, str) else given(n) if callable(given) else given
    try:
        b = np.asarray(made, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"weights must be numbers: {error}.") from error
    if b.ndim != 1 or not 0 < len(b) <= n:
        raise ValueError(
            f"weights must be a list of 1 to {n} numbers, as many as there are negatives; got "
            f"shape {b.shape}."
        )
    if not (np.isfinite(b).all() and b[-1] >= 0.0 and b[0] > 0.0):
        raise ValueError("weights must be finite and not negative, the first above zero.")
    rises = np.flatnonzero(np.diff(b) > 0.0)
    if len(rises):
        raise ValueError(
            f"weights[{rises[0] + 1}] is above weights[{rises[0]}]: they must not rise, or the "
            "problem is not convex."
        )
    whole = np.zeros(n)
    whole[: len(b)] = b / b[0]
    return np.asarray(whole / whole.sum())
