"""RankerCV: a ranker with alpha chosen by cross-validation, a whole path a fold at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed

from ..designs import Design, Room
from ..estimators.convex import ConvexRanker
from ..estimators.ranker import SEEN, Learnt, Ranker, fitting
from ..estimators.validation import LabelledRows
from ..exceptions import warn_folds_of_one_class, warn_folds_unconverged, warn_grid_edge
from ..inputs.dispatch import cluster_of
from ..inputs.folds import Folds
from ..metrics._scorers import find_scorer
from ..solvers.watch import Watch
from .fold_path import FoldFit, Judge, Table, fold_path, folds_of
from .path import alphas_for, checked, like, mean_square, near_zero

Array = NDArray[np.float64]

#: Alphas that are added beyond an edge at a time.
_MORE = 3
#: An edge is flat if its mean score is within this many standard errors of its neighbour's.
FLAT = 0.1


def _has_probabilities(cv: RankerCV) -> bool:
    return hasattr(cv.estimator, "predict_proba")


class RankerCV(Ranker):
    """A ranker with alpha chosen by cross-validation.

    Every fold is fitted along all alphas, the largest first, each fit started from those
    before, and on what they knew of the rows. A fold is a function of its own rows alone: no
    fit begins from rows that it holds out. Folds of up to 2^24 entries are copied, one at a time;
    those of a larger X share it, and rows left out have no weight. The ranker is then fitted on
    all rows at the best alpha. That is taken as it is, for losses are means over rows or pairs: an
    alpha asks for the same balance of loss and norm whatever their number.

    Parameters
    ----------
    estimator : estimator
        A ranker with an `alpha`, a loss and a certificate, such as `TopPush`, `RectPushApp` or
        `RankSVM`; its own alpha does not matter. For `BBR` take `BBRCV`.
    alphas : int or array-like, default=9
        The values to choose from; or how many, evenly spaced on a logarithmic scale, from the
        mean square of the rows about their mean down to a millionth of it. If the best of these
        is at an end of the grid, the grid is extended there. Values that are given are not; a
        `GridEdgeWarning` then says where the best one lies.
    scoring : str or callable, default="average_precision"
        What decides: a name of `toprank.metrics.get_scorer`, such as "precision_at_0.01", one of
        scikit-learn's, or ``scorer(estimator, X, y)``. The largest mean over the folds wins, and
        of equal ones the larger alpha.
    cv : int, splitter or iterable, default=5
        Number of stratified folds of consecutive rows (or as many as the smaller class has rows),
        or what scikit-learn takes for `cv`: splitters of groups, of time. A fold that holds out
        rows of one class only cannot be scored, and is left out of the means.
    rule : {"best", "1se"} or callable, default="best"
        "1se" takes the largest alpha whose mean score is within one standard error of the best.
        A callable is given the alphas, the mean scores and their standard errors, and returns the
        place of the alpha to take.
    refit : bool, default=True
        Whether to fit on all rows at the alpha chosen. Without that only the folds can be looked
        at.
    n_jobs : int or None, default=None
        Folds that are fitted at a time, each in a process of its own and on one thread; None is 1.
    verbose : int, default=0
        Print a line for each fold if above zero.

    Attributes
    ----------
    alpha_ : float
        The alpha that was chosen.
    alphas_ : ndarray of shape (n_alphas,)
        The values it was chosen from, in decreasing order.
    mean_scores_, score_errors_ : ndarray of shape (n_alphas,)
        The mean over the folds of what `scoring` gave for each of them, and its standard error.
    cv_results_ : dict of ndarray
        A row for each fold and alpha: `alpha`, `fold`, `score`, `relative_gap`, `trivial`,
        `n_iter`, `seconds`. ``pandas.DataFrame(cv_results_)`` is tidy.
    oof_scores_ : ndarray of shape (n_samples,)
        The decision function of every row by the fold that held it out, at `alpha_`; NaN for a
        row that none did; by the last of several. The folds are different models: compare scores
        within a fold.
    fold_rankers_ : list of estimators
        The fitted ranker of every fold at `alpha_`.
    folds_ : sequence of (ndarray, ndarray)
        The rows that each of them was fitted on, and those it was not. Of rows on a cluster, which
        are held out by chance, this and `oof_scores_` are None.
    best_estimator_ : estimator
        The ranker that was fitted on all rows.
    coef_, intercept_, certificate_, trivial_, n_iter_, solver_, history_
        As for the estimator, of the fit on all rows.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    toprank.selection.path : The fits along alphas on all rows.
    toprank.BBRCV : For the squared loss, at little more than the cost of one fit.

    Examples
    --------
    >>> from toprank import RectPushApp
    >>> from toprank.datasets import load_mammography
    >>> from toprank.selection import RankerCV
    >>> X, y = load_mammography(return_X_y=True)
    >>> ranker = RankerCV(RectPushApp(), scoring="precision_at_0.01").fit(X, y)
    >>> ranker.alpha_ in ranker.alphas_
    True
    >>> ranker.oof_scores_.shape
    (11183,)
    """

    alpha_: float
    _of_folds: ClassVar[tuple[str, ...]] = ("fold_rankers_", "folds_", "oof_scores_")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "decision_function"])],
        "alphas": [Interval(Integral, 2, 1000, closed="both"), "array-like"],
        "scoring": [str, callable],
        "cv": ["cv_object"],
        "rule": [StrOptions({"best", "1se"}), callable],
        "refit": ["boolean"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any,
        alphas: Any = 9,
        *,
        scoring: str | Callable[..., float] = "average_precision",
        cv: Any = 5,
        rule: str | Callable[[Array, Array, Array], int] = "best",
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.alphas = alphas
        self.scoring = scoring
        self.cv = cv
        self.rule = rule
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def n_threads(self) -> int | None:  # type: ignore[override]
        """The estimator's."""
        return getattr(self.estimator, "n_threads", None)

    @property
    def _on_clusters(self) -> bool:  # type: ignore[override]
        """Return whether the estimator is fitted by sums alone."""
        own = self.estimator
        return isinstance(own, ConvexRanker) and own._on_clusters and not own._gathers_scores

    @property
    def pos_label(self) -> Any:
        """The estimator's."""
        return getattr(self.estimator, "pos_label", None)

    @fitting
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha, and learn the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Two labels; the estimator's `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            As for the estimator. Scorers that know weights are given those of the rows held out.
        groups : array-like of shape (n_samples,), optional
            What a splitter of groups keeps together.

        Returns
        -------
        self
            The fitted ranker.
        """
        cluster = cluster_of(X, y, sample_weight)
        paths_of = MemoryPaths if cluster is None else cluster.ranker_cv.ClusterPaths
        return self._fit(X, y, sample_weight, groups=groups, paths_of=paths_of)

    def _check(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> LabelledRows:
        ranker, rows = checked(self.estimator, X, y, sample_weight, "RankerCV")
        self.__dict__.update({name: value for name, value in vars(ranker).items() if name in SEEN})
        self._ranker = ranker
        return near_zero(ranker, rows)

    def _learn(
        self, rows: LabelledRows, watch: Watch, groups: Any = None, paths_of: Any = None
    ) -> Learnt:
        paths = (paths_of or MemoryPaths)(self, rows, groups)
        table = Table(alphas_for(self.alphas, paths.unit))
        table.add(paths(table.alphas))
        if isinstance(self.alphas, Integral):
            self._extend(table, paths)
        chosen = self._chosen(table)
        self._tell(table, chosen)
        more = self._results(table, chosen, paths.folds, rows.split.n_rows)
        if not self.refit:
            return Learnt({}, 0, more=more)
        best = like(paths.ranker, alpha=more["alpha_"])
        learnt = best._learn(rows, watch)
        best.__dict__.update(learnt.attributes())
        learnt.more |= more | {"best_estimator_": best}
        return learnt

    def _extend(self, table: Table, paths: Callable[[Array], list[list[FoldFit]]]) -> None:
        """Add alphas beyond an end of the grid, up to twice, while the best one is there."""
        for _ in range(2):
            more = table.beyond(table.best, _MORE, FLAT)
            if more is None:
                return
            table.add(paths(more), more)

    def _chosen(self, table: Table) -> int:
        if self.rule == "best":
            return table.best
        if self.rule == "1se":
            return table.one_error
        place: Any = self.rule(table.alphas, table.means, table.errors)  # type: ignore[operator]
        if not isinstance(place, Integral) or place not in range(len(table.alphas)):
            raise ValueError(
                f"rule must return a place among the {len(table.alphas)} alphas, got {place!r}."
            )
        return int(place)

    def _warn(self, learnt: Learnt) -> None:
        """Warn about the fit to all rows as the estimator does."""
        if self.refit:
            self.best_estimator_._warn(learnt)

    def _tell(self, table: Table, chosen: int) -> None:
        """Warn of what makes the choice doubtful."""
        alpha, n_folds = float(table.alphas[chosen]), len(table.folds)
        short = [
            fits[chosen].ranker.certificate_.relative_gap
            for fits in table.folds
            if not fits[chosen].converged
        ]
        warn_folds_unconverged(short, n_folds, alpha)
        warn_folds_of_one_class(n_folds - table.scored, n_folds)
        if self.rule == "best" and table.beyond(chosen, 1, FLAT) is not None:
            warn_grid_edge(alpha, "largest" if chosen == 0 else "smallest")

    def _results(self, table: Table, chosen: int, folds: Folds | None, n: int) -> dict[str, Any]:
        decisions = (fits[chosen].decisions for fits in table.folds)
        return {
            "alpha_": float(table.alphas[chosen]),
            "alphas_": table.alphas,
            "mean_scores_": table.means,
            "score_errors_": table.errors,
            "cv_results_": table.tidy(),
            "oof_scores_": None if folds is None else folds.joined(decisions, n),
            "fold_rankers_": [fits[chosen].ranker for fits in table.folds],
            "folds_": None if folds is None else folds.compact(),
        }

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each class, where the estimator has them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            That of the negative class, `classes_[0]`, and that of the positive one.
        """
        self._check_fitted()
        return self.best_estimator_.predict_proba(X)  # type: ignore[no-any-return]

    def _check_fitted(self) -> None:
        if hasattr(self, "alpha_") and not hasattr(self, "best_estimator_"):
            raise NotFittedError(
                "This RankerCV was fitted with refit=False: it knows alpha_ and the folds, and has "
                "no ranker of all rows to score with. Set refit=True."
            )
        super()._check_fitted()

    def _scores(self, design: Design) -> Array:
        return self.best_estimator_._scores(design)  # type: ignore[no-any-return]


class MemoryPaths:
    """Fits every fold of a RankerCV along alphas, for rows in memory or in a file."""

    def __init__(self, cv: RankerCV, rows: LabelledRows, groups: Any) -> None:
        self.ranker: ConvexRanker = cv.__dict__.pop("_ranker")
        self._rows, self._judge = rows, Judge(find_scorer(cv.scoring, self.ranker))
        self.folds = folds_of(cv.cv, rows, groups)
        self._jobs = min(effective_n_jobs(cv.n_jobs), self.folds.count)
        self._verbose = cv.verbose

    def unit(self) -> float:
        """Return the mean square of the rows, the unit of alphas."""
        return mean_square(self._rows.design, self._rows.split)

    def __call__(self, alphas: Array) -> list[list[FoldFit]]:
        """Return the fits of every fold along the alphas."""
        rows = self._rows
        rooms = (Room(), Room()) if self._jobs == 1 else (None, None)
        if self._jobs > 1:  # a thread each: more would wait for each other
            rows = replace(rows, design=rows.design.on_threads(1))
            if self._judge.by_decisions:
                rows = replace(rows, X=None)
        fits: list[list[FoldFit]] = Parallel(n_jobs=self._jobs)(
            delayed(fold_path)(self.ranker, rows, training, test, alphas, self._judge, rooms)
            for training, test in self.folds
        )
        if self._verbose > 0:
            for k, own in enumerate(fits):
                _print_fold(k, own, alphas)
        return fits


def _print_fold(k: int, fits: list[FoldFit], alphas: Array) -> None:
    best = max(fits, key=lambda fit: -np.inf if np.isnan(fit.score) else fit.score)
    seconds = sum(fit.seconds for fit in fits)
    print(
        f"fold {k}: {len(fits)} alphas from {alphas[0]:.3g} to {alphas[-1]:.3g} in "
        f"{seconds:.2f} s; best {best.score:.4f} at {best.ranker.alpha:.3g}",
        flush=True,
    )


__all__ = ["RankerCV"]
