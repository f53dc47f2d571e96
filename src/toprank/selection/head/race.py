"""The race: every contender in every fold, within a budget of time if there is one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from ..._compat import cached_property
from ..fold_path import FoldFit
from ..table import Table
from .blocks import is_much, release
from .contenders import Contender, Data, LeftOut
from .progress import Bar

Array = NDArray[np.float64]

#: Settings beyond the best of the first fold that are tried, while they gain.
_EXTENSIONS = 2
#: A score this share below the best is nearly as good: another fold may see it otherwise.
_NEAR = 0.02
#: How the note begins of one that was dropped after the first fold.
BEHIND = "behind"


@dataclass
class Entry:
    """A contender that has raced: its folds at every setting, or why it has none."""

    contender: Contender
    table: Table | None
    seconds: float
    #: Why it was dropped, or what else there is to say.
    note: str = ""
    #: Whether it may be chosen.
    eligible: bool = True
    #: The score of every fold at every setting, also at those whose fits are gone.
    scores_of_settings: Array | None = None
    #: The score of every fold by what the other folds choose, of an ensemble.
    nested_scores: Array | None = None

    @property
    def ran(self) -> bool:
        """Whether it has scores."""
        return self.table is not None

    @cached_property
    def best(self) -> int:
        """The place of its best setting."""
        assert self.table is not None
        return self.table.best

    @property
    def setting(self) -> float:
        """Its best setting."""
        return float(self.table.alphas[self.best]) if self.table is not None else float("nan")

    @property
    def mean(self) -> float:
        """The mean score of the folds, at its best setting."""
        return float(self.table.means[self.best]) if self.table is not None else float("nan")

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(self.table.errors[self.best]) if self.table is not None else float("nan")

    @property
    def fold_scores(self) -> Array:
        """The scores of the folds that can be scored."""
        assert self.table is not None
        return np.asarray(self.table.scores[:, self.best])

    @property
    def fits(self) -> list[FoldFit]:
        """The fit of every fold at its best setting."""
        assert self.table is not None
        return [fits[self.best] for fits in self.table.folds]

    def ahead_of(self, other: Entry) -> tuple[float, float]:
        """The mean of the differences of the folds' scores, and its standard error."""
        d = self.fold_scores - other.fold_scores
        error = float(d.std(ddof=1) / np.sqrt(len(d))) if len(d) > 1 else 0.0
        return float(d.mean()), error

    def slim(self) -> None:
        """Forget the fits at other settings than the best."""
        if self.table is not None:
            self.scores_of_settings = self.table.scores
            slim = Table(self.table.alphas[[self.best]])
            slim.folds = [[fit] for fit in self.fits]
            self.table = slim
            self.best = 0


@dataclass
class Race:
    """Runs contenders one by one; `entries` is the leaderboard in the order they ran."""

    data: Data
    n_jobs: int | None = None
    budget: float | None = None
    bar: Bar = field(default_factory=lambda: Bar(shown=False))
    #: Called after each candidate with their number; True asks for no more of them.
    told: Callable[[int], bool] = lambda _: False
    stopped: bool = False
    entries: list[Entry] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    def run(
        self,
        contender: Contender,
        *,
        always: bool = False,
        rival: Entry | None = None,
        tolerance: float = 0.0,
    ) -> Entry:
        """Let a contender race; beyond the budget it is dropped, unless it is to run always.

        One with a rival is dropped after the first fold unless it is ahead of the rival there, or
        behind it by less than `tolerance` of the rival's score.
        """
        self.bar.begin(contender.name)
        entry = self._tried(contender, always, rival, tolerance)
        making = getattr(contender, "making", None)
        if making is not None and is_much(self.data.X):
            making.release()
        if entry.table is not None and _tells_nothing(entry.fits):
            entry = Entry(contender, None, entry.seconds, "trivial: the same score for every row")
        return self.add(entry)

    def add(self, entry: Entry) -> Entry:
        """Add an entry to the leaderboard."""
        self.entries.append(entry)
        figures = f"{entry.mean:.4f} +- {entry.error:.4f}" if entry.ran else entry.note
        self.bar.end(f"{entry.contender.name}: {figures} in {entry.seconds:.1f} s")
        self.stopped = self.told(len(self.entries)) or self.stopped
        return entry

    def _tried(
        self, contender: Contender, always: bool, rival: Entry | None, tolerance: float
    ) -> Entry:
        began, lead = time.perf_counter(), self.data.lead
        if not always and (note := self.over):
            return Entry(contender, None, 0.0, note)
        try:
            settings, first = quietly(contender, self.data, lead, None)
        except LeftOut as why:
            return Entry(contender, None, time.perf_counter() - began, f"dropped: {why}")
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
                note = f"{BEHIND}: {best:.4f} in the first fold, {rival.contender.name} {bar:.4f}"
        if note:
            return Entry(contender, None, one, note)
        table = self._table(contender, settings, first)
        told = getattr(contender, "note", "")
        entry = Entry(contender, table, time.perf_counter() - began, told)
        entry.slim()
        return entry

    def _table(self, contender: Contender, settings: Array, first: list[FoldFit]) -> Table:
        """All folds at the settings about the best of the first fold, and on while they gain."""
        lead, listed = self.data.lead, list(settings)
        known: dict[int, dict[float, FoldFit]] = {k: {} for k in range(self.data.folds.count)}
        known[lead].update(zip(listed, first, strict=True))
        scores = np.nan_to_num([fit.score for fit in first])
        low, high = about(scores)
        restarts = getattr(contender, "restarts", False)
        for _ in range(1 if restarts else _EXTENSIONS + 1):
            self._complete(contender, listed[low:high], known)
            table = Table(np.array(listed[low:high]))
            table.add([[fits[one] for one in listed[low:high]] for fits in known.values()])
            if not _rising(table):
                break
            if high < len(listed):
                if scores[high] < _near_best(scores):
                    break  # the first fold speaks against it
            else:
                more = contender.beyond(listed[-1])
                if more is None:
                    break
                listed.append(more)
            high += 1
        return table

    def _complete(
        self, contender: Contender, settings: list[float], known: dict[int, dict[float, FoldFit]]
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
            delayed(quietly)(contender, data, k, np.array(own), after.get(k))
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

    def best(self, among: list[Entry] | None = None) -> Entry:
        """The entry with the largest mean, the earlier of equal ones."""
        among = self.entries if among is None else among
        ran = [entry for entry in among if entry.ran and entry.eligible]
        return max(ran, key=lambda entry: entry.mean)

    def held_out(self, entry: Entry) -> Array:
        """The score of every row by the fold that held it out; NaN for a row that none did."""
        return self.data.folds.joined((fit.decisions for fit in entry.fits), len(self.data.y))


def quietly(
    contender: Contender, data: Data, fold: int, settings: Array | None, after: Any = None
) -> tuple[Array, list[FoldFit]]:
    """The fits of a fold, without their warnings: a worker has filters of its own.

    A fold that stops short is judged by its score all the same; the final fit speaks.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = contender.path(data, fold, settings, after)
    release(data.X)
    return fits


def about(scores: Array) -> tuple[int, int]:
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


def _tells_nothing(fits: list[FoldFit]) -> bool:
    """Whether a fold's optimum is trivial, or every fold that counts scores all rows alike."""
    if any(_trivial(fit.ranker) for fit in fits):
        return True
    counted = [fit.decisions for fit in fits if fit.both_classes]
    return bool(counted) and all(np.ptp(decisions) == 0.0 for decisions in counted)


def _trivial(model: Any) -> bool:
    ranker = model[-1] if hasattr(model, "named_steps") else model
    return bool(getattr(ranker, "trivial_", False))


__all__ = ["BEHIND", "Entry", "Race", "quietly"]
