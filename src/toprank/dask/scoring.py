"""Scores of collections of Dask: lazy, and the head of their list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics import ranking_report
from .rows import blocks_like, is_frame, known_lengths, row_blocks, see_columns

#: Scores that are brought to one place, at the most: 9 bytes each.
MOST_SCORES = 200_000_000


def lazily(model: Any, verb: str, X: Any) -> Any:
    """What a method of a fitted model gives for the rows of a collection, when it is computed."""
    model._check_fitted()
    if hasattr(type(X), "__toprank_rows__"):
        raise TypeError(f"{verb} takes the collection itself, not what design made of it.")
    see_columns(model, X, reset=False)
    model = model._to_score()
    wide = verb == "predict_proba"
    values = model.classes_[:0] if verb == "predict" else np.empty(0)
    if not is_frame(X):
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return X.map_blocks(
            _of_block,
            model,
            verb,
            dtype=values.dtype,
            meta=np.empty((0, 2) if wide else 0, values.dtype),
            **({"chunks": (X.chunks[0], (2,))} if wide else {"drop_axis": 1}),
        )
    import pandas as pd

    index = X._meta.index[:0]
    if wide:
        meta: Any = pd.DataFrame(
            {name: np.empty(0) for name in map(str, model.classes_)}, index=index
        )
    else:
        meta = pd.Series(values, index=index, name=None)
    return X.map_partitions(_of_frame, model, verb, meta=meta)


def _of_block(block: Any, model: Any, verb: str) -> NDArray[Any]:
    if block.shape[0] == 0:
        empty = model.classes_[:0] if verb == "predict" else np.empty(0)
        return np.empty((0, 2)) if verb == "predict_proba" else np.asarray(empty)
    return np.asarray(getattr(model, verb)(block))


def _of_frame(frame: Any, model: Any, verb: str) -> Any:
    import pandas as pd

    found = _of_block(frame, model, verb)
    if found.ndim == 2:
        return pd.DataFrame(found, index=frame.index, columns=[*map(str, model.classes_)])
    return pd.Series(found, index=frame.index)


def top(model: Any, X: Any, k: int = 100) -> Any:
    """The k rows with the highest scores of a collection, the highest first.

    Every part gives its own k highest rows, so that the list of all rows is never in one place.
    Tied rows come in the order of the parts, and within a part in that of its rows.

    Parameters
    ----------
    model : estimator
        A fitted ranker.
    X : Dask DataFrame or Dask array
        The rows. A frame may have other columns beside the features, such as an identifier, if
        the model knows the names of its features.
    k : int, default=100
        How many rows.

    Returns
    -------
    pandas.DataFrame
        The rows, and their `score`. Of an array: `part`, `row` within it, and `score`.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from toprank import BBR
    >>> from toprank.dask import top
    >>> frame = pd.DataFrame({"case": list("abcdef"), "x": [1.0, 5, 2, 6, 3, 4]})
    >>> ranker = BBR().fit(frame[["x"]], frame["x"] > 3)
    >>> top(ranker, dd.from_pandas(frame, npartitions=2), k=3)["case"].tolist()
    ['d', 'b', 'f']
    """
    import pandas as pd

    import dask

    model._check_fitted()
    if not k >= 1:
        raise ValueError(f"k must be 1 or more, got {k}.")
    names = getattr(model, "feature_names_in_", None)
    if is_frame(X) and names is not None:
        lacking = [name for name in names if name not in X.columns]
        if lacking:
            raise ValueError(f"X lacks the column {lacking[0]!r}, which the model was fitted on.")
    else:
        see_columns(model, X, reset=False)
    columns = None if names is None else list(names)
    model = model._to_score()
    heads = [
        dask.delayed(_head)(block, model, int(k), columns, place)
        for place, block in enumerate(row_blocks(X))
    ]
    found = pd.concat(dask.compute(*heads))
    order = np.lexsort((np.arange(len(found)), -found["score"].to_numpy()))
    return found.iloc[order[: int(k)]]


def _head(block: Any, model: Any, k: int, columns: Any, place: int) -> Any:
    """The highest rows of a block, in the order in which they stand there."""
    import pandas as pd

    framed = hasattr(block, "columns")
    rows = block[columns] if framed and columns is not None else block
    scores = _of_block(rows, model, "decision_function")
    best = np.lexsort((np.arange(len(scores)), -scores))[:k] if len(scores) else np.empty(0, int)
    best.sort()
    if framed:
        return block.iloc[best].assign(score=scores[best])
    return pd.DataFrame({"part": place, "row": best, "score": scores[best]})


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    k: float | Sequence[float] = 0.1,
    max_fpr: float = 0.05,
    min_precision: float = 0.9,
) -> dict[str, float]:
    """Every metric of the list that a model makes of a collection.

    The scores and labels come to one place, 9 bytes a row, 17 with weights, for the order of all
    rows is what metrics are about; more than 200 million rows are refused. The rows themselves
    stay where they are.

    Parameters
    ----------
    model : estimator
        A fitted ranker.
    X : Dask DataFrame or Dask array
        The rows.
    y : Dask Series or array
        Their labels, in the same parts.
    sample_weight : Dask Series or array, optional
        Their weights.
    k, max_fpr, min_precision
        As in `toprank.metrics.ranking_report`.

    Returns
    -------
    dict of str to float
        As of `toprank.metrics.ranking_report`.

    Examples
    --------
    >>> import dask.array as da
    >>> from toprank import BBR
    >>> from toprank.dask import evaluate
    >>> from toprank.datasets import load_spambase
    >>> X, y = load_spambase(return_X_y=True)
    >>> ranker = BBR().fit(X, y)
    >>> found = evaluate(ranker, da.from_array(X, chunks=1000), da.from_array(y, chunks=1000))
    >>> found["auc"] == ranker.score(X, y)
    True
    """
    labels, scores, weight = scored(model, X, y, sample_weight)
    return ranking_report(
        labels,
        scores,
        k=k,
        max_fpr=max_fpr,
        min_precision=min_precision,
        sample_weight=weight,
        pos_label=True,
    )


def scored(
    model: Any, X: Any, y: Any, sample_weight: Any = None
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64] | None]:
    """Whether each row is positive, its score, and its weight, of all rows of a collection."""
    import dask

    model._check_fitted()
    see_columns(model, X, reset=False)
    model = model._to_score()
    blocks = row_blocks(X)
    n = len(blocks)
    of_y = blocks_like(X, y, n, "y")
    of_weight = (
        [None] * n if sample_weight is None else blocks_like(X, sample_weight, n, "sample_weight")
    )
    lengths = known_lengths(X) or dask.compute(*[dask.delayed(len)(one) for one in of_y])
    if sum(lengths) > MOST_SCORES:
        raise ValueError(
            f"X has {sum(lengths)} rows, and the scores of more than {MOST_SCORES} do not come to "
            "one place: evaluate a sample of the rows, or count in the head, toprank.dask.top."
        )
    parts = [
        dask.delayed(_scored_block)(*given, model, place)
        for place, given in enumerate(zip(blocks, of_y, of_weight, strict=True))
    ]
    positive, scores, weight = zip(*dask.compute(*parts), strict=True)
    joined = None if sample_weight is None else np.concatenate(weight)
    return np.concatenate(positive), np.concatenate(scores), joined


def _scored_block(block: Any, y: Any, weight: Any, model: Any, place: int) -> Any:
    from .parts import keep_given

    given = keep_given(y, weight, place)
    strange = ~np.isin(given.y, model.classes_)
    if strange.any():
        raise ValueError(
            f"Part {place} of y holds {given.y[strange].tolist()[0]!r} in row "
            f"{int(np.argmax(strange))}, which is not in classes_, {model.classes_.tolist()}."
        )
    scores = _of_block(block, model, "decision_function")
    if len(scores) != len(given.y):
        raise ValueError(f"Part {place} has {len(scores)} rows, but {len(given.y)} labels.")
    return given.y == model.classes_[1], scores, given.weight


__all__ = ["MOST_SCORES", "evaluate", "lazily", "scored", "top"]
