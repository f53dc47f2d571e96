"""The result of a comparison, and rank tests over the results of several data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import rankdata

from ..._compat import cached_property
from ...metrics import corrected_t_test
from ...metrics._scorers import metric_of
from ..head.setup import Capacity
from ..rank_tests import Friedman, critical_difference, friedman, holm, holm_adjusted, ranks
from .cells import Cell, Data, fitted
from .models import REFERENCE

Rows = NDArray[np.int64]
Array = NDArray[np.float64]


class Comparison:
    """Models on the same folds of the same rows, as `compare` found them.

    Attributes
    ----------
    models : list of str
        Their names; the first that was not given is "logistic".
    metrics : list of str
        The names of the metrics; the first decides.
    figures : ndarray of shape (n_models, n_folds, n_metrics)
        The metric of the rows that each fold held out.
    best : str
        The model with the largest mean of the first metric; the earlier of equal ones.
    folds : list of (ndarray, ndarray)
        The rows that each fold was fitted on, and those it was not.
    test_share : float
        The share of rows that a fold holds out.
    positive : ndarray of shape (n_samples,)
        Which rows are positive.
    seconds : dict of str to float
        Seconds of all fits of a model.
    notes : dict
        Warnings of the fits: the first message of each model and kind.
    """

    def __init__(
        self,
        models: dict[str, Any],
        metrics: list[str],
        data: Data,
        folds: list[tuple[Rows, Rows]],
        cells: dict[tuple[str, int], Cell],
        *,
        capacity: Capacity | None,
        confidence: float,
    ) -> None:
        self.estimators, self.metrics, self.data = models, metrics, data
        self.folds, self.cells = folds, cells
        self.capacity, self.confidence = capacity, confidence
        self.figures = self._measured()

    def _measured(self) -> Array:
        found = np.empty((len(self.models), len(self.folds), len(self.metrics)))
        known = [metric_of(name) for name in self.metrics]
        for i, model in enumerate(self.models):
            for k, (_, test) in enumerate(self.folds):
                positive, scores = self.positive[test], self.cells[model, k].scores
                weight = None if self.data.weight is None else self.data.weight[test]
                for j, (metric, parameters) in enumerate(known):
                    try:
                        found[i, k, j] = metric(
                            positive, scores, sample_weight=weight, **parameters
                        )
                    except ValueError as error:
                        raise ValueError(f"{self.metrics[j]} of fold {k}: {error}") from error
        return found

    @property
    def models(self) -> list[str]:
        """The names of the models."""
        return list(self.estimators)

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive."""
        return np.asarray(self.data.y == 1)

    @property
    def reference(self) -> str:
        """The model that the others are tested against."""
        return REFERENCE

    @property
    def best(self) -> str:
        """The model with the largest mean of the first metric."""
        return self.models[int(np.argmax(self.figures[:, :, 0].mean(axis=1)))]

    @property
    def test_share(self) -> float:
        """The share of rows that a fold holds out."""
        shares = [len(test) / (len(training) + len(test)) for training, test in self.folds]
        return float(np.mean(shares))

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of all fits of a model."""
        return {model: sum(self.facts(model, "seconds")) for model in self.models}

    @cached_property
    def notes(self) -> dict[tuple[str, str], str]:
        """Warnings of the fits, the first of each model and kind."""
        found: dict[tuple[str, str], str] = {}
        for (model, _), cell in self.cells.items():
            for category, message in cell.facts["notes"]:
                found.setdefault((model, category), message)
        return found

    def facts(self, model: str, name: str) -> list[Any]:
        """A fact of the fits of a model, fold by fold; None where they do not know it."""
        self._place(model)
        return [self.cells[model, k].facts.get(name) for k in range(len(self.folds))]

    def results(self) -> Any:
        """A row for each model, fold and metric.

        Returns
        -------
        DataFrame, or dict of ndarray without pandas
            The columns `model`, `fold`, `metric`, `value`, `seconds` (of the fit), `rows` and
            `positives` (held out).
        """
        rows = [
            (
                model,
                k,
                metric,
                self.figures[i, k, j],
                self.cells[model, k].facts["seconds"],
                len(test),
                int(self.positive[test].sum()),
            )
            for i, model in enumerate(self.models)
            for k, (_, test) in enumerate(self.folds)
            for j, metric in enumerate(self.metrics)
        ]
        names = ("model", "fold", "metric", "value", "seconds", "rows", "positives")
        return _frame(names, rows)

    def table(self) -> Any:
        """A row for each model and metric: the mean over the folds, and its interval.

        The interval widens the spread of the folds by the rows they share (Nadeau and Bengio).

        Returns
        -------
        DataFrame, or dict of ndarray without pandas
            The columns `model`, `metric`, `mean`, `low`, `high`.
        """
        rows = [
            (model, metric, *self.interval(model, metric))
            for model in self.models
            for metric in self.metrics
        ]
        return _frame(("model", "metric", "mean", "low", "high"), rows)

    def interval(self, model: str, metric: str | None = None) -> tuple[float, float, float]:
        """The mean of a metric over the folds, and its interval.

        Parameters
        ----------
        model : str
            Which model.
        metric : str, optional
            Which metric; the first without it.

        Returns
        -------
        tuple of float
            Mean, lower and upper end.
        """
        values = self._figures(model, metric)
        name = metric or self.metrics[0]
        n, share = len(values), self.test_share
        error = np.sqrt((1.0 / n + share / (1.0 - share)) * values.var(ddof=1))
        reach = float(stdtrit(n - 1, 0.5 + self.confidence / 2.0) * error)
        mean = float(values.mean())
        low, high = mean - reach, mean + reach
        # These metrics are not shares, so their intervals may leave [0, 1].
        if not name.startswith(("dcg", "lift")):
            low, high = max(low, 0.0), min(high, 1.0)
        return mean, low, high

    def tests(self, metric: str | None = None, against: str | None = None) -> Any:
        """Test every model against one, by the paired t test, corrected for shared rows.

        Parameters
        ----------
        metric : str, optional
            Which metric; the first without it.
        against : str, optional
            The model that the others are tested against; logistic regression without it. Choose
            it before you look at the figures.

        Returns
        -------
        DataFrame, or dict of ndarray without pandas
            The columns `model`, `against`, `metric`, `difference` (of the means), its interval
            `low` to `high`, `p`, and `p_adjusted` by Holm's method for this number of models.
        """
        name, other = metric or self.metrics[0], against or self.reference
        own = self._figures(other, name)
        others = [model for model in self.models if model != other]
        found = [
            corrected_t_test(
                self._figures(model, name),
                own,
                test_share=self.test_share,
                confidence=self.confidence,
            )
            for model in others
        ]
        adjusted = holm_adjusted(np.array([test.p for test in found]))
        rows = [
            (model, other, name, test.difference, test.low, test.high, test.p, float(p))
            for model, test, p in zip(others, found, adjusted, strict=True)
        ]
        names = ("model", "against", "metric", "difference", "low", "high", "p", "p_adjusted")
        return _frame(names, rows)

    def oof_scores(self, model: str | None = None) -> Array:
        """The score of every row by the fold that held it out.

        Parameters
        ----------
        model : str, optional
            Which model; the best without it.

        Returns
        -------
        ndarray of shape (n_samples,)
            NaN for a row that no fold held out; by the last of several. The folds are different
            models: compare scores within a fold, or take `standing`.
        """
        name = self.best if model is None else model
        self._place(name)
        found = np.full(len(self.positive), np.nan)
        for k, (_, test) in enumerate(self.folds):
            found[test] = self.cells[name, k].scores
        return found

    def standing(self, model: str | None = None) -> tuple[Rows, Array]:
        """Return ranks of held-out rows in their folds, on one scale.

        Parameters
        ----------
        model : str, optional
            Which model; the best without it.

        Returns
        -------
        rows : ndarray of shape (n_held_out,)
            Row numbers, fold by fold; a row as often as it was held out.
        standing : ndarray of shape (n_held_out,)
            The share of the fold's rows that a row is ahead of: near 1 at the top. Ties share the
            mean. Sorted by it, the first k of all rows are the first of every fold, in proportion.
        """
        name = self.best if model is None else model
        self._place(name)
        rows = np.concatenate([test for _, test in self.folds])
        parts = []
        for k, (_, test) in enumerate(self.folds):
            ranks = rankdata(self.cells[name, k].scores)
            parts.append((ranks - 0.5) / len(test))
        return rows, np.concatenate(parts)

    def refit(self, model: str | None = None) -> Any:
        """Fit a model on all rows.

        Parameters
        ----------
        model : str, optional
            Which model; the best without it.

        Returns
        -------
        estimator
            Fitted; the labels are 0 and 1, 1 the positive one.
        """
        name = self.best if model is None else model
        self._place(name)
        return fitted(self.estimators[name], self.data)

    def _figures(self, model: str, metric: str | None) -> Array:
        if metric is not None and metric not in self.metrics:
            raise ValueError(f"{metric!r} was not measured; there are {', '.join(self.metrics)}.")
        j = 0 if metric is None else self.metrics.index(metric)
        return self.figures[self._place(model), :, j]

    def _place(self, model: str) -> int:
        if model not in self.estimators:
            raise ValueError(f"{model!r} was not compared; there are {', '.join(self.models)}.")
        return self.models.index(model)

    def __repr__(self) -> str:
        n, held_out = len(self.positive), len(self.folds)
        lines = [
            f"{len(self.models)} models on {held_out} folds of {n:,} rows, "
            f"{int(self.positive.sum()):,} of them positive; means and {100 * self.confidence:g} % "
            "intervals over the folds"
        ]
        wide = max(map(len, self.models))
        columns = [max(len(metric), 20) for metric in self.metrics]
        head = "  ".join(f"{m:>{w}}" for m, w in zip(self.metrics, columns, strict=True))
        lines.append(f"{'':<{wide}}  {head}  {'seconds':>8}")
        for model in sorted(self.models, key=lambda one: -self.interval(one)[0]):
            cells = []
            for metric, w in zip(self.metrics, columns, strict=True):
                mean, low, high = self.interval(model, metric)
                cells.append(f"{f'{mean:.3f} ({low:.3f}-{high:.3f})':>{w}}")
            lines.append(f"{model:<{wide}}  {'  '.join(cells)}  {self.seconds[model]:>8.1f}")
        return "\n".join(lines)


def _frame(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Any:
    """Rows as a frame where pandas is there, and else as columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    made = {
        name: np.array(column, dtype=object if column and isinstance(column[0], str) else None)
        for name, column in zip(names, columns, strict=True)
    }
    try:
        from pandas import DataFrame
    except ImportError:
        return made
    return DataFrame(made)


@dataclass(frozen=True)
class SeveralSets:
    """Models ranked on several data sets, a figure for each.

    Attributes
    ----------
    models, sets : list of str
        Their names.
    metric : str
        What was measured.
    figures : ndarray of shape (n_sets, n_models)
        Means over the folds of each set.
    average_ranks : ndarray of shape (n_models,)
        1 is the best.
    friedman : Friedman
        Whether the models differ at all.
    p_against_reference : ndarray of shape (n_models,)
        Holm's adjusted p values against logistic regression.
    critical_difference : float
        Two average ranks that differ by more differ significantly (Nemenyi, 5 %).
    """

    models: list[str]
    sets: list[str]
    metric: str
    figures: Array
    average_ranks: Array
    friedman: Friedman
    p_against_reference: Array
    critical_difference: float

    def __str__(self) -> str:
        wide = max(map(len, self.models))
        lines = [
            f"{len(self.models)} models on {len(self.sets)} sets by {self.metric}; all alike: "
            f"p {self.friedman.p_f:.2g}; ranks differ beyond {self.critical_difference:.2f}",
            f"{'':<{wide}}  average rank  p against logistic",
        ]
        rows = [
            f"{self.models[j]:<{wide}}  {self.average_ranks[j]:>12.2f}  "
            f"{self.p_against_reference[j]:>18.3f}"
            for j in np.argsort(self.average_ranks, kind="stable")
        ]
        return "\n".join(lines + rows)


def over_sets(comparisons: Mapping[str, Comparison], metric: str | None = None) -> SeveralSets:
    """Rank models over several data sets, and test whether they differ.

    Parameters
    ----------
    comparisons : dict of str to Comparison
        What `compare` found on each set, with the same models; two sets or more.
    metric : str, optional
        Which metric; the first of the comparisons without it.

    Returns
    -------
    SeveralSets
        Average ranks, Friedman's test, Holm's p values against logistic regression, Nemenyi's
        critical difference.

    Examples
    --------
    >>> from toprank import BBR
    >>> from toprank.datasets import make_noisy_linear
    >>> from toprank.selection import compare, over_sets
    >>> found = {}
    >>> for seed in range(3):
    ...     X, y = make_noisy_linear(400, random_state=seed)
    ...     found[f"set {seed}"] = compare({"BBR": BBR()}, X, y, cv=3)
    >>> over_sets(found).figures.shape
    (3, 2)
    """
    if len(comparisons) < 2:
        raise ValueError(f"comparisons holds {len(comparisons)} sets: rank tests need two or more.")
    first = next(iter(comparisons.values()))
    name = metric or first.metrics[0]
    rows = []
    for called, one in comparisons.items():
        if set(one.models) != set(first.models):
            raise ValueError(
                f"The set {called!r} has other models: {', '.join(one.models)} in place of "
                f"{', '.join(first.models)}."
            )
        rows.append([one.interval(model, name)[0] for model in first.models])
    figures, n = np.array(rows), len(rows)
    average = ranks(figures).mean(axis=0)
    return SeveralSets(
        models=first.models,
        sets=list(comparisons),
        metric=name,
        figures=figures,
        average_ranks=average,
        friedman=friedman(average, n),
        p_against_reference=holm(average, n, first.models.index(first.reference)),
        critical_difference=critical_difference(len(first.models), n),
    )


__all__ = ["Comparison", "SeveralSets", "over_sets"]
