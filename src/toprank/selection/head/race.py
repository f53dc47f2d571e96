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

#: Order of the candidates under a budget: those most likely to be chosen run first.
_BUDGET_ORDER = ("columns", "trees", "extra trees", "nystroem", "squashed", "bins")
#: Start of the note of a candidate that was dropped after the first fold.
DROPPED_AFTER_FIRST_FOLD = "behind"
#: Characters of the progress bar, and of a line that is overwritten.
_BAR, _LINE = 20, 79


@dataclass
class Race:
    """Fits candidates one by one; `results` lists them in the order they ran."""

    data: RaceData
    n_jobs: int | None = None
    budget: float | None = None
    bar: Bar = field(default_factory=lambda: Bar(shown=False))
    #: Called after each candidate with the number so far; returns True to stop.
    on_candidate: Callable[[int], bool] = lambda _: False
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
        """Fit a candidate in all folds. Beyond the budget it is dropped, unless `always`.

        With a rival it is dropped after the first fold if it is not ahead of the rival there. A
        `tolerance` allows it to be behind by that share of the rival's score.
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
        """Add a result to the leaderboard."""
        self.results.append(result)
        figures = f"{result.mean:.4f} +- {result.error:.4f}" if result.ran else result.note
        self.bar.end(f"{result.candidate.name}: {figures} in {result.seconds:.1f} s")
        self.stopped = self.on_candidate(len(self.results)) or self.stopped
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
        seconds = time.perf_counter() - began
        # The other folds, and the final fit, which costs a little more than a fold.
        rounds = np.ceil((self.data.folds.count - 1) / self.jobs) + 1.0
        note = ""
        if not always and (expected := seconds * rounds) > self._left():
            note = f"dropped: it would have taken {expected:.1f} s, more than the budget leaves"
        elif rival is not None:
            best, bar = max(fit.score for fit in first), rival.fits[lead].score
            floor = bar - tolerance * abs(bar)
            # With a tolerance a tie is no reason to drop: both may score 0 in a fold.
            if best < floor or (best == floor and not tolerance):
                scores = f"{best:.4f} in the first fold, {rival.candidate.name} {bar:.4f}"
                note = f"{DROPPED_AFTER_FIRST_FOLD}: {scores}"
        if note:
            return RaceResult(candidate, None, seconds, note)
        table = self._fit_table(candidate, settings, first)
        note = getattr(candidate, "note", "")
        result = RaceResult(candidate, table, time.perf_counter() - began, note)
        result.keep_best()
        return result

    def _fit_table(self, candidate: Candidate, settings: Array, first: list[FoldFit]) -> Table:
        """Fit all folds at settings around the best of the first fold, and on while they gain."""
        lead, tried = self.data.lead, list(settings)
        known: dict[int, dict[float, FoldFit]] = {k: {} for k in range(self.data.folds.count)}
        known[lead].update(zip(tried, first, strict=True))
        scores = np.nan_to_num([fit.score for fit in first])
        low, high = _first_settings(scores)
        restarts = getattr(candidate, "restarts", False)
        # Up to two settings are added beyond the best of the first fold.
        for _ in range(1 if restarts else 3):
            self._fit_missing(candidate, tried[low:high], known)
            table = Table(np.array(tried[low:high]))
            table.add([[fits[setting] for setting in tried[low:high]] for fits in known.values()])
            if not _still_gains(table):
                break
            if high < len(tried):
                if scores[high] < _near_best(scores):
                    break  # it was much worse in the first fold
            else:
                more = candidate.next_setting(tried[-1])
                if more is None:
                    break
                tried.append(more)
            high += 1
        return table

    def _fit_missing(
        self, candidate: Candidate, settings: list[float], known: dict[int, dict[float, FoldFit]]
    ) -> None:
        """Add the fits of all folds at the settings for which `known` has none."""
        data = self.data if self.jobs == 1 else replace(self.data, n_threads=1)
        missing = {k: [one for one in settings if one not in fits] for k, fits in known.items()}
        missing = {k: new for k, new in missing.items() if new}
        # If only the last setting is new, its fit starts from the one before it.
        after = {
            k: known[k].get(settings[-2])
            for k, new in missing.items()
            if len(settings) > 1 and new == settings[-1:]
        }
        fitted = Parallel(n_jobs=min(self.jobs, len(missing) or 1))(
            delayed(fit_quietly)(candidate, data, k, np.array(new), after.get(k))
            for k, new in missing.items()
        )
        for (k, new), (_, fits) in zip(missing.items(), fitted, strict=True):
            known[k].update(zip(new, fits, strict=True))

    @property
    def over(self) -> str:
        """Return why no more candidates run, or "" if more may run."""
        if self.stopped:
            return "dropped: a callback asked to stop"
        return "dropped: the budget was spent" if self._left() <= 0.0 else ""

    @property
    def jobs(self) -> int:
        """Number of folds that are fitted at the same time."""
        return min(int(effective_n_jobs(self.n_jobs)), max(self.data.folds.count - 1, 1))

    def _left(self) -> float:
        return np.inf if self.budget is None else self.budget - (time.perf_counter() - self.began)

    def best(self, among: list[RaceResult] | None = None) -> RaceResult:
        """Return the eligible result with the largest mean, the earliest of equal ones."""
        among = self.results if among is None else among
        ran = [result for result in among if result.ran and result.eligible]
        return max(ran, key=lambda result: result.mean)

    def held_out(self, result: RaceResult) -> Array:
        """Return the score of every row by the fold that held it out, NaN if none did."""
        return self.data.folds.joined((fit.decisions for fit in result.fits), len(self.data.y))


def fit_quietly(
    candidate: Candidate, data: RaceData, fold: int, settings: Array | None, after: Any = None
) -> tuple[Array, list[FoldFit]]:
    """Return the fits of a fold, without warnings: only the final fit warns.

    The filter is set here because worker processes have filters of their own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = candidate.path(data, fold, settings, after)
    release(data.X)
    return fits


def _first_settings(scores: Array) -> tuple[int, int]:
    """Return the range of settings that the other folds begin with, from the scores of the first.

    Settings are in the order of their cost. The range has the best one, the one before it, all
    cheaper ones in a row that are nearly as good, and at least the two cheapest.
    """
    best = int(np.argmax(scores))
    low = max(best - 1, 0)
    while low > 0 and scores[low - 1] >= _near_best(scores):
        low -= 1
    return low, min(max(best + 1, 2), len(scores))


def _near_best(scores: Array) -> float:
    best = float(np.max(scores))
    # Within 2 % of the best score a setting is nearly as good: other folds may prefer it.
    return best - 0.02 * abs(best)


def _still_gains(table: Table) -> bool:
    """Return whether the last setting is the best, by more than the error of the last gain."""
    if table.best != len(table.alphas) - 1 or len(table.alphas) < 2:
        return False
    gains = table.scores[:, -1] - table.scores[:, -2]
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return bool(gains.mean() > error)


def _is_constant(fits: list[FoldFit]) -> bool:
    """Return whether a fold's optimum is trivial, or all folds give all their rows one score."""
    if any(_is_trivial(fit.ranker) for fit in fits):
        return True
    counted = [fit.decisions for fit in fits if fit.both_classes]
    return bool(counted) and all(np.ptp(decisions) == 0.0 for decisions in counted)


def _is_trivial(model: Any) -> bool:
    ranker = model[-1] if hasattr(model, "named_steps") else model
    return bool(getattr(ranker, "trivial_", False))


def run_race(
    race: Race, candidates: Any, trees: Any, refined: float | None, seed: int, effort: Effort
) -> RaceResult:
    """Run all candidates, and return the chosen result.

    First run the candidates by name, then other losses on the best linear features, then the
    best linear score refined for a share `refined` of the list, then the ensemble.
    """
    is_sparse = sparse.issparse(race.data.X)
    first = candidates_of(candidates, trees, race.data, seed, effort)
    first = [bind(candidate, race.data) for candidate in first]
    if race.budget is not None:
        first.sort(key=_budget_order)
    else:
        first.sort(key=lambda candidate: candidate.features == KERNEL)
    with_losses = wants_losses(candidates, effort)
    with_ensemble = _may_mix(first, candidates, is_sparse)
    only_linear = candidates == "linear" and trees == "auto"  # trees run for comparison
    race.bar.total = len(first) + 2 * with_losses + (refined is not None) + with_ensemble
    linear: list[RaceResult] = []
    for number, candidate in enumerate(first):
        rival, tolerance = _rival(race, candidate, linear, effort)
        result = race.run(candidate, always=number == 0, rival=rival, tolerance=tolerance)
        if candidate.family == LinearScore.family and result.ran:
            linear.append(result)
        _release_features(linear, race)
    if linear and with_losses and (only_linear or _is_near_best(race.best(linear), race)):
        winner = race.best(linear)
        others = other_losses(winner, race.data, is_sparse, seed)
        race.bar.total = race.bar.done + len(others) + (refined is not None) + with_ensemble
        linear += [race.run(candidate, rival=winner) for candidate in others]
        linear = [result for result in linear if result.ran]
    if linear and refined is not None:
        linear += _refine(race, race.best(linear), refined)
    race.bar.total = race.bar.done + with_ensemble
    _check_any_ran(race)
    if only_linear and linear:
        for result in race.results:
            if result.candidate.family in FAMILIES_OF_TREES:
                result.note, result.eligible = result.note or "for comparison only", False
    if with_ensemble:
        _add_ensemble(race, candidates, seed)
    return race.best()


def _budget_order(candidate: Candidate) -> int:
    """Return the position of a candidate in the order under a budget."""
    name = candidate.features if candidate.features in _BUDGET_ORDER else candidate.name
    return _BUDGET_ORDER.index(name) if name in _BUDGET_ORDER else len(_BUDGET_ORDER) - 2


def _may_mix(first: list[Candidate], candidates: Any, is_sparse: bool) -> bool:
    """Return whether an ensemble may be chosen.

    Linear scores alone are mixed only by default. Scores of "linear" and "fast" stay readable.
    """
    if is_sparse or (isinstance(candidates, str) and candidates in ("linear", "fast")):
        return False
    others = any(one.family != LinearScore.family for one in first)
    return candidates == "default" or (len(first) > 1 and others)


def _rival(
    race: Race, candidate: Candidate, linear: list[RaceResult], effort: Effort
) -> tuple[RaceResult | None, float]:
    """Return the result that an expensive candidate must match in the first fold, and a tolerance.

    Kernel columns must be ahead of other linear scores. Trees may be behind by a little.
    """
    if effort.tolerance is None or not any(result.ran for result in race.results):
        return None, 0.0
    if candidate.features == KERNEL and linear:
        return race.best(linear), 0.0
    if candidate.family in FAMILIES_OF_TREES:
        return race.best(), effort.tolerance
    return None, 0.0


def _is_near_best(linear: RaceResult, race: Race) -> bool:
    """Return whether another loss on the features of a linear score could be the best of all."""
    best = race.best().mean
    # Other losses gain a point or two, so 3 % behind the best is too far.
    return linear.mean >= best - 0.03 * abs(best)


def _release_features(linear: list[RaceResult], race: Race) -> None:
    """Release the features of all linear scores except the best so far."""
    for result in linear:
        if isinstance(result.candidate, LinearScore) and result is not race.best(linear):
            result.candidate.cache.clear()


def _refine(race: Race, winner: RaceResult, share: float) -> list[RaceResult]:
    """Run the second stage of a linear score.

    It may be chosen if its gain is larger than the standard error of the gain.
    """
    if not isinstance(winner.candidate, LinearScore):
        return []
    result = race.run(RefinedScore(winner.candidate, winner.setting, share))
    if result.ran:
        gain, error = result.difference(winner)
        if gain <= error:
            result.note, result.eligible = "gains no more than the error: not taken", False
    return [result]


def _check_any_ran(race: Race) -> None:
    """Raise an error if no candidate ran."""
    if any(result.ran for result in race.results):
        return
    dropped = [result for result in race.results if result.note.startswith("dropped")]
    if len(dropped) == len(race.results):
        reasons = "; ".join(f"{result.candidate.name} {result.note}" for result in dropped)
        raise ValueError(f"No candidate can race for these rows: {reasons}.")
    raise ValueError(
        "Every candidate gave all rows the same score. Are the columns of X constant, or the same "
        "in both classes?"
    )


def _add_ensemble(race: Race, candidates: Any, seed: int) -> None:
    """Select an ensemble. It may be chosen unless nested selection prefers a single candidate."""
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


def _ensemble(selection: EnsembleSelection) -> tuple[RaceResult | None, str]:
    """Return the result of an ensemble, or None and the reason why there is none."""
    try:
        result = selection.result(selection.weights())
    except AttributeError:
        if selection.data.judge.by_decisions:
            raise
        return None, "none, scoring needs more than scores, such as predict"
    return result, "none, one candidate has all the weight"


#: Called with the candidate that runs, the number that are done, and the expected number.
Watcher = Callable[[str, int, int], None]


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` when a candidate of a race begins, and with the name "" when it ends."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@dataclass
class Bar:
    """Prints a line for each finished candidate and, on a terminal, for the running one."""

    shown: bool
    #: Expected number of candidates.
    total: int = 0
    done: int = 0

    def begin(self, name: str) -> None:
        """Show that a candidate runs."""
        self._notify(name)
        if self.shown and sys.stdout.isatty():
            line = f"{self._bar()} {name} ..."
            print(f"\r{line[:_LINE]:<{_LINE}}\r", end="", flush=True)

    def end(self, text: str) -> None:
        """Count a candidate as done, and print a line on it."""
        self.done += 1
        self.total = max(self.total, self.done)
        self._notify("")
        if self.shown:
            line = f"{self._bar()} {text}"
            print(f"{line:<{_LINE}}" if sys.stdout.isatty() else line, flush=True)

    def _notify(self, name: str) -> None:
        watcher = _watcher.get()
        if watcher is not None:
            watcher(name, self.done, self.total)

    def _bar(self) -> str:
        filled = _BAR * self.done // max(self.total, 1)
        return f"[{'#' * filled}{'.' * (_BAR - filled)}] {self.done}/{self.total}"


__all__ = ["DROPPED_AFTER_FIRST_FOLD", "Bar", "Race", "fit_quietly", "run_race", "watching"]
