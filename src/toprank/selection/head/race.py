"""The race: the order of the candidates, their folds, and which are dropped early."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from ..fold_path import FoldFit, Table
from .candidates import FAMILIES_OF_TREES, KERNEL, bind, candidates_of, other_losses, wants_losses
from .effort import Effort
from .ensemble import EnsembleSelection, nested
from .features import is_much, release
from .linear import LinearScore, RefinedScore
from .race_data import Candidate, LeftOut, RaceData, RaceResult

Array = NDArray[np.float64]

#: The order under a budget: what the evidence would drop first comes last.
_BY_WORTH = ("columns", "trees", "extra trees", "nystroem", "squashed", "bins")
#: Losses are tried on linear scores that are behind the best by no more than this share of its
#: score: they gain a point or two.
_NEAR_FOR_LOSSES = 0.03
#: Candidates whose weights can be read: the best of them is chosen, not an ensemble.
_READABLE = ("linear", "fast")
#: Settings beyond the best of the first fold that are tried, while they gain.
_EXTENSIONS = 2
#: A score this share below the best is nearly as good: another fold may see it otherwise.
_NEAR = 0.02
#: How the note begins of one that was dropped after the first fold.
DROPPED_AFTER_FIRST_FOLD = "behind"
#: Characters of the bar.
_WIDTH = 20
#: Characters of a line that is written over, at the most.
_LINE = 79


def run(
    race: Race, candidates: Any, trees: Any, refined: float | None, seed: int, effort: Effort
) -> RaceResult:
    """Run the candidates, with a second stage for a share of the list if there is one.

    Returns the chosen entry.
    """
    is_sparse = sparse.issparse(race.data.X)
    first = candidates_of(candidates, trees, race.data, seed, effort)
    first = [bind(candidate, race.data) for candidate in first]
    if race.budget is not None:
        first.sort(key=_worth)
    else:
        first.sort(key=lambda candidate: candidate.features == KERNEL)
    losses, mixes = wants_losses(candidates, effort), _may_mix(first, candidates, is_sparse)
    race.bar.total = len(first) + 2 * losses + (refined is not None) + mixes
    linear: list[RaceResult] = []
    for place, candidate in enumerate(first):
        result = race.run(candidate, always=place == 0, **_rival(race, candidate, linear, effort))
        if candidate.family == LinearScore.family and result.ran:
            linear.append(result)
        _forget(linear, race)
    for_comparison = candidates == "linear" and trees == "auto"
    if linear and losses and (for_comparison or _leads(race.best(linear), race)):
        winner = race.best(linear)
        second = other_losses(winner, race.data, is_sparse, seed)
        race.bar.total = race.bar.done + len(second) + (refined is not None) + mixes
        linear += [race.run(candidate, rival=winner) for candidate in second]
        linear = [result for result in linear if result.ran]
    if linear and refined is not None:
        linear += _refine(race, race.best(linear), refined)
    race.bar.total = race.bar.done + mixes
    _check_any(race)
    if for_comparison and linear:
        for result in race.results:
            if result.candidate.family in FAMILIES_OF_TREES:
                result.note, result.eligible = result.note or "for comparison only", False
    if mixes:
        _add_ensemble(race, candidates, seed)
    return race.best()


def _may_mix(first: list[Candidate], candidates: Any, is_sparse: bool) -> bool:
    """Return whether an ensemble may follow: not of linear scores alone, except by default."""
    if is_sparse or (isinstance(candidates, str) and candidates in _READABLE):
        return False
    others = any(one.family != LinearScore.family for one in first)
    return candidates == "default" or (len(first) > 1 and others)


def _rival(
    race: Race, candidate: Candidate, linear: list[RaceResult], effort: Effort
) -> dict[str, Any]:
    """Return what drops an expensive candidate after the first fold, if anything does."""
    if effort.tolerance is None or not any(result.ran for result in race.results):
        return {}
    if candidate.features == KERNEL and linear:
        return {"rival": race.best(linear)}
    if candidate.family in FAMILIES_OF_TREES:
        return {"rival": race.best(), "tolerance": effort.tolerance}
    return {}


def _leads(linear: RaceResult, race: Race) -> bool:
    """Return whether another loss on the features of a linear score could be the best of all."""
    best = race.best().mean
    return linear.mean >= best - _NEAR_FOR_LOSSES * abs(best)


def _check_any(race: Race) -> None:
    """Raise an error if no candidate ran."""
    if any(result.ran for result in race.results):
        return
    dropped = [result for result in race.results if result.note.startswith("dropped")]
    if len(dropped) == len(race.results):
        told = "; ".join(f"{result.candidate.name} {result.note}" for result in dropped)
        raise ValueError(f"No candidate can race for these rows: {told}.")
    raise ValueError(
        "No candidate tells the rows apart: every one gives all of them the same score. Are "
        "the columns of X constant, or the same in both classes?"
    )


def _add_ensemble(race: Race, candidates: Any, seed: int) -> None:
    """Select an ensemble; it may be chosen if nested selection does not speak against it."""
    race.bar.begin("ensemble")
    members = [result for result in race.results if result.ran and result.eligible]
    linear = all(one.candidate.family == LinearScore.family for one in members)
    result, note = None, race.over
    if not note and (len(members) < 2 or (candidates != "default" and linear)):
        note = "none, too few candidates are left"
    elif not note:
        result, note = _ensemble(EnsembleSelection(race.data, members, seed))
    if result is None:
        race.bar.end(f"ensemble: {note}")
        return
    if result.nested_scores is not None and result.nested_scores.mean() < nested(members).mean():
        result.note, result.eligible = "behind the best single candidate in nested selection", False
    race.add(result)


def _ensemble(mixtures: EnsembleSelection) -> tuple[RaceResult | None, str]:
    """Return the entry of an ensemble, or None and why there is none."""
    try:
        result = mixtures.result(mixtures.weights())
    except AttributeError:
        if mixtures.data.judge.by_decisions:
            raise
        return None, "none, scoring needs more than scores, such as predict"
    return result, "none, one candidate has all the weight"


def _forget(linear: list[RaceResult], race: Race) -> None:
    """Let go of the features of all linear scores except the best so far."""
    for result in linear:
        if isinstance(result.candidate, LinearScore) and result is not race.best(linear):
            result.candidate.cache.forget()


def _refine(race: Race, winner: RaceResult, share: float) -> list[RaceResult]:
    """The linear winner refined: it may be chosen if it gains more than the error of the gain."""
    if not isinstance(winner.candidate, LinearScore):
        return []
    result = race.run(RefinedScore(winner.candidate, winner.setting, share))
    if result.ran:
        gain, error = result.difference(winner)
        if gain <= error:
            result.note, result.eligible = "gains no more than the error: not taken", False
    return [result]


def _worth(candidate: Candidate) -> int:
    """The place of a candidate in the order under a budget."""
    name = candidate.features if candidate.features in _BY_WORTH else candidate.name
    return _BY_WORTH.index(name) if name in _BY_WORTH else len(_BY_WORTH) - 2


@dataclass
class Race:
    """Runs contenders one by one; `results` is the leaderboard in the order they ran."""

    data: RaceData
    n_jobs: int | None = None
    budget: float | None = None
    bar: Bar = field(default_factory=lambda: Bar(shown=False))
    #: Called after each candidate with their number; True asks for no more of them.
    told: Callable[[int], bool] = lambda _: False
    stopped: bool = False
    results: list[RaceResult] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    def run(
        self,
        candidate: Candidate,
        *,
        always: bool = False,
        rival: RaceResult | None = None,
        tolerance: float = 0.0,
    ) -> RaceResult:
        """Let a contender race; beyond the budget it is dropped, unless it is to run always.

        One with a rival is dropped after the first fold unless it is ahead of the rival there, or
        behind it by less than `tolerance` of the rival's score.
        """
        self.bar.begin(candidate.name)
        result = self._fit_folds(candidate, always, rival, tolerance)
        if isinstance(candidate, LinearScore) and is_much(self.data.X):
            candidate.cache.release()
        if result.table is not None and _is_constant(result.fits):
            result = RaceResult(
                candidate, None, result.seconds, "trivial: the same score for every row"
            )
        return self.add(result)

    def add(self, result: RaceResult) -> RaceResult:
        """Add an entry to the leaderboard."""
        self.results.append(result)
        figures = f"{result.mean:.4f} +- {result.error:.4f}" if result.ran else result.note
        self.bar.end(f"{result.candidate.name}: {figures} in {result.seconds:.1f} s")
        self.stopped = self.told(len(self.results)) or self.stopped
        return result

    def _fit_folds(
        self, candidate: Candidate, always: bool, rival: RaceResult | None, tolerance: float
    ) -> RaceResult:
        began, lead = time.perf_counter(), self.data.lead
        if not always and (note := self.over):
            return RaceResult(candidate, None, 0.0, note)
        try:
            settings, first = fit_quietly(candidate, self.data, lead, None)
        except LeftOut as why:
            return RaceResult(candidate, None, time.perf_counter() - began, f"dropped: {why}")
        one = time.perf_counter() - began
        # The other folds, and a fit on all rows, which is a little dearer than a fold's.
        rounds = np.ceil((self.data.folds.count - 1) / self.jobs) + 1.0
        note = ""
        if not always and one * rounds > self._left():
            ahead = f"{one * rounds:.1f} s"
            note = f"dropped: it would have taken {ahead}, more than the budget leaves"
        elif rival is not None:
            best, bar = max(fit.score for fit in first), rival.fits[lead].score
            floor = bar - tolerance * abs(bar)
            # With a tolerance a tie is no reason to drop: both may score 0 in a fold.
            if best < floor or (best == floor and not tolerance):
                scores = f"{best:.4f} in the first fold, {rival.candidate.name} {bar:.4f}"
                note = f"{DROPPED_AFTER_FIRST_FOLD}: {scores}"
        if note:
            return RaceResult(candidate, None, one, note)
        table = self._table(candidate, settings, first)
        told = getattr(candidate, "note", "")
        result = RaceResult(candidate, table, time.perf_counter() - began, told)
        result.keep_best()
        return result

    def _table(self, candidate: Candidate, settings: Array, first: list[FoldFit]) -> Table:
        """All folds at the settings about the best of the first fold, and on while they gain."""
        lead, listed = self.data.lead, list(settings)
        known: dict[int, dict[float, FoldFit]] = {k: {} for k in range(self.data.folds.count)}
        known[lead].update(zip(listed, first, strict=True))
        scores = np.nan_to_num([fit.score for fit in first])
        low, high = _first_settings(scores)
        restarts = getattr(candidate, "restarts", False)
        for _ in range(1 if restarts else _EXTENSIONS + 1):
            self._complete(candidate, listed[low:high], known)
            table = Table(np.array(listed[low:high]))
            table.add([[fits[one] for one in listed[low:high]] for fits in known.values()])
            if not _rising(table):
                break
            if high < len(listed):
                if scores[high] < _near_best(scores):
                    break  # the first fold speaks against it
            else:
                more = candidate.next_setting(listed[-1])
                if more is None:
                    break
                listed.append(more)
            high += 1
        return table

    def _complete(
        self, candidate: Candidate, settings: list[float], known: dict[int, dict[float, FoldFit]]
    ) -> None:
        """Fit the folds at those of the settings that they lack."""
        data = self.data if self.jobs == 1 else replace(self.data, n_threads=1)
        lacks = {k: [one for one in settings if one not in fits] for k, fits in known.items()}
        lacks = {k: own for k, own in lacks.items() if own}
        # Where the last setting alone is new, a fit goes on from the one before it.
        goes_on = len(settings) > 1
        after = {
            k: known[k].get(settings[-2])
            for k, own in lacks.items()
            if goes_on and own == settings[-1:]
        }
        made = Parallel(n_jobs=min(self.jobs, len(lacks) or 1))(
            delayed(fit_quietly)(candidate, data, k, np.array(own), after.get(k))
            for k, own in lacks.items()
        )
        for (k, own), (_, fits) in zip(lacks.items(), made, strict=True):
            known[k].update(zip(own, fits, strict=True))

    @property
    def over(self) -> str:
        """Return why no more candidates run, "" if they do."""
        if self.stopped:
            return "dropped: a callback asked to stop"
        return "dropped: the budget was spent" if self._left() <= 0.0 else ""

    @property
    def jobs(self) -> int:
        """Folds that are fitted at a time."""
        return min(int(effective_n_jobs(self.n_jobs)), max(self.data.folds.count - 1, 1))

    def _left(self) -> float:
        return np.inf if self.budget is None else self.budget - (time.perf_counter() - self.began)

    def best(self, among: list[RaceResult] | None = None) -> RaceResult:
        """The entry with the largest mean, the earlier of equal ones."""
        among = self.results if among is None else among
        ran = [result for result in among if result.ran and result.eligible]
        return max(ran, key=lambda result: result.mean)

    def held_out(self, result: RaceResult) -> Array:
        """The score of every row by the fold that held it out; NaN for a row that none did."""
        return self.data.folds.joined((fit.decisions for fit in result.fits), len(self.data.y))


def fit_quietly(
    candidate: Candidate, data: RaceData, fold: int, settings: Array | None, after: Any = None
) -> tuple[Array, list[FoldFit]]:
    """The fits of a fold, without their warnings: a worker has filters of its own.

    A fold that stops short is judged by its score all the same; the final fit speaks.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = candidate.path(data, fold, settings, after)
    release(data.X)
    return fits


def _first_settings(scores: Array) -> tuple[int, int]:
    """The settings, from one to before another, that the other folds begin with.

    They are in the order of what they cost: the best of the first fold, the one before it, and
    all cheaper ones in a row that are nearly as good; the two cheapest at the least.
    """
    best = int(np.argmax(scores))
    low = max(best - 1, 0)
    while low > 0 and scores[low - 1] >= _near_best(scores):
        low -= 1
    return low, min(max(best + 1, 2), len(scores))


def _near_best(scores: Array) -> float:
    best = float(np.max(scores))
    return best - _NEAR * abs(best)


def _rising(table: Table) -> bool:
    """Whether the last setting is the best, and better than the one before by its error."""
    if table.best != len(table.alphas) - 1 or len(table.alphas) < 2:
        return False
    gains = table.scores[:, -1] - table.scores[:, -2]
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return bool(gains.mean() > error)


def _is_constant(fits: list[FoldFit]) -> bool:
    """Whether a fold's optimum is trivial, or every fold that counts scores all rows alike."""
    if any(_trivial(fit.ranker) for fit in fits):
        return True
    counted = [fit.decisions for fit in fits if fit.both_classes]
    return bool(counted) and all(np.ptp(decisions) == 0.0 for decisions in counted)


def _trivial(model: Any) -> bool:
    ranker = model[-1] if hasattr(model, "named_steps") else model
    return bool(getattr(ranker, "trivial_", False))


#: Called with the candidate that runs, the number that are done, and the number there will be.
Watcher = Callable[[str, int, int], None]


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` whenever a candidate of a race begins or ends; its name is "" at the end."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@dataclass
class Bar:
    """Prints a line when a candidate is done and, on a terminal, one that says which is running."""

    shown: bool
    #: Candidates that there will be, as far as is known.
    total: int = 0
    done: int = 0

    def begin(self, name: str) -> None:
        """A candidate runs."""
        self._tell(name)
        if self.shown and sys.stdout.isatty():
            line = f"{self._bar()} {name} ..."
            print(f"\r{line[:_LINE]:<{_LINE}}\r", end="", flush=True)

    def end(self, told: str) -> None:
        """It is done."""
        self.done += 1
        self.total = max(self.total, self.done)
        self._tell("")
        if self.shown:
            line = f"{self._bar()} {told}"
            print(f"{line:<{_LINE}}" if sys.stdout.isatty() else line, flush=True)

    def _tell(self, name: str) -> None:
        watcher = _watcher.get()
        if watcher is not None:
            watcher(name, self.done, self.total)

    def _bar(self) -> str:
        filled = _WIDTH * self.done // max(self.total, 1)
        return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self.done}/{self.total}"


__all__ = ["DROPPED_AFTER_FIRST_FOLD", "Bar", "Race", "fit_quietly", "run", "watching"]
