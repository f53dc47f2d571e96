"""The leaderboard as a table, and the choice in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .capacity import Capacity
from .contenders import Data
from .feature_sets import WORDS
from .forest import Forest
from .linear import Linear
from .race import BEHIND, Entry
from .trees import Trees

#: Held-out positives below which no estimate is worth much: the standard error of a recall of one
#: half is then above a tenth.
_FEW = 25
#: What the best candidate of trees is called beside the chosen one.
_ALONE = {Trees.family: "boosted trees alone", Forest.family: "a forest alone"}


def leaderboard(entries: list[Entry], chosen: Entry) -> dict[str, NDArray[Any]]:
    """Return a row for each candidate, in the order they ran; what is read first comes first."""
    columns: dict[str, list[Any]] = {
        "candidate": [entry.contender.name for entry in entries],
        "mean": [entry.mean for entry in entries],
        "error": [entry.error for entry in entries],
        "seconds": [entry.seconds for entry in entries],
        "chosen": [entry is chosen for entry in entries],
        "note": [entry.note for entry in entries],
        "features": [entry.contender.features for entry in entries],
        "loss": [entry.contender.loss for entry in entries],
        "setting": [entry.contender.setting for entry in entries],
        "value": [entry.setting for entry in entries],
        "alpha": [
            entry.setting if entry.contender.setting == "alpha" else np.nan for entry in entries
        ],
    }
    return {
        name: np.array(values, dtype=object if isinstance(values[0], str) else None)
        for name, values in columns.items()
    }


def best_first(board: dict[str, NDArray[Any]]) -> NDArray[np.intp]:
    """Return the rows of a leaderboard: the chosen one, the others by mean, those without one."""
    mean = np.nan_to_num(board["mean"], nan=-np.inf)
    return np.lexsort((-mean, ~board["chosen"].astype(bool)))


def why(
    chosen: Entry,
    entries: list[Entry],
    scoring: Any,
    capacity: Capacity | None,
    *,
    points: bool,
    assumed: bool,
) -> str:
    """The choice in words: what it is, what it is ahead of, what was assumed and dropped."""
    told = scoring if isinstance(scoring, str) else "the scorer that was given"
    folds = len(chosen.fold_scores)
    said = [
        f"Chosen: {_named(chosen)}, by {told}: {chosen.mean:.4f} +- {chosen.error:.4f} over "
        f"{folds} folds."
    ]
    first = entries[0]
    trees = _best_trees(entries)
    if first.ran and first is not chosen and first.contender.family not in _ALONE:
        plain = isinstance(first.contender, Linear) and first.contender.loss == "logistic"
        words = WORDS.get(first.contender.features, "")
        what = f"logistic regression on {words}" if plain else first.contender.name
        said.append(_ahead(chosen, first, what, points))
    if trees is not None and trees.ran and trees is not chosen:
        ahead, error = trees.ahead_of(chosen)
        if ahead > 0.0 and not trees.eligible:
            sure = "" if ahead > error else ", which is within the error"
            said.append(
                f"Trees would be ahead by {_difference(trees, chosen, points)}{sure}: pass "
                "candidates='default', or trees=True."
            )
        else:
            said.append(_ahead(chosen, trees, _ALONE[trees.contender.family], points))
    if capacity is not None:
        where = ", the length of the training set, for no list_size was given" if assumed else ""
        said.append(f"The capacity is {capacity}{where}.")
    said += [
        f"{entry.contender.name} was left out ({entry.note})."
        for entry in entries
        if not entry.ran and not entry.note.startswith(BEHIND)
    ]
    return " ".join(said)


def few_positives(data: Data, scores: NDArray[Any]) -> int | None:
    """Return the number of positives held out if it is too small for an estimate, else None."""
    counted = ~np.isnan(scores)
    if data.weight is not None:
        counted &= data.weight > 0.0
    n = int((data.y[counted] == 1).sum())
    return n if n < _FEW else None


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


def _best_trees(entries: list[Entry]) -> Entry | None:
    """Return the best single candidate of trees, None if none ran."""
    ran = [entry for entry in entries if entry.ran and entry.contender.family in _ALONE]
    return max(ran, key=lambda entry: entry.mean, default=None)


def _named(entry: Entry) -> str:
    contender = entry.contender
    if contender.setting in ("alpha", "mu"):
        return (
            f"{contender.loss} on {WORDS[contender.features]} with "
            f"{contender.setting}={entry.setting:.3g}"
        )
    if contender.setting:
        return f"{contender.name} with {contender.setting}={entry.setting:g}"
    return contender.name


def _ahead(one: Entry, other: Entry, what: str, points: bool) -> str:
    if one.ahead_of(other)[0] == 0.0:
        return f"It is level with {what}."
    return f"It is ahead of {what} by {_difference(one, other, points)}."


def _difference(one: Entry, other: Entry, points: bool) -> str:
    mean, error = one.ahead_of(other)
    if points:
        return f"{100 * mean:.1f} +- {100 * error:.1f} points"
    return f"{mean:.3g} +- {error:.2g}"


__all__ = ["best_first", "leaderboard", "why"]
