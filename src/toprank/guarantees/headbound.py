"""HeadBound: from labelled rows that a model has not seen to promises about a new list.

Problem  N new rows in the order of their scores, no labels. How many of the first k are positive?
Given    scores and labels of calibration rows; the order of their negatives and of the list's
         negatives, mixed, is as random as that of an urn.
Bound    T_k >= max over j of  j - B(c_j) - max(0, j - k),  c_j the calibration negatives that score
         at or above the j-th row and B an envelope of the urn: see `envelope`.
Sources  the joint law of conformal p-values is that of an urn: Gazin, Blanchard, Roquain, 2024.
         The exact calibration of the envelope and the bound for one fixed k are our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils import check_random_state

from ..exceptions import warn_no_negatives
from ..inputs.arguments import check_choice, check_count, check_number
from ..metrics._checks import as_column, check_positive, check_scores, check_weights
from .bounds import Standing, Terms
from .statement import HeadStatement

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


class HeadBound:
    """Promise how many of the first k rows of a new list are positive.

    "At least L of the first k rows are positive, with 95 % confidence, whichever k you pick after
    looking at the list." Made for many lists, at most 5 in 100 such promises are broken anywhere.

    Any model will do: nothing but the order of its scores is used. What must be true:

    * The calibration rows were not used to fit the model.
    * ``assume="negatives"``: the list's negatives score like the calibration negatives. Positives
      may be of a new kind, and rarer or more frequent than they were.
    * ``assume="rows"``: all rows of the list are like the calibration rows, how frequent positives
      are included. The bounds are tighter then, and there are upper bounds and recall; a fall of
      the share of positives breaks them.
    * Rows are independent: ten rows of one customer are not ten rows. Keep one row of each, in
      the calibration rows and in the list: see `one_row_each`.

    Parameters
    ----------
    confidence : float in (0, 1), default=0.95
        How sure the promise is to be.
    assume : {"negatives", "rows"}, default="negatives"
        What of the list is like the calibration rows.
    ties : {"worst", "random"}, default="worst"
        "worst" holds whatever the order of rows with equal scores is. "random" breaks ties of
        calibration rows and list by `random_state`; work through the list in `order` then.
    k_max : int, optional
        The largest k of interest, if that is settled before the list is seen: bounds up to it are
        tighter.
    refine : bool, default=True
        Whether to use that rows which are surely positive are no negatives. It gains where
        positives are frequent.
    gamma : float of at least 1, default=1.0
        Hold the promise even if up to gamma times as many negatives pass any cut as the
        calibration rows suggest; approximate. For ``assume="negatives"``.
    random_state : int, RandomState instance or None, default=None
        Decides how ties are broken, and which rows weights leave out.

    See Also
    --------
    HeadSelector : The same for a fitted model and rows.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.guarantees import HeadBound
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4000) < 0.1
    >>> bound = HeadBound().fit(y, rng.normal(size=4000) + 3 * y)
    >>> hidden = rng.random(1000) < 0.1
    >>> print(bound.of(rng.normal(size=1000) + 3 * hidden).text(50))
    At least 47 of these 50 are positive (95 %, for whichever k you pick), if today's negatives
    score like the 3,585 calibration negatives.
    """

    def __init__(
        self,
        *,
        confidence: float = 0.95,
        assume: str = "negatives",
        ties: str = "worst",
        k_max: int | None = None,
        refine: bool = True,
        gamma: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.confidence = check_number("confidence", confidence, 0.0, 1.0, ends="()")
        check_choice("assume", assume, ("negatives", "rows"))
        check_choice("ties", ties, ("worst", "random"))
        check_choice("refine", refine, (True, False))
        self.assume, self.ties, self.refine = assume, ties, bool(refine)
        self.k_max = None if k_max is None else check_count("k_max", k_max)
        self.gamma = check_number("gamma", gamma, 1.0)
        if assume == "rows" and self.gamma > 1.0:
            raise ValueError('gamma is for assume="negatives"; leave it at 1 with assume="rows".')
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"HeadBound(confidence={self.confidence:g}, assume={self.assume!r})"

    def fit(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        fold: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> HeadBound:
        """Keep the scores of the calibration rows.

        Parameters
        ----------
        y : array-like of shape (n,)
            Their labels.
        scores : array-like of shape (n,)
            What the model gives them; infinities are allowed. It must not have been fitted on
            them. With `fold`: what the model of each row's fold gives it, which has not seen it.
        sample_weight : array-like of shape (n,), optional
            How much more frequent such a row is in lists than among the calibration rows: one over
            the probability with which it was drawn, say. Rows are left out at random to make up
            for it. Counts of equal rows are refused: copies tell nothing new.
        fold : array-like of shape (n,), optional
            The fold, 0, 1, ..., of each row, for calibration by cross-validation (CV+): then `of`
            takes the scores that the model of every fold gives the list. No proof covers that; in
            eleven measured settings the promise was kept in 97 lists of 100 or more.
        pos_label : label, optional
            The positive label. Without it the greater one is positive, and a `PositiveLabelWarning`
            says so unless the labels are 0/1, -1/1 or booleans.

        Returns
        -------
        HeadBound
            The same object.
        """
        labels = as_column("y", y)
        values = check_scores(scores, len(labels)).astype(np.float64)
        weights = check_weights(sample_weight, len(labels))
        if pos_label is None and _plain(labels):
            positive = labels > 0  # of one class, too: no negatives, no promise
        else:
            positive = check_positive(labels, pos_label, None)
        kept = self._kept(positive, weights)
        numbers = None if fold is None else _folds(fold, len(labels))
        if numbers is not None and self.assume == "rows":
            raise ValueError('fold is for assume="negatives": nothing is known of "rows" by folds.')
        self._positive, self._scores = positive[kept], values[kept]
        self._fold = None if numbers is None else numbers[kept]
        self._n_folds = 0 if numbers is None else int(numbers.max()) + 1
        if self._positive.all():
            warn_no_negatives()
        return self

    def of(self, new_scores: ArrayLike, *, confidence: float | None = None) -> HeadStatement:
        """State what can be promised of a list.

        Parameters
        ----------
        new_scores : array-like of shape (N,), or (n_folds, N) after a fit with `fold`
            The scores of its rows by the same model, or by the model of each fold.
        confidence : float in (0, 1), optional
            Another confidence than that of this object.

        Returns
        -------
        HeadStatement
            The bounds, for every k.
        """
        if not hasattr(self, "_scores"):
            raise ValueError("This HeadBound has no calibration rows yet: call fit first.")
        if confidence is None:
            sure = self.confidence
        else:
            sure = check_number("confidence", confidence, 0.0, 1.0, ends="()")
        new = self._check_list(new_scores)
        terms = Terms(sure, self.assume, self.k_max, self.refine, self.gamma)
        positive, scores = self._positive, self._scores
        if self._fold is not None:
            groups = [self._fold == fold for fold in range(self._n_folds)]
            standing = Standing.by_folds(
                [np.sort(scores[group & ~positive]) for group in groups],
                int(positive.sum()),
                new,
            )
            return HeadStatement(
                standing, terms, lambda: _drift_by_fold(scores, groups, new), False
            )
        listed = new
        if self.ties == "random":
            scores, listed = _without_ties(scores, new, check_random_state(self.random_state))
        standing = Standing.by_scores(np.sort(scores[~positive]), np.sort(scores[positive]), listed)
        return HeadStatement(standing, terms, lambda: _drift(self._scores, new), exact=True)

    def _kept(self, positive: Flags, weights: Array | None) -> Flags:
        """The rows that weights leave in: row i with probability w_i / max w."""
        if weights is None:
            return np.ones(len(positive), dtype=bool)
        _refuse_counts(weights)
        # Positives need no weights where nothing is assumed of them.
        counts = ~positive if self.assume == "negatives" else np.ones(len(positive), dtype=bool)
        largest = weights[counts].max(initial=0.0)
        if largest == 0.0:
            return weights > 0
        chance = np.where(counts, weights / largest, weights > 0)
        draws = check_random_state(self.random_state).random_sample(len(weights))
        return np.asarray(draws < chance)

    def _check_list(self, new_scores: ArrayLike) -> Array:
        values = np.asarray(new_scores)
        if self._fold is None:
            if values.ndim == 2:
                raise ValueError(
                    f"new_scores must be 1-D, one score a row, got shape {values.shape}. Scores by "
                    "the models of folds need calibration rows with their folds: fit(..., fold=)."
                )
            return check_scores(values, np.size(values), "new_scores").astype(np.float64)
        if values.ndim != 2 or len(values) != self._n_folds:
            raise ValueError(
                "The calibration scores are those of folds (out-of-fold), and one refitted model's "
                "scores must not be held against them: the two differ in scale. Pass the list's "
                f"scores by every fold's model (CV+), an array of shape ({self._n_folds}, N), got "
                f"shape {values.shape}."
            )
        rows = [check_scores(row, values.shape[1], "new_scores") for row in values]
        return np.array(rows, dtype=np.float64)


def one_row_each(groups: ArrayLike, *, random_state: Any = None) -> NDArray[np.intp]:
    """Draw one row of each group, so that the rows that are left are independent.

    Parameters
    ----------
    groups : array-like of shape (n,)
        The group of each row: the customer, the patient, the machine.
    random_state : int, RandomState instance or None, default=None
        Decides which row is drawn.

    Returns
    -------
    ndarray of shape (n_groups,)
        Row numbers, ascending.

    Examples
    --------
    >>> from toprank.guarantees import one_row_each
    >>> one_row_each(["ann", "bob", "ann", "cy"], random_state=0).tolist()
    [1, 2, 3]
    """
    column = as_column("groups", groups)
    shuffled = check_random_state(random_state).permutation(len(column))
    _, first = np.unique(column[shuffled], return_index=True)
    return np.sort(shuffled[first])


def _plain(labels: NDArray[Any]) -> bool:
    """Return whether labels name the positive class, even if all are equal."""
    return labels.dtype.kind in "biuf" and bool(
        np.isin(labels, (0, 1)).all() or np.isin(labels, (-1, 1)).all()
    )


def _refuse_counts(weights: Array) -> None:
    whole = bool((weights == np.floor(weights)).all())
    if whole and (weights[weights > 0] != weights.max()).any():
        raise ValueError(
            "sample_weight holds whole numbers, as if it counted equal rows. Copies of a row tell "
            "nothing new, and no promise can rest on them: pass each row once. If they are one "
            "over the probability with which rows were drawn, divide them by the largest."
        )


def _folds(fold: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    column = as_column("fold", fold)
    if len(column) != n_rows:
        raise ValueError(f"fold has {len(column)} rows but y has {n_rows}.")
    if column.dtype.kind not in "iu" or column.min() < 0:
        raise ValueError("fold must number the folds 0, 1, 2, ..., one number a row.")
    if column.max() == 0:
        raise ValueError("fold names one fold only: its model has seen every row, or none.")
    return column.astype(np.int64)


def _without_ties(scores: Array, new: Array, random: np.random.RandomState) -> tuple[Array, Array]:
    """Ranks in place of scores, ties broken at random."""
    together = np.concatenate([scores, new])
    rank = np.empty(len(together))
    rank[np.lexsort((random.random_sample(len(together)), together))] = np.arange(len(together))
    return rank[: len(scores)], rank[len(scores) :]


def _drift(scores: Array, new: Array) -> float:
    """The p of Kolmogorov and Smirnov's test, asymptotically."""
    return float(stats.ks_2samp(scores, new, method="asymp").pvalue)


def _drift_by_fold(scores: Array, groups: list[Flags], new: Array) -> float:
    """The least p of the folds, times their number."""
    p = [
        _drift(scores[group], listed)
        for group, listed in zip(groups, new, strict=True)
        if group.any()
    ]
    return min(1.0, len(p) * min(p))


__all__ = ["HeadBound", "one_row_each"]
