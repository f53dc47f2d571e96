"""HeadRanker: the best head of a list that a table can give, chosen by the head."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_feature_names_in

from ...base import Learnt, Ranker, fitting
from ...elsewhere import lazily, refuse_elsewhere
from ...exceptions import warn_folds_of_one_class
from ...history import Watch
from ...validation import LabelledRows
from .capacity import refined_share
from .contenders import decisions_of
from .effort import EFFORTS
from .ensemble import estimate
from .explanation import Explanation, by_weights, explained
from .figures import HeadFigures
from .ground import far_ground, ground_of
from .programme import run
from .progress import Bar
from .promises import HeadPromises, remember
from .race import Race
from .raw_table import HeadTable
from .sigmoid import cut_of
from .time_order import random_claim, times_of
from .weights import HeadWeights
from .words import caveats, few_positives, leaderboard, why

Array = NDArray[np.float64]


class HeadRanker(HeadFigures, HeadPromises, HeadTable, HeadWeights, Ranker):  # type: ignore[override]
    """Rank by whatever gives the best head of the list on rows held out.

    Feature sets, losses, strengths of regularisation and boosted trees race in the same folds,
    and the measure of the head decides. On tables features matter more than losses, and where
    there are many rows trees are ahead of linear scores; a blend of both is often best.

    For dense rows the candidates are logistic regression on the standardised columns, on squashed
    columns, and on their bins and pairs (`BinsAndPairs`); boosted trees; logistic regression on
    Nystroem's kernel columns; then, on the best features, logistic regression with heavier
    negatives and `PNormPush`; and the blend of trees and the best linear score. Sparse rows stay
    sparse: ways to scale them race instead of feature sets, `TopPush` and `LogExpPush` join where
    the classes all but separate, and there are no trees.

    Tables may be raw. Trees see gaps and categories natively; for linear scores gaps are filled and
    flagged, and categories get a column each. Dates are taken apart.

    Parameters
    ----------
    capacity : int, float or None, default=None
        What can be looked at: so many rows of a list, or a share of it in (0, 1). It decides the
        measure, `threshold_` and what `select` returns.
    list_size : int or None, default=None
        The length of the lists that `capacity` rows are taken of. Without it the length of the
        training set is taken, and `why_` says so.
    scoring : str, callable or None, default=None
        What decides: a name of `toprank.metrics.get_scorer` or one of scikit-learn's, or
        ``scorer(estimator, X, y)``, for which labels are 0 and 1. None is average precision
        without a capacity; with one that exceeds the share of positives the precision within
        it, and else the partial AUC up to the false positive rate that the capacity implies, or
        0.01 if fewer than fifty negatives a fold lie below that.
    candidates : {"default", "linear", "fast", "trees"} or list, default="default"
        "linear": scores that are linear in the columns as they are, whose weights can be read; if
        `trees` is "auto" trees run beside them for comparison only. "fast": standardised and
        squashed columns with logistic regression. "trees": boosted trees alone. A list names
        feature sets ("columns", "squashed", "bins", "nystroem"; for sparse rows "as given",
        "unit rows", "largest 1"), "losses" for other losses on the best of them, and may hold
        estimators, or pairs of a name and an estimator.
    trees : {"auto", "lightgbm"} or bool, default="auto"
        Whether boosted trees race, and their blend with the best linear score: of scikit-learn, or
        of LightGBM if it is asked for. "auto" has them for dense rows, 200 or more, unless
        the candidates are "fast".
    cv : int, splitter or iterable, default=5
        Number of stratified folds of consecutive rows (or as many as the smaller class has rows),
        or what scikit-learn takes for `cv`: splitters of groups, of time.
    refine : bool, default=False
        Whether the best linear score has a second stage, `QuantileSigmoid`, which moves more
        positives within the capacity. It is taken if it gains more than the error of the gain.
    budget : float or None, default=None
        Seconds that the race may take. Candidates that would exceed it are dropped: losses first,
        then bins, squashed columns, kernel columns and trees; logistic regression on the first
        feature set always runs. What is chosen then depends on the machine; without a budget it
        depends on the data and `random_state` alone.
    n_jobs : int or None, default=None
        Folds that are fitted at a time, each in a process of its own and on one thread; None is 1.
        Of rows on a cluster one at a time, on all of its workers.
    random_state : int, RandomState instance or None, default=None
        Decides the rows that Nystroem's method takes, samples of large tables, and ties among
        trees; pass an int for the same result every time.
    verbose : int, default=0
        Print a progress bar with a line for each candidate if above zero.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one of 0/1, -1/1 and booleans. Of other
        labels it takes the one that is less than half as frequent as the other, by rows, or else
        the greater one, and warns with a `PositiveLabelWarning`.

    Attributes
    ----------
    leaderboard_ : DataFrame, or dict of ndarray without pandas
        A row for each candidate, the chosen one first, then by mean, then those that did not run:
        `candidate`, `mean` and standard `error` of the folds' scores, `seconds`, `chosen`, `note`,
        `features`, `loss`, `setting` ("alpha", "trees", "weight" or "mu": what was chosen), its
        `value`, `alpha`. The index is the order in which they ran.
    best_score_ : float
        The mean score of the chosen candidate over the folds, by `scoring_`.
    nested_score_ : float
        An estimate for new rows: each fold's score by what the other folds would have chosen,
        averaged. `best_score_` is the largest of several means and so a little too high.
    why_ : str
        The choice in words.
    best_estimator_ : estimator
        The chosen candidate, fitted on all rows, with labels 0 and 1.
    coef_ : ndarray of shape (1, n_features_in_)
        Weights of the columns of X, where the chosen score is linear in them: standardised
        columns or, if sparse, as given or with largest entry 1. Else an error says why not.
    intercept_ : ndarray of shape (1,)
        The constant of that score: ``X @ coef_[0] + intercept_`` is the decision function.
    fold_models_ : list of estimators
        The chosen candidate as each fold fitted it.
    folds_ : sequence of (ndarray, ndarray)
        The rows that each of them was fitted on, and those it was not.
    oof_scores_ : ndarray of shape (n_samples,)
        The score of every row by the fold that held it out, on the scale of `best_estimator_`; NaN
        for a row that none did. The folds are different models: compare scores within a fold.
    scoring_ : str or callable
        The measure that decided.
    capacity_ : float or None
        The capacity as a share.
    threshold_ : float
        The score of `best_estimator_` at which `decision_function` is zero. With a capacity that
        share of the rows held out lies above it; without one the probability there is one half.
    calibration_ : tuple of float
        Slope and offset of the logit of the probability, as a function of the score.
    medians_ : ndarray or None
        The row that `explain` compares with: medians, coded of a table; None for sparse rows.
    classes_ : ndarray of shape (2,)
        The labels. The second is the positive class, the one that is ranked first; the rarer
        label may be the one that sorts first, so the two need not be sorted.
    n_iter_ : int
        Candidates that ran.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    toprank.features.table_pipeline : Makes numbers of a table for the other rankers.
    toprank.selection.RankerCV : One ranker, with alpha chosen by cross-validation.

    Notes
    -----
    Weights of rows count in losses and measures, not in the scales and quantiles of columns; a row
    of weight zero counts for nothing. The score of the chosen candidate in `leaderboard_` is the
    largest of several, so a little too good: judge the choice on rows that had no part in it.

    Where features would take more than twice the memory of X, and than 192 MB, a fit learns from a
    weighted sample of the rows, and `note` says so. All are judged on the same rows.
    Rows on a cluster stay there. Linear scores are fitted where they are. Quantiles, bins, trees
    and estimators that need their rows in one place are fitted to 200 000 rows drawn by chance, and
    `note` says so. All are judged on the same rows held out, 5 million of them at the most:
    `oof_scores_` and `folds_` are about those.

    Examples
    --------
    >>> from toprank import HeadRanker
    >>> from toprank.datasets import load_mammography
    >>> X, y = load_mammography(return_X_y=True)
    >>> ranker = HeadRanker(candidates="fast", capacity=0.01, random_state=0).fit(X, y)
    >>> ranker.scoring_
    'partial_auc_0.01'
    >>> print(ranker.why_.split(" with ")[0])
    Chosen: logistic on squashed columns
    >>> ranker.select(X, k=100).shape
    (100,)
    >>> chosen = ranker.fit(X[::2], y[::2]).promise(X[1::2], k=100)
    >>> int(y[1::2][chosen.rows].sum()) >= chosen.lower > 0
    True
    """

    _scores_by: ClassVar[str] = "best_estimator_"
    #: They are passed on as they are.
    _sums_weights: ClassVar[bool] = True
    _on_clusters: ClassVar[bool] = True
    _rarer_first: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "capacity": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
        "list_size": [None, Interval(Integral, 1, None, closed="left")],
        "scoring": [None, str, callable],
        "candidates": [StrOptions({"default", "linear", "fast", "trees"}), list, tuple],
        "trees": [StrOptions({"auto", "lightgbm", "scikit-learn"}), "boolean"],
        "effort": [StrOptions(set(EFFORTS))],
        "cv": ["cv_object", None],
        "refine": ["boolean"],
        "budget": [None, Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": Ranker._parameter_constraints["verbose"],
        "pos_label": Ranker._parameter_constraints["pos_label"],
    }
    n_threads = None

    def __init__(
        self,
        capacity: float | None = None,
        *,
        list_size: int | None = None,
        scoring: str | Callable[..., float] | None = None,
        candidates: Any = "default",
        trees: str | bool = "auto",
        effort: str = "default",
        cv: Any = None,
        refine: bool = False,
        budget: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pos_label: Any = None,
    ) -> None:
        self.capacity = capacity
        self.list_size = list_size
        self.scoring = scoring
        self.candidates = candidates
        self.trees = trees
        self.effort = effort
        self.cv = cv
        self.refine = refine
        self.budget = budget
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label

    @fitting
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> Self:
        """Race the candidates, and fit the best of them on all rows.

        Parameters
        ----------
        X : table, array-like or sparse matrix of shape (n_samples, n_features)
            The rows: a table of pandas, Polars or Arrow, an array that may have gaps or texts, or a
            sparse matrix; or a Dask DataFrame or array of numbers, fitted on its cluster.
        y : array-like of shape (n_samples,)
            Two labels. `pos_label` is the positive one; without it the rarer one may be.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts twice in losses and measures, one of weight 0 not at all.
        groups : array-like of shape (n_samples,), optional
            What a splitter of groups keeps together.
        time : array-like of shape (n_samples,), optional
            When each row came about: dates or numbers. Folds then train on earlier rows and hold
            out later ones, from the middle on. What they choose is scaled to all rows: alpha
            falls and the number of trees rises with the number of rows. Not for rows on a cluster.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time)

    def _learn(
        self, rows: LabelledRows, watch: Watch, groups: Any = None, time: Any = None
    ) -> Learnt:
        self.__dict__.pop("_calibration", None)  # of another fit
        far = rows.design.elsewhere
        if time is not None and groups is not None:
            raise ValueError(
                "time and groups make folds of different kinds: pass one of them, or a splitter "
                "as cv that respects both."
            )
        effort = EFFORTS[self.effort]
        times = None if time is None else times_of(time, rows.design.shape[0])
        ground = (far_ground if far else ground_of)(self, rows, groups, times, effort.folds)
        data, capacity, scoring = ground.data, ground.capacity, ground.scoring
        watch.attributes = lambda _: {}
        race = Race(
            data,
            None if far else self.n_jobs,
            self.budget,
            Bar(self.verbose > 0),
            lambda number: watch.note(number, lambda: None),
        )
        refined = refined_share(capacity, self.refine)
        chosen = run(race, self.candidates, self.trees, refined, ground.seed, effort)
        n_folds = data.folds.count
        warn_folds_of_one_class(n_folds - len(chosen.fold_scores), n_folds)
        model = chosen.contender.final(data, chosen.setting)
        scores = race.held_out(chosen)
        nested = estimate(chosen, race.entries)
        few = few_positives(data, scores)
        claim = None
        if times is not None and data.judge.by_decisions:
            claim = random_claim(chosen, data, ground.seed)
        more = cut_of(scores, data, rows.split.positive_share, capacity) | {
            "best_estimator_": model,
            "fold_models_": [fit.ranker for fit in chosen.fits],
            "folds_": data.folds.compact(),
            "oof_scores_": scores,
            "scoring_": scoring,
            "capacity_": None if capacity is None else capacity.share,
            "medians_": self._typical(data.X),
            "why_": ground.told
            + why(
                chosen,
                race.entries,
                scoring,
                capacity,
                points=data.judge.by_decisions,
                assumed=capacity is not None and capacity.count is not None and not self.list_size,
            )
            + caveats(nested, few, claim),
            "nested_score_": float(nested.mean()),
            "_leaderboard": leaderboard(race.entries, chosen),
            "_positive": data.y == 1,
            "_weight": data.weight,
            "_known_rows": remember(data.X),
        }
        return Learnt({}, sum(entry.ran for entry in race.entries), more=more)

    def _decide(self, X: ArrayLike) -> Array:
        self._check_fitted()
        return np.asarray(self._raw(X) - self.threshold_)

    def _to_score(self) -> Self:
        made = copy(self)
        for name in (*self._of_folds, "_leaderboard"):
            made.__dict__.pop(name, None)
        return made

    def _raw(self, X: ArrayLike) -> Array:
        design: Any = self._design(X, reset=False)
        return decisions_of(self.best_estimator_, design.X)

    @lazily
    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each class, calibrated on rows held out.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            That of the negative class, `classes_[0]`, and that of the positive one: a sigmoid of
            the score, so that the order is the same.
        """
        self._check_fitted()
        slope, offset = self.calibration_
        logit = slope * self._raw(X) + offset
        return np.column_stack([expit(-logit), expit(logit)])

    def explain(self, X: ArrayLike, names: ArrayLike | None = None) -> Explanation:
        """Take scores apart by the columns of X.

        Each row is compared with the typical row: medians, most frequent categories. For trees a
        contribution is a difference along their paths. For other scores a column is given half of
        what it adds to the typical row, and half of what it adds to the rest of its own row; the
        remainder is the interplay of three columns or more. A blend scales the contributions of
        its two models by the slopes of their curves.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        names : array-like of str, optional
            The names of the columns, where X has none: behind a pipeline they are
            ``pipeline[:-1].get_feature_names_out()``.

        Returns
        -------
        Explanation
            `contributions`, `baseline`, `remainder` and `names`: the first three sum to
            ``decision_function(X)``.
        """
        self._check_fitted()
        refuse_elsewhere(X, "explain", "pass the few that you look at, as toprank.dask.top gives")
        design: Any = self._design(X, reset=False)
        rows = design.X
        if sparse.issparse(rows):
            if not hasattr(self.best_estimator_, "named_steps"):
                raise ValueError(
                    "explain takes linear scores of sparse rows apart, and the chosen candidate is "
                    f"not one: {type(self.best_estimator_).__name__}."
                )
            found = by_weights(self.best_estimator_, rows)
        else:
            found = explained(
                self.best_estimator_,
                rows,
                self.medians_,
                None if self._coder is None else self._coder.groups(),
            )
        contributions, baseline, remainder = found
        told = _check_feature_names_in(self) if names is None else np.asarray(names, dtype=object)
        if len(told) != self.n_features_in_:
            raise ValueError(
                f"names has {len(told)} names, but X has {self.n_features_in_} columns."
            )
        return Explanation(contributions, baseline - self.threshold_, remainder, told)


__all__ = ["HeadRanker"]
