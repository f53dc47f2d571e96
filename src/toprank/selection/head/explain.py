"""Explanations: contributions of columns to scores, and the choice in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...inputs.folds import Folds
from ...trees import TreeEnsemble
from .ensemble import Blend, Ensemble, places
from .features import WORDS, decisions_of
from .linear import LinearScore, RefinedScore
from .race import DROPPED_AFTER_FIRST_FOLD, fit_quietly
from .race_data import RaceData, RaceResult
from .setup import Capacity
from .trees import BoostedTrees, Forest

Array = NDArray[np.float64]

#: The row that a fitted step knows to compare with, and its name: a HeadRanker's, a scaler's.
_TYPICAL = {"medians_": "the row of medians", "mean_": "a mean row"}
#: What the best candidate of trees is called beside the chosen one.
_ALONE = {BoostedTrees.family: "boosted trees alone", Forest.family: "a forest alone"}
#: Random folds that show what they would have claimed.
_RANDOM = 2


@dataclass(frozen=True)
class Explanation:
    """The scores of rows, taken apart by columns.

    ``baseline + contributions.sum(axis=1) + remainder`` are the scores.

    Attributes
    ----------
    contributions : ndarray or CSR array of shape (n_samples, n_features)
        What each column adds to each row's score.
    baseline : float
        The score of the row of medians, or of zeros where the rows are sparse.
    remainder : ndarray of shape (n_samples,)
        What no column can be given: the interplay of three columns or more. Zero up to rounding
        for every linear score of columns, bins and pairs.
    names : ndarray of shape (n_features,)
        The names of the columns, or x0, x1, ...
    """

    contributions: Any
    baseline: float
    remainder: Array
    names: NDArray[Any]

    def top(self, row: int, k: int = 5) -> list[tuple[str, float]]:
        """The columns that move a row most, with what they add to its score.

        Parameters
        ----------
        row : int
            Which of the rows that were explained.
        k : int, default=5
            How many columns.

        Returns
        -------
        list of (str, float)
            The largest first, by size.
        """
        own = self.contributions[[row]]
        values = np.asarray(own.todense() if hasattr(own, "todense") else own).ravel()
        order = np.argsort(-np.abs(values), kind="stable")[:k]
        return [(str(self.names[j]), float(values[j])) for j in order]


def by_columns(
    score: Callable[[Array], Array],
    X: Array,
    typical: Array,
    groups: Sequence[NDArray[np.intp]] | None = None,
) -> tuple[Array, float, Array]:
    """Half of what a column adds to a typical row, and half of what it adds to the rest of its own.

    contribution_j = ((f(b with x_j) - f(b)) + (f(x) - f(x with b_j))) / 2

    For a score that is a sum of functions of one column and of two, these are the columns' Shapley
    values against the typical row b, and sum to f(x) - f(b). Where there are groups of columns,
    such as those made of one column of a table, each takes the place of a column.
    """
    groups = [np.array([j]) for j in range(len(typical))] if groups is None else groups
    baseline, whole = float(score(typical[np.newaxis])[0]), score(X)
    contributions = np.zeros((len(X), len(groups)))
    for j, own in enumerate(groups):
        moved = np.flatnonzero((X[:, own] != typical[own]).any(axis=1))
        if not len(moved):
            continue
        here = np.ix_(moved, own)
        alone = np.repeat(typical[np.newaxis], len(moved), axis=0)
        alone[:, own] = X[here]
        without = X[moved]
        without[:, own] = typical[own]
        added = score(alone) - baseline, whole[moved] - score(without)
        contributions[moved, j] = 0.5 * (added[0] + added[1])
    return contributions, baseline, whole - baseline - contributions.sum(axis=1)


def explained(
    model: Any, X: Array, typical: Array, groups: Sequence[NDArray[np.intp]] | None = None
) -> tuple[Array, float, Array]:
    """Take the scores of a model apart by columns, or by groups of them.

    Trees are taken apart along the paths of the rows, a blend by its models.
    """
    if isinstance(model, TreeEnsemble):
        return _along_paths(model, X, typical, groups)
    if isinstance(model, Blend):
        return _blended(model, X, typical, groups)
    return by_columns(lambda part: decisions_of(model, part), X, typical, groups)


def _along_paths(
    trees: TreeEnsemble, X: Array, typical: Array, groups: Sequence[NDArray[np.intp]] | None
) -> tuple[Array, float, Array]:
    """Contributions beyond those of the typical row: both add up to scores minus a mean."""
    rows = np.vstack([typical, X])
    both = trees.contributions(rows)
    added = both[1:] - both[0]
    if groups is not None:
        added = np.column_stack([added[:, own].sum(axis=1) for own in groups])
    scores = trees.decision_function(rows)
    baseline, whole = float(scores[0]), scores[1:]
    return added, baseline, whole - baseline - added.sum(axis=1)


def _blended(
    blend: Blend, X: Array, typical: Array, groups: Sequence[NDArray[np.intp]] | None
) -> tuple[Array, float, Array]:
    """Sum the models' contributions, each scaled by the slope of its curve from the typical row."""
    width = len(typical) if groups is None else len(groups)
    total, baseline, whole = np.zeros((len(X), width)), 0.0, np.zeros(len(X))
    for model, curve, weight in zip(blend.models, blend.curves, blend.weights, strict=True):
        added, start, rest = explained(model, X, typical, groups)
        scores = start + added.sum(axis=1) + rest
        begun, places = float(curve(np.array([start]))[0]), curve(scores)
        rise, run = places - begun, scores - start
        slope = np.divide(rise, run, out=np.zeros_like(run), where=run != 0.0)
        total += weight * slope[:, np.newaxis] * added
        baseline += weight * begun
        whole += weight * places
    return total, baseline, whole - baseline - total.sum(axis=1)


def typical_row(steps: Iterable[Any]) -> tuple[Array, str] | None:
    """The row that the first of these steps to know one compares with, and what it is called."""
    for step in steps:
        for name, words in _TYPICAL.items():
            if getattr(step, name, None) is not None:
                return np.asarray(getattr(step, name)), words
    return None


def by_weights(model: Any, X: Any) -> tuple[Any, float, Array]:
    """The terms of a linear score of sparse rows, scaled column by column or row by row."""
    features, ranker = model["features"], model["ranker"]
    contributions = features.transform(X).multiply(ranker.coef_).tocsr()
    return contributions, float(ranker.intercept_[0]), np.zeros(X.shape[0])


def why(
    chosen: RaceResult,
    results: list[RaceResult],
    scoring: Any,
    capacity: Capacity | None,
    *,
    points: bool,
    assumed: bool,
) -> str:
    """The choice in words: what it is, what it is ahead of, what was assumed and dropped."""
    measure = scoring if isinstance(scoring, str) else "the scorer that was given"
    folds = len(chosen.fold_scores)
    said = [
        f"Chosen: {_named(chosen)}, by {measure}: {chosen.mean:.4f} +- {chosen.error:.4f} over "
        f"{folds} folds."
    ]
    first = results[0]
    trees = _best_trees(results)
    if first.ran and first is not chosen and first.candidate.family not in _ALONE:
        plain = isinstance(first.candidate, LinearScore) and first.candidate.loss == "logistic"
        words = WORDS.get(first.candidate.features, "")
        what = f"logistic regression on {words}" if plain else first.candidate.name
        said.append(_ahead(chosen, first, what, points))
    if trees is not None and trees.ran and trees is not chosen:
        ahead, error = trees.difference(chosen)
        if ahead > 0.0 and not trees.eligible:
            sure = "" if ahead > error else ", which is within the error"
            said.append(
                f"Trees would be ahead by {_difference(trees, chosen, points)}{sure}: pass "
                "candidates='default', or trees=True."
            )
        else:
            said.append(_ahead(chosen, trees, _ALONE[trees.candidate.family], points))
    if capacity is not None:
        where = ", the length of the training set, for no list_size was given" if assumed else ""
        said.append(f"The capacity is {capacity}{where}.")
    said += [
        f"{result.candidate.name} was left out ({result.note})."
        for result in results
        if not result.ran and not result.note.startswith(DROPPED_AFTER_FIRST_FOLD)
    ]
    return " ".join(said)


def few_positives(data: RaceData, scores: NDArray[Any]) -> int | None:
    """Return the number of positives held out if it is too small for an estimate, else None."""
    counted = ~np.isnan(scores)
    if data.weight is not None:
        counted &= data.weight > 0.0
    n = int((data.y[counted] == 1).sum())
    # With fewer than 25 positives the standard error of a recall of 1/2 is above 0.1.
    return n if n < 25 else None


def caveats(nested: NDArray[Any], few: int | None, claim: float | None) -> str:
    """Return what an estimate for new rows says, and how much it is worth."""
    mean, error = nested.mean(), nested.std(ddof=1) / np.sqrt(len(nested)) if len(nested) > 1 else 0
    said = f" On new rows expect about {mean:.4f} +- {error:.4f}: each fold is judged by what the"
    said += " other folds choose."
    if claim is not None and np.isfinite(claim):
        said += f" Random folds, which mix earlier and later rows, would claim {claim:.4f}."
    if few is not None:
        said += f" Only {few} positive rows were held out: these figures are rough."
    return said


def _best_trees(results: list[RaceResult]) -> RaceResult | None:
    """Return the best single candidate of trees, None if none ran."""
    ran = [result for result in results if result.ran and result.candidate.family in _ALONE]
    return max(ran, key=lambda result: result.mean, default=None)


def _named(result: RaceResult) -> str:
    candidate = result.candidate
    if candidate.setting in ("alpha", "mu"):
        return (
            f"{candidate.loss} on {WORDS[candidate.features]} with "
            f"{candidate.setting}={result.setting:.3g}"
        )
    if candidate.setting:
        return f"{candidate.name} with {candidate.setting}={result.setting:g}"
    return candidate.name


def _ahead(one: RaceResult, other: RaceResult, what: str, points: bool) -> str:
    if one.difference(other)[0] == 0.0:
        return f"It is level with {what}."
    return f"It is ahead of {what} by {_difference(one, other, points)}."


def _difference(one: RaceResult, other: RaceResult, points: bool) -> str:
    mean, error = one.difference(other)
    if points:
        return f"{100 * mean:.1f} +- {100 * error:.1f} points"
    return f"{mean:.3g} +- {error:.2g}"


def random_claim(chosen: RaceResult, data: RaceData, seed: int) -> float:
    """Return the mean score of the chosen candidate on random folds of the last fold's size."""
    training, test = data.folds[data.folds.count - 1]
    rng = np.random.default_rng(seed)
    listed = []
    for _ in range(_RANDOM):
        order = rng.permutation(len(data.y))[: len(training) + len(test)]
        listed.append((np.sort(order[len(test) :]), np.sort(order[: len(test)])))
    mixed = replace(data, folds=Folds(_RANDOM, None, listed), exchangeable=False)
    scores = [_score_of(chosen, mixed, k) for k in range(_RANDOM)]
    known = [score for score in scores if np.isfinite(score)]
    return float(np.mean(known)) if known else float("nan")


def _score_of(chosen: RaceResult, data: RaceData, k: int) -> float:
    """Return the score of a candidate, at its setting, on one fold."""
    if not data.both_classes(data.folds.training(k)):
        return float("nan")
    candidate = chosen.candidate
    members = candidate.members if isinstance(candidate, Ensemble) else (chosen,)
    weights = candidate.weights if isinstance(candidate, Ensemble) else (1.0,)
    fits = [_fit_of(member, data, k) for member in members]
    parts = zip(weights, fits, strict=True)
    total = np.sum([weight * places(fit, data, k) for weight, fit in parts], axis=0)
    return data.score(fits[0].ranker, total, data.folds.held_out(k))


def _fit_of(result: RaceResult, data: RaceData, k: int) -> Any:
    _, fits = fit_quietly(_without_features(result.candidate), data, k, np.array([result.setting]))
    return fits[0]


def _without_features(candidate: Any) -> Any:
    """Return a candidate without the features that it made for other folds."""
    if isinstance(candidate, RefinedScore):
        return replace(candidate, first=_without_features(candidate.first))
    if isinstance(candidate, LinearScore):
        cache = replace(candidate.cache, known={}, whole=None, ready=None)
        return replace(candidate, cache=cache)
    return candidate


__all__ = ["Explanation", "by_columns", "by_weights", "random_claim", "typical_row", "why"]
