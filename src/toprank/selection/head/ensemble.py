"""Ensembles: weighted means of stretched ranks, selected by the measure of the head."""

from __future__ import annotations

import time
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import make_scorer

from ...metrics import average_precision
from ...metrics._scorers import score_decisions, takes_weights
from ..fold_path import FoldFit, Table
from .features import decisions_of
from .race_data import RaceData, RaceResult

Array = NDArray[np.float64]

#: Selections that are averaged, each among a part of the candidates drawn at random. The average
#: depends less on chance than one selection where positives are few.
_BAGS, _PART = 5, 0.6
#: Held-out positives at which selected weights count as much as equal weights of the best candidate
#: of each family. With few positives the selection follows chance. On 38 small splits of six sets
#: this gains 0.3 points of average precision, and 100 or 400 about as much.
_PRIOR = 200
#: Held-out rows of a fold that the selection sorts; of more it takes the positives and a sample.
_SORTED = 20_000
#: The class of scikit-learn's scorers, which pass all rows to the estimator.
_SCORER = type(make_scorer(average_precision))


class _Scores(ClassifierMixin, BaseEstimator):
    """A classifier of known scores, for scorers of scikit-learn: the only column of X."""

    classes_ = np.array([0, 1])

    def decision_function(self, X: Array) -> Array:
        """Return the only column."""
        return X[:, 0]


class EnsembleSelection:
    """Weighted means of several candidates' stretched ranks, and their scores on each fold."""

    def __init__(self, data: RaceData, results: list[RaceResult], seed: int) -> None:
        self.data, self.results, self.seed = data, results, seed
        self.folds = [k for k, fit in enumerate(results[0].fits) if fit.both_classes]
        self._rng = np.random.default_rng(seed)
        self._places: dict[int, Array] = {}
        self._labels: dict[int, tuple[NDArray[np.bool_], Array | None]] = {}
        for k in self.folds:
            self._set_fold(k)

    def _set_fold(self, k: int) -> None:
        test = self.data.folds.held_out(k)[counted(self.data, k)]
        positive = self.data.y[test] == 1
        weight = None if self.data.weight is None else self.data.weight[test]
        ranks = np.array([stretched(self._decisions(i, k)) for i in range(len(self.results))])
        rows = self._sample(positive)
        if rows is not None:
            stands_for = np.where(positive[rows], 1.0, (~positive).sum() / (~positive[rows]).sum())
            weight = stands_for if weight is None else stands_for * weight[rows]
            positive, ranks = positive[rows], ranks[:, rows]
        self._places[k], self._labels[k] = ranks, (positive, weight)

    def _decisions(self, i: int, k: int) -> Array:
        """Return the decisions of the held-out rows of a weight."""
        return np.asarray(self.results[i].fits[k].decisions[counted(self.data, k)])

    def _sample(self, positive: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """Return all positives and some negatives, where sorting all rows would take long."""
        judge, negative = self.data.judge, np.flatnonzero(~positive)
        if len(negative) <= _SORTED or not judge.by_decisions or not takes_weights(judge.scorer):
            return None
        if isinstance(judge.scorer._kwargs.get("k"), Integral):  # type: ignore[attr-defined]
            return None
        taken = self._rng.choice(negative, _SORTED, replace=False)
        return np.sort(np.concatenate([np.flatnonzero(positive), taken]))

    def _measure(self, weights: Array, mixed: Array, k: int) -> float:
        judge, (positive, weight) = self.data.judge, self._labels[k]
        if judge.by_decisions:
            return score_decisions(judge.scorer, positive, mixed, weight)
        if isinstance(judge.scorer, _SCORER):
            options = {} if weight is None else {"sample_weight": weight}
            labels = positive.astype(np.int64)
            return float(judge.scorer(_Scores(), mixed[:, np.newaxis], labels, **options))
        model = self.blend(weights / weights.sum(), k)
        return self.data.score(model, mixed, self.data.folds.held_out(k))

    def blend(self, weights: Array, k: int) -> Blend:
        """Return the mixture of the models of a fold."""
        members = np.flatnonzero(weights).tolist()
        curves = tuple(Stretch(self._decisions(i, k)) for i in members)
        models = tuple(self.results[i].fits[k].ranker for i in members)
        return Blend(models, curves, _listed(weights))

    def select(self, folds: list[int]) -> Array:
        """Return the mean weights of several selections."""
        n = len(self.results)
        rng, part = np.random.default_rng(self.seed), max(2, round(_PART * n))
        bags = [np.sort(rng.choice(n, part, replace=False)) for _ in range(_BAGS if n > 2 else 1)]
        return np.asarray(np.mean([self._greedy(bag, folds) for bag in bags], axis=0))

    def _greedy(self, bag: NDArray[np.int64], folds: list[int]) -> Array:
        """Select weights among some candidates: add the one that gains most, step by step."""
        counts = np.zeros(len(self.results))
        best, best_counts = -np.inf, counts
        total = {k: np.zeros(self._places[k].shape[1]) for k in folds}
        # Each step adds 1/10 of the weight to a member.
        for _ in range(10):
            scores = [self._raised(counts, total, i, folds) for i in bag]
            i = int(bag[np.argmax(scores)])
            counts[i] += 1.0
            for k in folds:
                total[k] += self._places[k][i]
            if max(scores) > best:
                best, best_counts = max(scores), counts.copy()
        return np.asarray(best_counts / best_counts.sum())

    def _raised(self, counts: Array, total: dict[int, Array], i: int, folds: list[int]) -> float:
        """Return the mean measure with one more of candidate i."""
        raised = counts + (np.arange(len(counts)) == i)
        return float(
            np.mean([self._measure(raised, total[k] + self._places[k][i], k) for k in folds])
        )

    def best_of_families(self, folds: list[int]) -> Array:
        """Return equal weights of the best candidate of each family that is near the best."""
        scores = [[result.fits[k].score for k in folds] for result in self.results]
        means = np.mean(scores, axis=1)
        # A family takes part if it scores at least this share of the best.
        floor = means.max() - (1.0 - 0.85) * abs(means.max())
        chosen: dict[str, int] = {}
        for i in np.argsort(-means, kind="stable"):
            if means[i] >= floor:
                chosen.setdefault(self.results[i].candidate.family, int(i))
        weights = np.zeros(len(means))
        weights[list(chosen.values())] = 1.0 / len(chosen)
        return weights

    def weights(self, folds: list[int] | None = None) -> Array:
        """Return the weights that the scores on some folds suggest, all of them by default.

        They are selected, and moved towards equal weights of the families where positives are few.
        A scorer that is a function of the rows takes too long for a selection, so that equal
        weights remain.
        """
        folds = self.folds if folds is None else folds
        weights = self.best_of_families(folds)
        if self.data.judge.by_decisions or isinstance(self.data.judge.scorer, _SCORER):
            count = sum(int(self._labels[k][0].sum()) for k in folds)
            weights = (_PRIOR * weights + count * self.select(folds)) / (_PRIOR + count)
        # An ensemble has at most five members.
        weights[np.argsort(-weights, kind="stable")[5:]] = 0.0
        # Members of less weight than this cost a fit and change little.
        weights[weights < 0.05 * weights.sum()] = 0.0
        return np.asarray(weights / weights.sum())

    def nested_scores(self) -> Array | None:
        """Return the score on each fold of weights that the other folds select."""
        if len(self.folds) < 2:
            return None
        scores = []
        for k in self.folds:
            others = [other for other in self.folds if other != k]
            weights = self.weights(others)
            scores.append(self._measure(weights, weights @ self._places[k], k))
        return np.array(scores)

    def result(self, weights: Array) -> RaceResult | None:
        """Return the entry of an ensemble; None if one candidate has all the weight."""
        began, own = time.perf_counter(), np.flatnonzero(weights)
        if len(own) < 2:
            return None
        fits = []
        for k in range(self.data.folds.count):
            model = self.blend(weights, k)
            decisions = sum(weights[i] * places(self.results[i].fits[k], self.data, k) for i in own)
            test = self.data.folds.held_out(k)
            fits.append([self.data.fit_of(model, np.asarray(decisions), test, began)])
        table = Table(np.array([0.0]))
        table.add(fits)
        members = tuple(self.results[i] for i in own)
        candidate = Ensemble(members, _listed(weights))
        result = RaceResult(candidate, table, 0.0, nested_scores=self.nested_scores())
        result.seconds = time.perf_counter() - began
        result.keep_best()
        return result


def counted(data: RaceData, k: int) -> Any:
    """Return the held-out rows of a fold that have a weight: a mask, or a slice of all."""
    return slice(None) if data.weight is None else data.weight[data.folds.held_out(k)] > 0.0


def places(fit: FoldFit, data: RaceData, k: int) -> Array:
    """Return stretched ranks among the held-out rows that have a weight."""
    own = counted(data, k)
    known = fit.decisions[own]
    made = stretched(known)
    if len(known) < len(fit.decisions):
        made, ranks = Stretch(known)(fit.decisions), made
        made[own] = ranks
    return made


def nested(results: list[RaceResult]) -> Array:
    """Return the score on each fold of the single candidate and setting best on the others."""
    scores: Any = np.hstack([result.scores_of_settings for result in results])  # type: ignore[misc]
    if len(scores) < 2:
        return np.asarray(scores.max(axis=1))
    chosen = [np.argmax(np.delete(scores, k, axis=0).mean(axis=0)) for k in range(len(scores))]
    return np.array([scores[k, place] for k, place in enumerate(chosen)])


def nested_estimate(chosen: RaceResult, results: list[RaceResult]) -> Array:
    """Return the score on each fold of what the other folds would have chosen."""
    if chosen.nested_scores is not None:
        return chosen.nested_scores
    return nested(
        [one for one in results if one.ran and one.eligible and one.nested_scores is None]
    )


def _listed(weights: Array) -> tuple[float, ...]:
    """Return the weights of the members alone."""
    return tuple(float(weight) for weight in weights if weight)


@dataclass(frozen=True)
class Ensemble:
    """A weighted mean of the stretched ranks of several candidates."""

    members: tuple[RaceResult, ...]
    weights: tuple[float, ...]
    setting: str = ""
    family: str = "ensembles"

    @property
    def name(self) -> str:
        """Return the weights and names of the members, the heaviest first."""
        order = np.argsort(-np.array(self.weights), kind="stable")
        parts = [f"{self.weights[i]:.2g} {self.members[i].candidate.name}" for i in order]
        return "ensemble: " + " + ".join(parts)

    @property
    def features(self) -> str:
        """Return the feature sets of the members."""
        return "; ".join(dict.fromkeys(result.candidate.features for result in self.members))

    @property
    def loss(self) -> str:
        """Return the losses of the members."""
        return "; ".join(dict.fromkeys(result.candidate.loss for result in self.members))

    def path(self, *_: Any) -> tuple[Array, list[FoldFit]]:
        """Raise: an ensemble is selected among fits that are there."""
        raise NotImplementedError

    def next_setting(self, setting: float) -> float | None:
        """Return None: an ensemble has no setting."""
        return None

    def final(self, data: RaceData, setting: float) -> Blend:
        """Return the members fitted on all rows."""
        own = [counted(data, k) for k in range(data.folds.count)]
        models, curves = [], []
        for result in self.members:
            parts = [fit.decisions[rows] for fit, rows in zip(result.fits, own, strict=True)]
            models.append(result.candidate.final(data, result.setting))
            curves.append(Stretch(np.concatenate(parts)))
        return Blend(tuple(models), tuple(curves), self.weights)


def stretched(scores: Array) -> Array:
    """-log(1 - rank / (n + 1)), the highest score ranked n: a step at the head counts most."""
    return np.asarray(-np.log1p(-rankdata(scores) / (len(scores) + 1.0)))


class Stretch:
    """The same for scores of new rows: their place among scores that are known.

    Between two known scores, and beyond the last, the curve goes straight on, so that the order of
    rows is kept wherever they lie. A curve keeps a thousand scores, or about as many of more: the
    highest, and of the others those whose ranks are one percent apart.
    """

    def __init__(self, known: Array) -> None:
        scores, first = np.unique(known, return_index=True)
        values = stretched(known)[first]
        self.slopes = tuple(_slope(scores, values, low=low) for low in (True, False))
        kept = knots(len(scores))
        self.scores, self.values = scores[kept], values[kept]

    def __call__(self, scores: Array) -> Array:
        """The stretched places."""
        made = np.interp(scores, self.scores, self.values)
        below, above = self.slopes
        made = made + below * np.minimum(scores - self.scores[0], 0.0)
        return np.asarray(made + above * np.maximum(scores - self.scores[-1], 0.0))


def knots(n: int) -> NDArray[np.int64]:
    """Return which of n rising scores a curve keeps."""
    if n <= 1000:
        return np.arange(n)
    ranks = list(range(200))
    while ranks[-1] < n - 1:
        ranks.append(min(int(ranks[-1] * 1.01) + 1, n - 1))
    return np.asarray(n - 1 - np.array(ranks[::-1]))


def _slope(scores: Array, values: Array, *, low: bool) -> float:
    """Return how steeply the curve ends."""
    n = len(scores)
    if n < 2:
        return 1.0
    # The curve ends with the slope over 20 scores, or a tenth of them if they are fewer.
    step = max(1, min(20, n // 10))
    one, other = (0, step) if low else (n - 1 - step, n - 1)
    run = max(scores[other] - scores[one], np.finfo(float).tiny)  # the slope stays finite
    return float((values[other] - values[one]) / run)


class Blend(ClassifierMixin, BaseEstimator):
    """A weighted mean of several models' stretched places."""

    classes_ = np.array([0, 1])

    def __init__(
        self,
        models: tuple[Any, ...],
        curves: tuple[Stretch, ...],
        weights: tuple[float, ...],
    ) -> None:
        self.models = models
        self.curves = curves
        self.weights = weights

    def decision_function(self, X: Any) -> Array:
        """Return the blended score."""
        total: Any = 0.0
        for model, curve, weight in zip(self.models, self.curves, self.weights, strict=True):
            total = total + weight * curve(decisions_of(model, X))
        return np.asarray(total)

    def __sklearn_is_fitted__(self) -> bool:
        return True


__all__ = [
    "Blend",
    "Ensemble",
    "EnsembleSelection",
    "Stretch",
    "knots",
    "nested",
    "nested_estimate",
    "places",
    "stretched",
]
