"""HeadRanker: candidates, and ensembles of them, chosen by the head of the list."""

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

from ...estimators.ranker import Learnt, Ranker, fitting
from ...estimators.validation import LabelledRows
from ...exceptions import warn_folds_of_one_class
from ...inputs.dispatch import cluster_of, dask_aware, require_local
from ...solvers.watch import Watch
from .attributes import HeadAttributes, leaderboard, threshold_and_calibration
from .effort import EFFORTS
from .ensemble import nested_estimate
from .explain import Explanation, by_weights, caveats, explained, few_positives, random_claim, why
from .features import decisions_of
from .promises import HeadPromises, row_digests
from .race import Bar, Race, run_race
from .raw_table import HeadTable
from .setup import Setup, refined_share
from .setup import set_up as set_up_in_memory

Array = NDArray[np.float64]


class HeadRanker(HeadAttributes, HeadPromises, HeadTable, Ranker):  # type: ignore[override]
    """Choose features, models and their settings by the head of the list, in cross-validation.

    The candidates are linear scores on several feature sets, boosted trees, and forests. All of
    them are fitted in the same folds. The measure of the head chooses the best candidate, or an
    ensemble of at most five, and the chosen score is fitted to all rows.

    For dense rows the linear candidates are logistic regression on the standardised columns, on
    squashed columns, on bins and pairs of columns (`BinsAndPairs`), and on Nystroem's kernel
    columns. The best of these features are tried with other losses: logistic regression with
    heavier negatives, and `PNormPush`. Boosted trees are LightGBM's if it is installed, otherwise
    scikit-learn's. They split between quantiles of each class (`CaseControlBins`) and learn from
    all positives and a part of the negatives. Extremely randomised trees are the forest.

    Sparse rows stay sparse. Ways to scale them are tried instead of feature sets, and `TopPush` and
    `LogExpPush` join if the classes are nearly separable. There are no trees and no ensembles.

    Tables may be raw. Boosted trees read gaps and categories natively. For linear scores gaps are
    filled and flagged, and every category gets a column. Dates are split into parts.

    Parameters
    ----------
    capacity : int, float or None, default=None
        Rows that somebody can look at: a number of rows, or a share of the list in (0, 1). It
        decides the measure, `threshold_` and what `select` returns.
    list_size : int or None, default=None
        Length of the list that `capacity` rows are taken from. None stands for the length of the
        training set, and `why_` notes it.
    scoring : str, callable or None, default=None
        The measure that chooses: a name of `toprank.metrics.get_scorer` or of scikit-learn, or
        ``scorer(estimator, X, y)``, which gets labels 0 and 1. None is average precision without a
        capacity. With a capacity above the share of positives it is the precision within the
        capacity. Otherwise it is the partial AUC up to the false positive rate that the capacity
        implies, or up to 0.01 if a fold has fewer than fifty negatives below that.
    candidates : {"default", "linear", "fast", "trees"} or list, default="default"
        "default": what `effort` lists. "linear": scores that are linear in the columns, whose
        weights can be read; with ``trees="auto"`` trees run for comparison only. "fast": logistic
        regression on standardised and on squashed columns. "trees": boosted trees alone. A list
        may hold names, estimators, and pairs of a name and an estimator. Names are feature sets
        ("columns", "squashed", "bins", "nystroem"; for sparse rows "as given", "unit rows",
        "largest 1"), "forest", "extra trees", estimators of libraries that must be installed
        ("catboost", "xgboost", "ebm", "tabicl"), "losses" for other losses on the best features,
        and "default" for all that run by default. `trees` decides whether boosted trees join.
    trees : {"auto", "lightgbm", "scikit-learn"} or bool, default="auto"
        The boosted trees. "auto" runs them on 200 or more dense rows, unless the candidates are
        "fast", and takes LightGBM if it is installed. True runs them on fewer rows too. False
        leaves them out, and the default forests with them. The names choose the library.
    effort : {"fast", "default", "best"}, default="default"
        How much runs: about 0.1, 1 or 5 times the cost of tuning LightGBM over eight settings in
        three folds. "fast": standardised columns and one setting of boosted trees. "default":
        all feature sets (kernel columns on up to 30 000 rows) and losses, three settings of boosted
        trees, and extremely randomised trees. "best": five settings and two forests, five folds,
        more rows for each fit, and no candidate of trees is dropped after the first fold.
    cv : int, splitter, iterable or None, default=None
        Number of stratified folds of consecutive rows, at most the number of rows of the smaller
        class, or what scikit-learn takes for `cv`, such as splitters of groups. None is 3, or 5
        with ``effort="best"``.
    refine : bool, default=False
        Whether to try a second stage on the best linear score: `QuantileSigmoid`, which moves more
        positives within the capacity. It is taken if it gains more than the standard error of the
        gain.
    budget : float or None, default=None
        Seconds for choosing. Candidates that would exceed it are dropped: losses first, then bins,
        squashed columns and further settings of trees, kernel columns, forests and boosted trees.
        Logistic regression on the first feature set always runs. The choice then depends on the
        speed of the machine.
    n_jobs : int or None, default=None
        Number of folds to fit at the same time, each in its own process on one thread. None is 1.
        On a cluster folds are fitted one by one, on all workers.
    random_state : int, RandomState instance or None, default=None
        Decides which negatives trees learn from, the randomness of trees and forests, Nystroem's
        rows, samples of large tables, and the selection of ensembles. Pass an int for the same
        result every time.
    verbose : int, default=0
        Print a progress bar with a line for each candidate if above zero.
    pos_label : label or None, default=None
        The label to rank first. None takes the greater one of 0/1, -1/1 and booleans. With other
        labels it takes the one that is less than half as frequent as the other, by rows, or else
        the greater one, and warns with a `PositiveLabelWarning`.

    Attributes
    ----------
    leaderboard_ : DataFrame, or dict of ndarray without pandas
        A row for each candidate: first the chosen one, then the others by their mean, then those
        that did not run. The columns are `candidate`, `mean` and standard `error` of the folds'
        scores, `seconds`, `chosen`, `note`, `features`, `loss`, `setting` ("alpha", "trees", "mu",
        or "" for none), its `value`, and `alpha`. The index is the order in which they ran.
    best_score_ : float
        Mean score of the chosen candidate over the folds, by `scoring_`.
    nested_score_ : float
        Estimate for new rows. Each fold is scored by what the other folds would have chosen, and
        the scores are averaged. `best_score_` is the largest of several means, so it is too high.
        With few positives this estimate is still a little too high: the settings of members, and
        which candidates are dropped, come from all folds.
    why_ : str
        The choice in words, with the estimate for new rows and caveats: few positives, or what
        random folds would have claimed for rows in time order.
    best_estimator_ : estimator
        The chosen candidate, fitted to all rows with labels 0 and 1.
    coef_ : ndarray of shape (1, n_features_in_)
        Weights of the columns of X if the chosen score is linear in them, as on standardised
        columns, or on sparse columns as given or with largest entry 1. Otherwise an error names
        the reason.
    intercept_ : ndarray of shape (1,)
        The constant of that score: ``X @ coef_[0] + intercept_`` is the decision function.
    fold_models_ : list of estimators
        The chosen candidate as fitted in each fold.
    folds_ : sequence of (ndarray, ndarray)
        The training rows and the held-out rows of each fold.
    oof_scores_ : ndarray of shape (n_samples,)
        Score of every row by the fold that held it out, on the scale of `best_estimator_`, and NaN
        for rows that no fold held out. The folds have different models, so compare scores within a
        fold.
    scoring_ : str or callable
        The measure that chose.
    capacity_ : float or None
        The capacity as a share.
    threshold_ : float
        The score of `best_estimator_` at which `decision_function` is zero. With a capacity, that
        share of the held-out rows lies above it. Without one, the probability there is one half.
    calibration_ : tuple of float
        Slope and offset of the logit of the probability as a function of the score.
    medians_ : ndarray or None
        The row that `explain` compares with: medians, and for tables the most frequent categories
        as codes. None for sparse rows.
    classes_ : ndarray of shape (2,)
        The labels. The second is the positive class, which is ranked first. It may be the one that
        sorts first, so the two need not be sorted.
    n_iter_ : int
        Number of candidates that ran.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    toprank.features.CaseControlBins : The bins of the boosted trees, for other models.
    toprank.features.table_pipeline : Makes numbers of a table for the other rankers.
    toprank.selection.RankerCV : One ranker, with alpha chosen by cross-validation.

    Notes
    -----
    Sample weights count in losses, measures and the edges of bins, but not in the scales and
    quantiles of columns. A row of weight zero counts for nothing.

    An ensemble is a weighted mean of its members' ranks, stretched at the top of the list. Members
    and weights are selected greedily by the measure. An ensemble is not chosen if the best single
    candidate is ahead of it in nested selection.

    On large tables trees learn from all positives and 30 negatives for each positive, or from
    50 000 rows if that is more. `effort` sets an upper limit. The scores are corrected for the rows
    left out. If the features of a linear candidate would take more than twice the memory of X, and
    more than 192 MB, its fit learns from a weighted sample of the rows. In both cases `note` in
    `leaderboard_` has the number of rows. All candidates are judged on the same held-out rows.

    The models depend on whether LightGBM is installed. Pass `trees` to fix the library.

    On a Dask cluster linear scores are fitted to all rows, where the rows are. Case-control rows
    for the trees are drawn on the workers. If negatives are left out, the quantiles of all
    negatives come from sketches that the workers merge. Quantiles of squashed columns, bins, kernel
    columns and estimators that need their rows in one place learn from 200 000 rows drawn at
    random. All candidates are judged on the same held-out rows, at most 5 million:
    `oof_scores_` and `folds_` refer to those.

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
        """Compare the candidates, and fit the best of them to all rows.

        Parameters
        ----------
        X : table, array-like or sparse matrix of shape (n_samples, n_features)
            The rows: a table of pandas, Polars or Arrow, an array that may have gaps or texts, or a
            sparse matrix. Or a Dask DataFrame or array of numbers, fitted on its cluster.
        y : array-like of shape (n_samples,)
            Two labels. `pos_label` is the positive one. Without it the rarer one may be.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts twice in losses and measures, one of weight 0 not at all.
        groups : array-like of shape (n_samples,), optional
            Groups of rows that a splitter of groups keeps together.
        time : array-like of shape (n_samples,), optional
            Dates or numbers that order the rows. Each fold then trains on earlier rows than those
            it holds out, and the folds hold out the later half of the rows in turn. Rows of equal
            time stay together. The chosen settings are scaled to the number of all rows: alpha
            falls and the number of trees rises. `cv` must be a number of folds or None. Not
            supported on a cluster.

        Returns
        -------
        self
            The fitted ranker.
        """
        set_up = set_up_in_memory
        if (cluster := cluster_of(X, y, sample_weight)) is not None:
            cluster.head_ranker.check_columns(X)
            set_up = cluster.head_ranker.set_up
        return self._fit(X, y, sample_weight, groups=groups, time=time, set_up=set_up)

    def _learn(
        self,
        rows: LabelledRows,
        watch: Watch,
        groups: Any = None,
        time: Any = None,
        set_up: Callable[..., Setup] = set_up_in_memory,
    ) -> Learnt:
        self.__dict__.pop("_calibration", None)  # of another fit
        if time is not None and groups is not None:
            raise ValueError(
                "time and groups make folds of different kinds: pass one of them, or a splitter "
                "as cv that respects both."
            )
        effort = EFFORTS[self.effort]
        setup = set_up(self, rows, groups, time, effort.folds)
        data, capacity, scoring = setup.data, setup.capacity, setup.scoring
        watch.attributes = lambda _: {}
        race = Race(
            data,
            setup.n_jobs,
            self.budget,
            Bar(self.verbose > 0),
            lambda number: watch.note(number, lambda: None),
        )
        refined = refined_share(capacity, self.refine)
        chosen = run_race(race, self.candidates, self.trees, refined, setup.seed, effort)
        n_folds = data.folds.count
        warn_folds_of_one_class(n_folds - len(chosen.fold_scores), n_folds)
        model = chosen.candidate.final(data, chosen.setting)
        scores = race.held_out(chosen)
        nested = nested_estimate(chosen, race.results)
        assumed = capacity is not None and capacity.count is not None and not self.list_size
        points = data.judge.by_decisions
        reasons = why(chosen, race.results, scoring, capacity, points=points, assumed=assumed)
        few, claim = few_positives(data, scores), None
        if time is not None and data.judge.by_decisions:
            claim = random_claim(chosen, data, setup.seed)
        more = threshold_and_calibration(scores, data, rows.split.positive_share, capacity) | {
            "best_estimator_": model,
            "fold_models_": [fit.ranker for fit in chosen.fits],
            "folds_": data.folds.compact(),
            "oof_scores_": scores,
            "scoring_": scoring,
            "capacity_": None if capacity is None else capacity.share,
            "medians_": self._typical(data.X),
            "why_": f"{setup.note}{reasons}{caveats(nested, few, claim)}",
            "nested_score_": float(nested.mean()),
            "_leaderboard": leaderboard(race.results, chosen),
            "_positive": data.y == 1,
            "_weight": data.weight,
            "_known_rows": row_digests(data.X),
        }
        return Learnt({}, sum(result.ran for result in race.results), more=more)

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

    @dask_aware
    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability of each class, calibrated on held-out rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of the negative class, `classes_[0]`, and of the positive one: a sigmoid
            of the score, so the order is the same.
        """
        self._check_fitted()
        slope, offset = self.calibration_
        logit = slope * self._raw(X) + offset
        return np.column_stack([expit(-logit), expit(logit)])

    def explain(self, X: ArrayLike, names: ArrayLike | None = None) -> Explanation:
        """Return what each column of X adds to each score.

        Each row is compared with the typical row: medians, most frequent categories. For trees and
        forests a contribution is a difference along their paths. For other scores, and for
        estimators of other libraries, a column gets half of what it adds to the typical row, and
        half of what it adds to the rest of its own row. The remainder is the interplay of three or
        more columns. An ensemble scales the contributions of its members by the slopes of their
        curves and adds them up by weight.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        names : array-like of str, optional
            The names of the columns, if X has none. Behind a pipeline they are
            ``pipeline[:-1].get_feature_names_out()``.

        Returns
        -------
        Explanation
            `contributions`, `baseline`, `remainder` and `names`: the first three sum to
            ``decision_function(X)``.
        """
        self._check_fitted()
        require_local(X, "explain", "pass the few that you look at, as toprank.dask.top gives")
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
        columns = (
            _check_feature_names_in(self) if names is None else np.asarray(names, dtype=object)
        )
        if len(columns) != self.n_features_in_:
            raise ValueError(
                f"names has {len(columns)} names, but X has {self.n_features_in_} columns."
            )
        return Explanation(contributions, baseline - self.threshold_, remainder, columns)


__all__ = ["HeadRanker"]
