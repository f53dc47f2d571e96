"""QuantileSigmoid: a second stage for a list of fixed length. Not convex.

Problem  min over w   mu/2 |w - w_start|^2 + sum_i p_i sigmoid((tau - w.x_i) / h),
         tau with  sum_r c_r sigmoid((w.x_r - tau) / h) = f,  over all rows r
Paper    none: the share of positives that miss the top fraction f, made smooth
Symbols  capacity k of N rows -> f = k/N;  h = width times the deviation of the start's scores
Differs  from the other methods: it is not convex, and no certificate can be had. The search begins
         at the weights of a convex fit and is tied to them, and never ends at a worse criterion.
         Rows may have weights: p_i, which sum to one over the positives, and c_r over all rows.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval

from ...estimators.ranker import Learnt, Ranker
from ...estimators.validation import LabelledRows
from ...inputs.class_split import Split, share_threshold
from ...solvers.watch import Watch
from .logisticrank import LogisticRank

Array = NDArray[np.float64]

#: Scores that differ by this share of their size are the same.
_SAME = 1e-12
#: Steps that the model of the Hessian remembers.
_MEMORY = 20


class QuantileSigmoid(Ranker):
    r"""Move a fitted ranking so that more positives are among the first rows of a list.

    Minimises :math:`\frac{\mu}{2}\|w - w_0\|^2 + \frac1m\sum_i \sigma((\tau - w\cdot x_i)/h)` from
    the weights :math:`w_0` of another fit, i the positive rows and :math:`\tau` the score that the
    share `fraction` of all rows lies above, smoothly counted. The sum is the share of positives
    that miss the first rows. It gives up positives that are out of reach, which no convex loss
    does. The problem is not convex: what is found is a local minimum, no worse than the start, and
    there is no certificate.

    Parameters
    ----------
    fraction : float, default=0.1
        f, the share of all rows that you can act on, above 0 and below 1: k/N for a list of k rows.
    start : estimator, default=None
        A linear ranker or classifier, which is cloned and fitted to the same rows first. None:
        `LogisticRank` with its defaults.
    mu : float, default=1e-2
        How strongly the weights are tied to those of the start. Choose it by the measure that you
        act on, such as the recall in the first k rows.
    width : float, default=0.25
        Of the steps that stand for "among the first", as a share of the standard deviation of the
        start's scores.
    tol : float, default=1e-6
        The relative fall of the criterion in a step at which the search ends.
    max_iter : int, default=1000
        The most steps of L-BFGS.
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
        training rows above it is `fraction`.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    start_ : estimator
        The fitted start.
    criterion_ : float
        The criterion at `coef_`.
    start_criterion_ : float
        The criterion at the weights of the start, never less than `criterion_`.
    trivial_ : bool
        Whether the start gives every row the same score: then it is left as it is.
    n_iter_ : int
        Steps of L-BFGS.
    history_ : structured ndarray
        One row for each step: iteration, passes over the data, seconds, primal, dual,
        relative_gap; primal is the criterion, and the dual is not known.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    LogisticRank : The start, unless another is given.
    LogExpPush : A convex loss for the first one per cent; a good start too.
    AATP : Accuracy at the top, not convex either.

    Examples
    --------
    >>> from toprank import QuantileSigmoid
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> ranker = QuantileSigmoid(fraction=0.05).fit(X, y)
    >>> ranker.criterion_ < ranker.start_criterion_
    True
    """

    fraction: float
    start: Any
    mu: float
    width: float
    tol: float
    max_iter: int

    _why_trivial: ClassVar[str] = "The start gives every row the same score."
    _instead: ClassVar[str] = "Try another start, or a smaller alpha in this one."

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "fraction": [Interval(Real, 0, 1, closed="neither")],
        "start": [None, HasMethods("fit")],
        "mu": [Interval(Real, 0, None, closed="left")],
        "width": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        fraction: float = 0.1,
        *,
        start: Any = None,
        mu: float = 1e-2,
        width: float = 0.25,
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_threads: int | None = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.fraction = fraction
        self.start = start
        self.mu = mu
        self.width = width
        self.tol = tol
        self.max_iter = max_iter
        self.n_threads = n_threads
        self.verbose = verbose
        self.pos_label = pos_label

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        start = self._fitted_start(rows)
        first = self._weights_of_start(start)
        design, counts = rows.design, _Counts(rows.split, float(self.fraction))
        scores = design.scores(first)
        width = float(self.width) * counts.deviation(scores)
        flat = width <= _SAME * float(np.abs(scores).max(initial=0.0))
        unit = float(np.sqrt(design.squared_norms().mean())) or 1.0
        best, n_iter, stopped = (np.inf, first), 0, False

        def score(w: Array) -> dict[str, Array]:
            threshold = counts.threshold(design.scores(w))
            return {"coef_": w[np.newaxis].copy(), "intercept_": np.array([-threshold])}

        watch.attributes = score

        def evaluate(moved: Array) -> tuple[float, Array]:
            nonlocal best
            change = moved / unit
            loss, slope = counts.missed(design.scores(first + change), width)
            value = loss + 0.5 * self.mu * float(change @ change)
            if value < best[0]:
                best = value, first + change
            return value, (design.pull_back(slope) + self.mu * change) / unit

        def look(moved: Array) -> None:
            nonlocal n_iter, stopped
            n_iter += 1
            stopped = watch(n_iter, best[0], np.nan, lambda: best[1])
            if stopped:
                raise StopIteration

        done = True
        if flat:
            best = counts.at_a_tie, first
        at_start = best[0] if flat else evaluate(np.zeros_like(first))[0]
        stopped = watch(0, at_start, np.nan, lambda: first)
        if not flat and not stopped:
            found = minimize(
                evaluate,
                np.zeros_like(first),
                jac=True,
                method="L-BFGS-B",
                callback=look,
                options={
                    "maxiter": self.max_iter,
                    "maxcor": _MEMORY,
                    "ftol": self.tol,
                    "gtol": 0.0,
                },
            )
            done = bool(found.status != 1)
        value, w = best
        return Learnt(
            score(w),
            n_iter,
            history=watch.history,
            trivial=flat,
            converged=done,
            reached=f"a criterion of {value:.6g}, which still fell",
            remedies=("raise mu", "raise the width"),
            more={"start_": start, "criterion_": value, "start_criterion_": at_start},
        )

    def _fitted_start(self, rows: LabelledRows) -> Any:
        if self.start is None:
            start = LogisticRank(n_threads=self.n_threads, random_state=0)
        else:
            start = clone(self.start)
        if "pos_label" in start.get_params(deep=False):
            start.set_params(pos_label=self.pos_label)
        options = {} if rows.weight is None else {"sample_weight": rows.weight}
        with config_context(skip_parameter_validation=False):  # its parameters are the user's
            return start.fit(rows.X, rows.y, **options)

    def _weights_of_start(self, start: Any) -> Array:
        """Its weights; they rank the positive class first."""
        w = np.asarray(getattr(start, "coef_", np.zeros(0)), dtype=np.float64)
        if w.size != self.n_features_in_:
            raise TypeError(
                f"start={start!r} has no weight for each of the {self.n_features_in_} features in "
                "coef_ after its fit: pass a linear estimator, such as LogisticRank()."
            )
        turned = start.classes_[1] != self.classes_[1]
        return -w.ravel() if turned else w.ravel().copy()


class _Counts:
    """The share of positives outside the top fraction of all rows, smoothly counted."""

    def __init__(self, split: Split, fraction: float) -> None:
        self._split, self._fraction = split, fraction
        share, rest = split.shares
        self._rows = np.concatenate([split.pos, split.neg])
        self._weight = np.concatenate([share * split.p, rest * split.q])

    @property
    def at_a_tie(self) -> float:
        """The criterion where all rows have the same score: 1 - f of the positives miss."""
        return 1.0 - self._fraction

    def deviation(self, s: Array) -> float:
        """The standard deviation of the scores."""
        own = s[self._rows]
        middle = float(self._weight @ own)
        return float(np.sqrt(self._weight @ np.square(own - middle)))

    def threshold(self, s: Array) -> float:
        """The score that the fraction of the rows lies above, as nearly as can be."""
        return share_threshold(s[self._rows], self._weight, self._fraction)

    def missed(self, s: Array, width: float) -> tuple[float, Array]:
        """sum_i p_i sigmoid((tau - s_i) / h), and its gradient in the scores."""
        tau = self._quantile(s[self._rows], width)
        split = self._split
        out = expit((tau - s[split.pos]) / width)
        slope = split.p * out * (1.0 - out) / width
        bend = expit((s[self._rows] - tau) / width)
        moves = self._weight * bend * (1.0 - bend)
        total = float(moves.sum())
        v = np.zeros(len(s))
        if total > 0.0:
            v[self._rows] = moves * (float(slope.sum()) / total)
        v[split.pos] -= slope
        return float(split.p @ out), v

    def _quantile(self, s: Array, width: float) -> float:
        """The tau with sum_r c_r sigmoid((s_r - tau) / h) = f: Newton's method in a bracket."""
        reach = width * (40.0 - np.log(min(self._fraction, 1.0 - self._fraction)))
        low, high = float(s.min()) - reach, float(s.max()) + reach
        tau = share_threshold(s, self._weight, self._fraction)
        for _ in range(200):
            above = expit((s - tau) / width)
            excess = float(self._weight @ above) - self._fraction
            low, high = (tau, high) if excess > 0 else (low, tau)
            rate = float(self._weight @ (above * (1.0 - above))) / width
            step = tau + excess / rate if rate > 0.0 else np.nan
            before, tau = tau, step if low < step < high else 0.5 * (low + high)
            if abs(tau - before) <= 1e-13 * max(abs(tau), width):
                break
        return tau
