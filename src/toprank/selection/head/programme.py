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
from .roster import FAMILIES_OF_TREES, first_stage, second_stage, wants_losses

#: The order under a budget: what the evidence would drop first comes last.
_BY_WORTH = ("columns", "trees", "extra trees", "nystroem", "squashed", "bins")
#: The features that race last: they are expensive, and dropped after a fold if they are behind.
_LATE = "nystroem"
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
        first.sort(key=lambda contender: contender.features == _LATE)
    race.bar.total = len(first) + 2 * wants_losses(candidates, effort) + (refined is not None)
    linear: list[Entry] = []
    for place, contender in enumerate(first):
        entry = race.run(contender, always=place == 0, **_rival(race, contender, linear, effort))
        if contender.family == Linear.family and entry.ran:
            linear.append(entry)
        _forget(linear, race)
    if linear and wants_losses(candidates, effort):
        winner = race.best(linear)
        second = second_stage(winner, race.data, is_sparse, seed)
        linear += [race.run(contender, rival=winner) for contender in second]
        linear = [entry for entry in linear if entry.ran]
    if linear and refined is not None:
        linear += second_look(race, race.best(linear), refined)
    _check_any(race)
    if candidates == "linear" and trees == "auto" and linear:
        for entry in race.entries:
            if entry.contender.family in FAMILIES_OF_TREES:
                entry.note, entry.eligible = entry.note or "for comparison only", False
    if not is_sparse and (isinstance(candidates, list | tuple) or candidates not in _READABLE):
        _add_ensemble(race, candidates, seed)
    return race.best()


def _rival(race: Race, contender: Contender, linear: list[Entry], effort: Effort) -> dict[str, Any]:
    """Return what drops an expensive candidate after the first fold, if anything does."""
    if effort.tolerance is None or not any(entry.ran for entry in race.entries):
        return {}
    if contender.features == _LATE and linear:
        return {"rival": race.best(linear)}
    if contender.family in FAMILIES_OF_TREES:
        return {"rival": race.best(), "tolerance": effort.tolerance}
    return {}


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
    members = [entry for entry in race.entries if entry.ran and entry.eligible]
    if candidates != "default" and all(one.contender.family == Linear.family for one in members):
        return
    if len(members) < 2:
        return
    race.bar.begin("ensemble")
    mixtures = Mixtures(race.data, members, seed)
    entry = mixtures.entry(mixtures.weights())
    if entry is None:
        return
    if entry.nested_scores is not None and entry.nested_scores.mean() < nested(members).mean():
        entry.note, entry.eligible = "behind the best single candidate in nested selection", False
    race.add(entry)


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
