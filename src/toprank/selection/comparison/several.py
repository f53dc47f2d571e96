"""Rank tests over the comparisons of several data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rank_tests import Friedman, critical_difference, friedman, holm, ranks
from .result import Comparison

Array = NDArray[np.float64]


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


__all__ = ["SeveralSets", "over_sets"]
