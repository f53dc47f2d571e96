"""A fit of rows on a cluster: its parts, its labels, and what is left of it if it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..estimators.validation import LabelledRows
from ..exceptions import warn_caller
from ..inputs.class_split import refuse_one_class
from ..inputs.labels import SORTS_LAST, positive_last, rarer_last, tell_positive_of
from .folds import FoldedDesign
from .gathered import MOST_GATHERED, GatheredDesign, gathered_split
from .matrix import ClusterDesign
from .parts import (
    ClassTotals,
    Summary,
    Where,
    check_two_classes,
    joined,
    keep_given,
    make_labels,
    summarise,
)
from .reducer import Reducer
from .rows import ClusterRows, blocks_like
from .settings import client_at_hand, current


@contextmanager
def rows_of(ranker: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[LabelledRows]:
    """The rows of a fit, as the estimator's `_check` gives those in memory; sets `classes_`."""
    if not ranker._on_clusters:
        raise TypeError(
            f"{type(ranker).__name__} cannot be fitted to rows on a cluster. {able()} can; or "
            "bring the rows here, X.compute()."
        )
    if y is None:
        raise ValueError("Ranking requires y to be passed, but the target y is None.")
    with client_at_hand() as client:
        rows = X if isinstance(X, ClusterRows) else None
        if rows is None:
            if not hasattr(type(X), "__dask_graph__"):
                raise TypeError(
                    f"y is a collection of Dask, and X a {type(X).__name__}: pass both as one."
                )
            rows = ClusterRows(client, X, None)
        yield _labelled(ranker, client, rows, y, sample_weight)


def able() -> str:
    """The methods that can, by name."""
    from .. import methods

    names = [name for name in methods.__all__ if getattr(methods, name)._on_clusters]
    return f"{', '.join(names)}, RankerCV of them and HeadRanker"


def _labelled(
    ranker: Any, client: Any, rows: ClusterRows, y: Any, sample_weight: Any
) -> LabelledRows:
    from dask import delayed

    rows.see(ranker)
    n = rows.n_parts
    of_y = blocks_like(rows, y, n, "y")
    of_weight = (
        [None] * n
        if sample_weight is None
        else blocks_like(rows, sample_weight, n, "sample_weight")
    )
    keep = delayed(keep_given, pure=False)
    recipes = [keep(*one, place) for place, one in enumerate(zip(of_y, of_weight, strict=True))]
    given = client.compute(recipes)

    def remake_given(place: int) -> tuple[Any, ...]:
        given[place].release()
        given[place] = client.compute(recipes[place])
        return _sound(client, rows, place), given[place]

    def parts_of(labels: list[Any]) -> list[tuple[Any, ...]]:
        return [(rows.futures[i], labels[i]) for i in range(n)]

    settings = current()
    first = Reducer(client, parts_of(given), settings, remake_given)
    found: list[Summary] = first(summarise, (), joined)
    _tell_scattered(client, rows, given)
    classes, why = np.array(check_two_classes(found)), SORTS_LAST
    if ranker.pos_label is None and ranker._rarer_first:
        classes, why = rarer_last(classes, _by_class(found, classes)[0])
    classes = positive_last(classes, ranker.pos_label)
    ranker.classes_ = classes
    d = {one.n_features for one in found}
    if len(d) > 1:
        raise ValueError(f"Parts of X differ in their columns: {sorted(d)}.")
    (n_features,) = d
    if rows.n_features is None:
        rows.n_features = n_features
        rows.see(ranker)

    counts, weights = _by_class(found, classes)
    if ranker.pos_label is None:
        tell_positive_of(classes, counts[0], counts[1], why=why)
    refuse_one_class(counts[1], counts[0])
    unit = 1.0
    if sample_weight is not None and not ranker._sums_weights:
        unit = max(one.heaviest for one in found)
    (negative, positive) = (weight / unit for weight in weights)

    places = _places(found, classes)

    def label(place: int) -> Any:
        return client.submit(make_labels, given[place], classes[1], unit, places[place], pure=False)

    labels = [label(place) for place in range(n)]

    def remake(place: int) -> tuple[Any, ...]:
        remake_given(place)
        labels[place] = label(place)
        return rows.futures[place], labels[place]

    reducer = Reducer(client, parts_of(labels), settings, remake)
    design = FoldedDesign(
        reducer,
        (sum(one.n_rows for one in found), n_features),
        sum(one.n_entries for one in found),
        (1.0 / positive, 1.0 / negative),
    )
    design.unit = unit
    if ranker._gathers_scores:
        return _gathered(ranker, design, [one.n_rows for one in found], sample_weight is not None)
    split = ClassTotals.made((counts[1], counts[0]), (positive, negative))
    return LabelledRows(design, split, None, rows, y)  # type: ignore[arg-type]


def _gathered(
    ranker: Any, design: ClusterDesign, lengths: list[int], weighted: bool
) -> LabelledRows:
    """The rows of a fit that needs all scores in one place."""
    n = design.shape[0]
    if n > MOST_GATHERED:
        raise ValueError(
            f"{type(ranker).__name__} looks at pairs of rows, so that {n} scores would come to one "
            f"place in every step; more than {MOST_GATHERED} are refused. Take BBR, the squared "
            "loss over all pairs in one round, or LogisticRank; RectPushApp for the head of the "
            "list. Or fit a sample of the rows."
        )
    return LabelledRows(GatheredDesign(design, lengths), gathered_split(design, weighted), None)  # type: ignore[arg-type]


def _sound(client: Any, rows: ClusterRows, place: int) -> Any:
    """The rows of a part, asked for anew if Dask has given them up."""
    future = rows.futures[place]
    return future if future.status in ("pending", "finished") else rows.remake(client, place)


def _by_class(found: list[Summary], classes: Any) -> tuple[list[int], list[float]]:
    """Rows of weight above zero, and their weight: of the negatives, and of the positives."""
    counts, weights = [0, 0], [0.0, 0.0]
    known = classes.tolist()
    for one in found:
        for label, count, weight in zip(one.classes, one.counts, one.weights, strict=True):
            side = known.index(label)
            counts[side] += count
            weights[side] += weight
    return counts, weights


def _places(found: list[Summary], classes: Any) -> list[Where]:
    """Where every part is among all rows, and among those of the two classes."""
    positive, first, places = classes.tolist()[1], [0, 0, 0], []
    for place, one in enumerate(found):
        places.append(Where(place, *first))
        own = dict(zip(one.classes, one.counts, strict=True))
        of_pos = own.get(positive, 0)
        first = [first[0] + one.n_rows, first[1] + of_pos, first[2] + sum(own.values()) - of_pos]
    return places


def _tell_scattered(client: Any, rows: ClusterRows, given: list[Any]) -> None:
    """Warn of parts that rest on scattered data: they cannot be made again."""
    keys = [[one.key for one in pair] for pair in zip(rows.futures, given, strict=True)]
    lost = client.run_on_scheduler(_scattered, keys=keys)
    if lost:
        warn_caller(
            f"Part {lost[0]} of {len(keys)} rests on scattered data"
            + (f", and {len(lost) - 1} others do" if len(lost) > 1 else "")
            + ": if their worker dies they are lost for good, and so is the fit. Read the data on "
            "the workers, for instance by dask.dataframe.read_parquet.",
            UserWarning,
            about="scattered",
        )


def _scattered(keys: list[list[Any]], dask_scheduler: Any = None) -> list[int]:
    """The parts that depend on something without a recipe."""
    tasks, found = dask_scheduler.tasks, []
    for place, own in enumerate(keys):
        left = [tasks[key] for key in own if key in tasks]
        seen = set(left)
        while left:
            task = left.pop()
            if task.run_spec is None:
                found.append(place)
                break
            left.extend(one for one in task.dependencies if one not in seen)
            seen.update(task.dependencies)
    return found


__all__ = ["able", "rows_of"]
