"""The paper's methods and their settings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from toprank import LPPair, RankBoost, SoftMarginRank, SoftRankBoost
from toprank.exceptions import TrivialSolutionWarning
from two_aucs import Scored

#: The paper's shares of pairs, and one that it did not try: the default of LPPair.
EPSILONS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
LARGER = 0.5
#: The paper's own method, SoftMarginRank: with nu+ by its rounds of (9) and (7), as its
#: experiments had it, and with that of Corollary 4.
REDUCTION, COROLLARY = "reduction", "Corollary 4"
OF_PAPER = {"nu_plus": "paper"}


def _scored(name: str, epsilon: float, ranker: Any, X: Any, y: Any, X_test: Any) -> Scored:
    """A fit's scores, and whether it stopped short."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        scores = ranker.fit(X, y).decision_function(X_test)
    short = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    return Scored(name, f"{epsilon:g}", scores, short)


@dataclass(frozen=True)
class SoftMargins:
    """LP-Pair or the reduction, an epsilon after the other; a trivial optimum is kept."""

    name: str
    epsilons: Sequence[float] = EPSILONS
    how: dict[str, Any] = field(default_factory=dict)

    def __call__(self, X: Any, y: Any, X_test: Any) -> Iterator[Scored]:
        """Scores for every epsilon."""
        kind = LPPair if self.name.startswith("LP-Pair") else SoftMarginRank
        for epsilon in self.epsilons:
            ranker = kind(epsilon, on_trivial="keep", n_threads=1, **self.how)
            yield _scored(self.name, epsilon, ranker, X, y, X_test)


@dataclass(frozen=True)
class Boosted:
    """RankBoost, scored after several numbers of rounds of one fit."""

    rounds: Sequence[int]
    rankers: str
    name: str = "RankBoost"

    def __call__(self, X: Any, y: Any, X_test: Any) -> Iterator[Scored]:
        """Scores after these rounds, or after the last, where it is at the minimum before."""
        ranker = RankBoost(max(self.rounds), weak_learners=self.rankers, n_threads=1).fit(X, y)
        wanted, done = set(self.rounds), ranker.n_iter_
        for round_, scores in enumerate(ranker.staged_decision_function(X_test), start=1):
            for rounds in sorted(wanted):
                if round_ == min(rounds, done):
                    yield Scored(self.name, str(rounds), scores.copy())


@dataclass(frozen=True)
class SoftBoosted:
    """SoftRankBoost, the reconstruction, an epsilon after the other."""

    rankers: str
    epsilons: Sequence[float] = EPSILONS
    max_iter: int = 2000
    name: str = "SoftRankBoost"

    def __call__(self, X: Any, y: Any, X_test: Any) -> Iterator[Scored]:
        """Scores for every epsilon."""
        for epsilon in self.epsilons:
            ranker = SoftRankBoost(
                epsilon, weak_learners=self.rankers, n_estimators=self.max_iter, n_threads=1
            )
            yield _scored(self.name, epsilon, ranker, X, y, X_test)
