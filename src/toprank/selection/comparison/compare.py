"""compare: fit every model on every fold, and keep what is finished."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.parallel import Parallel, delayed

from ...exceptions import warn_caller
from ...inputs.arguments import check_number
from ...inputs.cells import refuse_repeated_names
from ...inputs.class_split import Split
from ...inputs.folds import Folds, check_classes, make_folds
from ...inputs.labels import positive_last, tell_positive
from ...inputs.mapped_arrays import in_memory
from ...metrics._checks import check_weights
from ...metrics._scorers import metric_of
from ..head.setup import Capacity, capacity_of, scoring_for
from .cells import Cell, Data, Store, fit_cell, keys_of
from .models import ModelMaker
from .result import Comparison

#: Called after every cell with how many are done, of how many, and which was the last.
Progress = Callable[[int, int, str], None]


def compare(
    models: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 5,
    metrics: Sequence[str] | None = None,
    capacity: float | None = None,
    list_size: int | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    store: Any = None,
    progress: bool | Progress | None = None,
    random_state: Any = 0,
    pos_label: Any = None,
) -> Comparison:
    """Compare models on the same folds of the same rows.

    Every model is fitted on the training part of every fold, chooses what it chooses there, and
    ranks the rows held out. Tuned logistic regression is always among the models, and what the
    others are tested against.

    Parameters
    ----------
    models : dict of str to model, list of models, or a model
        A model is an estimator of scikit-learn's kind, used as it is on labels 0 and 1, or a name:
        "head" (`HeadRanker` without trees), "trees" (scikit-learn's boosted trees, their number
        tuned) or a method of this library in lower case, such as "toppush", with alpha tuned.
        Models by name take the rows as they come: sparse, dense, or a frame with categories, dates
        and gaps. An estimator called "logistic" takes the place of the logistic regression that
        is added without it.
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Two labels.
    cv : int, splitter or iterable, default=5
        Number of stratified folds of consecutive rows, or what scikit-learn takes for `cv`, such
        as `RepeatedStratifiedKFold`. Two folds or more, with rows of both classes in each part.
    metrics : list of str, optional
        Names of `toprank.metrics.get_scorer`; the first decides which model is best. Without it
        the precision within the capacity, the recall there, average precision and AUC; without a
        capacity average precision comes first.
    capacity : int or float, optional
        Rows of a list that can be looked at: a number or a share. Models by name tune for it.
    list_size : int, optional
        Length of the lists that the capacity is taken from; the length of X if None.
    groups : array-like of shape (n_samples,), optional
        What the splitter keeps together; models by name keep it together inside, too.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of rows, in fits and in metrics.
    confidence : float in (0, 1), default=0.95
        Of the intervals.
    n_jobs : int or None, default=None
        Cells, a model on a fold, that are fitted at a time, each in a process with its share of the
        cores; None is 1.
    store : path-like, optional
        A folder for finished cells. A later call goes on from there: a cell is used again if its
        model, rows, labels, weights, fold and the versions of the libraries are the same.
    progress : bool or callable, optional
        Whether to show how far it is, on standard error; None does so on a terminal. A callable is
        given the number of cells done, the number of all, and the last one in words.
    random_state : int, RandomState instance or None, default=0
        For models by name.
    pos_label : label, optional
        The label to rank first. Without it the greater one, and a `PositiveLabelWarning` says so
        unless the labels are 0/1, -1/1 or booleans.

    Returns
    -------
    Comparison
        The figures of every model, fold and metric, intervals, tests, and the scores of the rows
        held out.

    See Also
    --------
    over_sets : Rank tests over the comparisons of several data sets.
    toprank.metrics.paired_difference : Two models on one set of test rows, by their scores.

    Examples
    --------
    >>> from toprank import RectPushApp
    >>> from toprank.datasets import load_mammography
    >>> from toprank.selection import compare
    >>> X, y = load_mammography(return_X_y=True)
    >>> found = compare({"rect": RectPushApp(1e-2)}, X[:3000], y[:3000], cv=3)
    >>> found.models
    ['logistic', 'rect']
    >>> found.figures.shape  # models, folds, metrics
    (2, 3, 4)
    """
    sure = check_number("confidence", confidence, 0.0, 1.0, ends="()")
    labels, positive = _labels(y, pos_label)
    check_consistent_length(X, labels)
    refuse_repeated_names(X)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    weight = check_weights(sample_weight, len(labels))
    split = Split.of(positive, weight)
    check_classes(float(split.p.sum()), float(split.q.sum()))
    folds = make_folds(cv, split, X, positive.astype(np.int64), groups)
    _check_folds(folds, positive, weight)
    room = capacity_of(capacity, list_size, len(labels))
    measures = _measures(metrics, room)
    maker = ModelMaker(
        X,
        scoring_for(room, split, folds.count),
        None if room is None else room.share,
        cv=cv,
        random_state=random_state,
    )
    known = maker.of(models)
    data = Data(X, positive.astype(np.int64), weight, groups)
    cells = _run(known, data, folds, n_jobs, Store(store), _teller(progress))
    result = Comparison(known, measures, data, folds.pairs, cells, capacity=room, confidence=sure)
    _tell(result)
    return result


def _labels(y: ArrayLike, pos_label: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The labels, and which of them are the positive one."""
    labels = np.asarray(in_memory(y))
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D, one label a row, got shape {labels.shape}.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"y is NaN at row {int(np.argmax(np.isnan(labels)))}: drop the row.")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"y must hold two labels, and it holds {len(classes)}.")
    positive = np.asarray(labels == positive_last(classes, pos_label)[1])
    if pos_label is None:
        tell_positive(classes, positive)
    return labels, positive


def _check_folds(folds: Folds, positive: NDArray[np.bool_], weight: Any) -> None:
    """Refuse folds that cannot be trained on or measured, before any work is done."""
    if folds.count < 2:
        raise ValueError("cv has one fold: two or more are needed to say how sure a figure is.")
    counts = np.ones(len(positive)) if weight is None else weight
    for k, (training, test) in enumerate(folds.pairs):
        for rows, what in ((training, "trains on"), (test, "holds out")):
            for sign, word in ((True, "positive"), (False, "negative")):
                if not counts[rows][positive[rows] == sign].sum() > 0:
                    raise ValueError(
                        f"Fold {k} of cv {what} no {word} row: take fewer folds, or stratified "
                        "ones."
                    )


def _measures(metrics: Sequence[str] | None, capacity: Capacity | None) -> list[str]:
    if metrics is None:
        if capacity is None:
            return ["average_precision", "precision_at_0.01", "precision_at_0.1", "auc"]
        share = f"{capacity.share:.4g}"
        return [f"precision_at_{share}", f"recall_at_{share}", "average_precision", "auc"]
    if isinstance(metrics, str):
        metrics = [metrics]
    found = list(dict.fromkeys(metrics))
    if not found:
        raise ValueError("metrics is empty: pass one name or more, such as 'average_precision'.")
    for name in found:
        metric_of(name)
    return found


def _run(
    models: dict[str, Any],
    data: Data,
    folds: Folds,
    n_jobs: int | None,
    store: Store,
    tell: Progress,
) -> dict[tuple[str, int], Cell]:
    """All cells: those that are kept, and the others fitted and kept."""
    places = [(name, k) for name in models for k in range(folds.count)]
    keys = {} if store.folder is None else keys_of(models, data, folds.pairs)
    found = {place: cell for place in keys if (cell := store.get(keys[place])) is not None}
    todo = [place for place in places if place not in found]
    done = len(found)
    tell(done, len(places), f"{done} were finished before" if done else "begun")
    fits = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_fit_and_keep)(
            place,
            models[place[0]],
            data,
            folds.training(place[1]),
            folds.held_out(place[1]),
            store,
            keys.get(place, ""),
        )
        for place in todo
    )
    for place, cell in fits:
        found[place] = cell
        done += 1
        tell(done, len(places), f"{place[0]}, fold {place[1] + 1}")
    return {place: found[place] for place in places}


def _fit_and_keep(
    place: tuple[str, int], model: Any, data: Data, training: Any, test: Any, store: Store, key: str
) -> tuple[tuple[str, int], Cell]:
    """Fit a cell; it is kept by the worker, at once, whatever becomes of the others."""
    cell = fit_cell(*place, model, data, training, test)
    store.put(key, cell)
    return place, cell


def _teller(progress: bool | Progress | None) -> Progress:
    if callable(progress):
        return progress
    if not (sys.stderr.isatty() if progress is None else progress):
        return lambda done, total, last: None
    began = time.monotonic()
    first: list[int] = []

    def tell(done: int, total: int, last: str) -> None:
        first.append(done)
        spent, new = time.monotonic() - began, done - first[0]
        left = f", about {spent / new * (total - done):.0f} s left" if 0 < new < total else ""
        end = "\n" if done == total else ""
        text = f"compare: {done} of {total} fits ({last}){left}"
        print(f"\r{text:<78}", end=end, file=sys.stderr, flush=True)

    return tell


def _tell(result: Comparison) -> None:
    """Pass the warnings of fits on, one for each model and kind."""
    for (model, category), message in result.notes.items():
        warn_caller(f"{model} warned ({category}): {message}", UserWarning, about=(model, category))


__all__ = ["Progress", "compare"]
