"""Models by name, and what is kept of them beside the model itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .output import UsageError
from .split import splitter_of

#: What the keys of `FitRecord` lie under in a model file.
KEY = "toprank fit"


@dataclass(frozen=True)
class FitRecord:
    """Facts of the table of a fit, for the other commands; stored in the model file."""

    table: str
    n_rows: int
    n_positive: int
    #: The column of labels, None where the format has a place for them; the two labels, as words.
    label: str | None
    positive: str
    negative: str
    id: str | None
    #: The kind of every column; None where rows are sparse.
    kinds: dict[str, str] | None
    #: Whether the columns of sparse rows are numbered from 0.
    from_zero: bool
    #: A number of rows, or a share of them.
    capacity: int | float | None
    #: Scores of rows that were held out of the fit, and whether they are positive.
    calibration_scores: Any = None
    calibration_positive: Any = None
    #: Columns that said which rows come later, or which belong together.
    time: str | None = None
    group: str | None = None
    #: Of the training rows; and what the fit could measure.
    fingerprint: str | None = None
    metrics: Any = None
    #: The length of the lists that the capacity is of, if it is known.
    list_size: int | None = None
    #: Columns that give the label away by themselves.
    leaks: Any = None

    def ranked_first(self) -> str:
        """Return the line that names the label ranked first."""
        return ranked_first(self.positive, self.n_positive, self.n_rows, of="rows learnt from")

    def metadata(self) -> dict[str, Any]:
        """As `toprank.save` takes it."""
        return {KEY: asdict(self)}


def ranked_first(
    positive: str, n_positive: int, n_rows: int, *, why: str = "", of: str = "rows"
) -> str:
    """Return the line that names the label ranked first, and how frequent it is."""
    share = 100 * n_positive / n_rows
    return f"{positive!r} is ranked first{why}: {n_positive:,} of {n_rows:,} {of}, {share:.3g} %."


def load_model(path: str) -> tuple[Any, FitRecord]:
    """Return a model and the record of its fit."""
    from ..files.columns import KINDS
    from ..files.model import load_with_metadata

    model, metadata = load_with_metadata(path)
    try:
        record = FitRecord(**metadata[KEY])
        if record.kinds is not None and not set(record.kinds.values()) <= KINDS:
            raise TypeError("a kind of column that nobody knows")
        record.ranked_first()
        return model, record
    except (KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError) as error:
        raise UsageError(
            f"{path} was not made by this version's `toprank fit`, and does not say what its "
            "columns are: load it in Python."
        ) from error


def build(
    name: str,
    *,
    alpha: float | None,
    folds: int | None,
    time: str | None = None,
    group: str | None = None,
    capacity: int | float | None,
    list_size: int | None,
    budget: float | None,
    n_rows: int,
    sparse: bool,
    no_trees: bool = False,
    effort: str | None = None,
) -> Any:
    """Return the model, not fitted: from raw columns, or a ranker of sparse rows."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from ..features import table_pipeline
    from ..selection.named_models import named_model

    known = named_model(name)
    cls = known.ranker
    if known.options is not None:
        more: dict[str, Any] = dict(known.options)
        if no_trees:
            more["trees"] = False
        if effort is not None:
            more["effort"] = effort
        return cls(
            capacity,
            list_size=list_size,
            # Folds that follow time come from the times, which `fit` is given.
            cv=folds if group is None else splitter_of(None, group, folds or _folds_of(more)),
            budget=budget,
            random_state=0,
            **more,
        )
    splitter = splitter_of(time, group, folds)
    share = _share(capacity, list_size or n_rows)
    if "cv" in cls._get_param_names() and alpha is None:  # it chooses by folds of its own
        measure = {} if share is None else {"scoring": f"precision_at_{share:.4g}"}
        ranker = cls(cv=splitter or folds or 5, **measure)
    else:
        ranker = _ranker(cls, alpha, folds and (splitter or folds), share)
    if sparse:
        return ranker
    (numbers,) = table_pipeline().steps
    return Pipeline([numbers, ("scale", StandardScaler()), ("ranker", ranker)])


def _folds_of(options: dict[str, Any]) -> int:
    """Return the number of folds of a HeadRanker with these options."""
    from ..selection.head.effort import EFFORTS

    return EFFORTS[options.get("effort", "default")].folds


def _ranker(cls: Any, alpha: float | None, folds: Any, share: float | None) -> Any:
    from ..estimators.convex import ConvexRanker
    from ..selection import RankerCV

    own = cls._get_param_names()
    seed = {"random_state": 0} if "random_state" in own else {}
    if alpha is not None:
        if "alpha" not in own:
            raise UsageError(f"{cls.__name__} has no alpha: leave --alpha out.")
        return cls(alpha=alpha, **seed)
    if folds is None:
        return cls(**seed)
    if not (issubclass(cls, ConvexRanker) and "alpha" in own):
        raise UsageError(f"--cv chooses alpha, which {cls.__name__} does not have in this sense.")
    scoring = "average_precision" if share is None else f"precision_at_{share:.4g}"
    return RankerCV(cls(**seed), cv=folds, scoring=scoring)


def _share(capacity: int | float | None, list_size: int) -> float | None:
    """A capacity as a share of a list."""
    if capacity is None or isinstance(capacity, float):
        return capacity
    if capacity >= list_size:
        raise UsageError(
            f"--capacity {capacity} is no less than the list of {list_size} rows: pass --list-size."
        )
    return capacity / list_size


__all__ = [
    "KEY",
    "FitRecord",
    "build",
    "load_model",
    "ranked_first",
]
