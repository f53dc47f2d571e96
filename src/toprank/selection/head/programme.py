"""The order of the race: feature sets, trees, forests, losses on the best features, ensembles."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from .contenders import Contender
from .effort import Effort
from .ensemble import Mixtures, nested
from .linear import Linear
from .race import Entry, Race
from .raw_table import seated
from .refine import Refined
from .roster import FAMILIES_OF_TREES, KERNEL, first_stage, second_stage, wants_losses

#: The order under a budget: what the evidence would drop first comes last.
_BY_WORTH = ("columns", "trees", "extra trees", "nystroem", "squashed", "bins")
#: Losses are tried on linear scores that are behind the best by no more than this share of its
#: score: they gain a point or two.
_NEAR = 0.03
#: Candidates whose weights can be read: the best of them is chosen, not an ensemble.
_READABLE = ("linear", "fast")


def run(
    race: Race, candidates: Any, trees: Any, refined: float | None, seed: int, effort: Effort
) -> Entry:
    """Run the candidates, with a second stage for a share of the list if there is one.

    Returns the chosen entry.
    """
    is_sparse = sparse.issparse(race.data.X)
    first = first_stage(candidates, trees, race.data, seed, effort)
    first = [seated(contender, race.data) for contender in first]
    if race.budget is not None:
        first.sort(key=_worth)
    else:
        first.sort(key=lambda contender: contender.features == KERNEL)
    losses, mixes = wants_losses(candidates, effort), _may_mix(first, candidates, is_sparse)
    race.bar.total = len(first) + 2 * losses + (refined is not None) + mixes
    linear: list[Entry] = []
    for place, contender in enumerate(first):
        entry = race.run(contender, always=place == 0, **_rival(race, contender, linear, effort))
        if contender.family == Linear.family and entry.ran:
            linear.append(entry)
        _forget(linear, race)
    for_comparison = candidates == "linear" and trees == "auto"
    if linear and losses and (for_comparison or _leads(race.best(linear), race)):
        winner = race.best(linear)
        second = second_stage(winner, race.data, is_sparse, seed)
        race.bar.total = race.bar.done + len(second) + (refined is not None) + mixes
        linear += [race.run(contender, rival=winner) for contender in second]
        linear = [entry for entry in linear if entry.ran]
    if linear and refined is not None:
        linear += second_look(race, race.best(linear), refined)
    race.bar.total = race.bar.done + mixes
    _check_any(race)
    if for_comparison and linear:
        for entry in race.entries:
            if entry.contender.family in FAMILIES_OF_TREES:
                entry.note, entry.eligible = entry.note or "for comparison only", False
    if mixes:
        _add_ensemble(race, candidates, seed)
    return race.best()


def _may_mix(first: list[Contender], candidates: Any, is_sparse: bool) -> bool:
    """Return whether an ensemble may follow: not of linear scores alone, except by default."""
    if is_sparse or (isinstance(candidates, str) and candidates in _READABLE):
        return False
    others = any(one.family != Linear.family for one in first)
    return candidates == "default" or (len(first) > 1 and others)


def _rival(race: Race, contender: Contender, linear: list[Entry], effort: Effort) -> dict[str, Any]:
    """Return what drops an expensive candidate after the first fold, if anything does."""
    if effort.tolerance is None or not any(entry.ran for entry in race.entries):
        return {}
    if contender.features == KERNEL and linear:
        return {"rival": race.best(linear)}
    if contender.family in FAMILIES_OF_TREES:
        return {"rival": race.best(), "tolerance": effort.tolerance}
    return {}


def _leads(linear: Entry, race: Race) -> bool:
    """Return whether another loss on the features of a linear score could be the best of all."""
    best = race.best().mean
    return linear.mean >= best - _NEAR * abs(best)


def _check_any(race: Race) -> None:
    """Raise an error if no candidate ran."""
    if any(entry.ran for entry in race.entries):
        return
    dropped = [entry for entry in race.entries if entry.note.startswith("dropped")]
    if len(dropped) == len(race.entries):
        told = "; ".join(f"{entry.contender.name} {entry.note}" for entry in dropped)
        raise ValueError(f"No candidate can race for these rows: {told}.")
    raise ValueError(
        "No candidate tells the rows apart: every one gives all of them the same score. Are "
        "the columns of X constant, or the same in both classes?"
    )


def _add_ensemble(race: Race, candidates: Any, seed: int) -> None:
    """Select an ensemble; it may be chosen if nested selection does not speak against it."""
    race.bar.begin("ensemble")
    members = [entry for entry in race.entries if entry.ran and entry.eligible]
    linear = all(one.contender.family == Linear.family for one in members)
    entry, note = None, race.over
    if not note and (len(members) < 2 or (candidates != "default" and linear)):
        note = "none, too few candidates are left"
    elif not note:
        entry, note = _ensemble(Mixtures(race.data, members, seed))
    if entry is None:
        race.bar.end(f"ensemble: {note}")
        return
    if entry.nested_scores is not None and entry.nested_scores.mean() < nested(members).mean():
        entry.note, entry.eligible = "behind the best single candidate in nested selection", False
    race.add(entry)


def _ensemble(mixtures: Mixtures) -> tuple[Entry | None, str]:
    """Return the entry of an ensemble, or None and why there is none."""
    try:
        entry = mixtures.entry(mixtures.weights())
    except AttributeError:
        if mixtures.data.judge.by_decisions:
            raise
        return None, "none, scoring needs more than scores, such as predict"
    return entry, "none, one candidate has all the weight"


def _forget(linear: list[Entry], race: Race) -> None:
    """Let go of the features of all linear scores except the best so far."""
    for entry in linear:
        if isinstance(entry.contender, Linear) and entry is not race.best(linear):
            entry.contender.making.forget()


def second_look(race: Race, winner: Entry, share: float) -> list[Entry]:
    """The linear winner refined: it may be chosen if it gains more than the error of the gain."""
    if not isinstance(winner.contender, Linear):
        return []
    entry = race.run(Refined(winner.contender, winner.setting, share))
    if entry.ran:
        gain, error = entry.ahead_of(winner)
        if gain <= error:
            entry.note, entry.eligible = "gains no more than the error: not taken", False
    return [entry]


def _worth(contender: Contender) -> int:
    """The place of a candidate in the order under a budget."""
    name = contender.features if contender.features in _BY_WORTH else contender.name
    return _BY_WORTH.index(name) if name in _BY_WORTH else len(_BY_WORTH) - 2


__all__ = ["run"]
