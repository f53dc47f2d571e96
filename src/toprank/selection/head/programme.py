"""The order of the race: feature sets, trees, losses on the best features, and the blend."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from .contenders import Contender, Data
from .linear import Linear
from .race import Entry, Race
from .raw_table import seated
from .refine import Refined
from .roster import first_stage, second_stage, wants_losses
from .trees import Trees, import_lightgbm

#: What they are called, and what is chosen of them.
TREES = "trees"

#: Trees need rows to split; below so many they are left out unless asked for.
_ROWS_FOR_TREES = 200
#: The order under a budget: what the evidence would drop first comes last.
_BY_WORTH = ("columns", "trees", "nystroem", "squashed", "bins")
#: The features that race last: they are expensive, and dropped after a fold if they are behind.
_LATE = "nystroem"


def run(race: Race, candidates: Any, trees: Any, refined: float | None, seed: int) -> Entry | None:
    """Run the candidates, with a second stage for a share of the list if there is one.

    Returns the entry of the trees, if they ran.
    """
    is_sparse = sparse.issparse(race.data.X)
    first = first_stage(candidates, is_sparse, seed)
    library = library_of(trees, candidates, race.data)
    if library is not None:
        first.append(Trees(TREES, library, seed))
    first = [seated(contender, race.data) for contender in first]
    if race.budget is not None:
        first.sort(key=_worth)
    else:
        first.sort(key=lambda contender: contender.features == _LATE)
    # Two losses, a second stage, and a blend may follow.
    race.bar.total = len(first) + 2 * wants_losses(candidates)
    race.bar.total += (refined is not None) + (library is not None)
    linear: list[Entry] = []
    for place, contender in enumerate(first):
        late = contender.features == _LATE and linear
        rival = race.best(linear) if late else None
        entry = race.run(contender, always=place == 0, rival=rival)
        if contender.setting != TREES and entry.ran:
            linear.append(entry)
        _forget(linear, race)
    if linear and wants_losses(candidates):
        winner = race.best(linear)
        second = second_stage(winner, race.data, is_sparse, seed)
        linear += [race.run(contender, rival=winner) for contender in second]
        linear = [entry for entry in linear if entry.ran]
    if linear and refined is not None:
        linear += second_look(race, race.best(linear), refined)
    if not any(entry.ran for entry in race.entries):
        dropped = [entry for entry in race.entries if entry.note.startswith("dropped")]
        if len(dropped) == len(race.entries):
            told = "; ".join(f"{entry.contender.name} {entry.note}" for entry in dropped)
            raise ValueError(f"No candidate can race for these rows: {told}.")
        raise ValueError(
            "No candidate tells the rows apart: every one gives all of them the same score. Are "
            "the columns of X constant, or the same in both classes?"
        )
    if library is None:
        return None
    grown = next(entry for entry in race.entries if entry.contender.setting == TREES)
    if trees == "auto" and candidates == "linear" and linear:
        grown.note, grown.eligible = grown.note or "for comparison only", False
        return grown
    if grown.ran and linear:
        race.blend(race.best(linear), grown)
    return grown


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


def library_of(trees: Any, candidates: Any, data: Data) -> str | None:
    """Whose trees race, if any do."""
    is_sparse = sparse.issparse(data.X)
    if candidates == "trees":
        if not trees:
            raise ValueError("candidates='trees' and trees=False leave nothing to fit.")
        trees = trees if trees == "lightgbm" else True
    if trees == "lightgbm":
        import_lightgbm()
        return "lightgbm"
    if trees == "auto":
        wanted = candidates != "fast" and len(data.y) >= _ROWS_FOR_TREES and not is_sparse
        return "scikit-learn" if wanted else None
    if trees and is_sparse:
        raise ValueError(
            "trees=True fits scikit-learn's boosted trees, which take dense rows only: pass "
            "X.toarray() if it fits into memory, or trees='lightgbm'."
        )
    return "scikit-learn" if trees else None


def _worth(contender: Contender) -> int:
    """The place of a candidate in the order under a budget."""
    name = contender.features if contender.features in _BY_WORTH else contender.name
    return _BY_WORTH.index(name) if name in _BY_WORTH else 0


__all__ = ["library_of", "run"]
