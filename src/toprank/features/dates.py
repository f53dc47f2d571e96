"""DateParts: dates and times taken apart into numbers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    _check_n_features,
    check_is_fitted,
)

from .arrow import is_missing

Array = NDArray[np.float64]


class DateParts(TransformerMixin, BaseEstimator):
    """Take dates apart: the days since 1970, month, day of the month, day of the week, hour.

    Attributes
    ----------
    parts_ : list of list of str
        The parts that are made of every column: "hour" only where some training time is not
        midnight, "days" alone of spans of time.
    zoned_ : list of bool
        Which columns have a time zone; the same must have one in `transform`.
    n_features_in_ : int
        Features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    See Also
    --------
    table_pipeline : Has it for the columns of dates, with an imputer after it.

    Notes
    -----
    Missing dates become NaN in all parts: impute after. Times with a zone are taken in UTC,
    those without one as they are. Monday is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.features import DateParts
    >>> days = np.array([["2024-02-29"], ["2024-03-01"]], dtype="datetime64[D]")
    >>> parts = DateParts().fit(days)
    >>> parts.transform(days)
    array([[1.9782e+04, 2.0000e+00, 2.9000e+01, 3.0000e+00],
           [1.9783e+04, 3.0000e+00, 1.0000e+00, 4.0000e+00]])
    >>> parts.get_feature_names_out()
    array(['x0_days', 'x0_month', 'x0_day', 'x0_weekday'], dtype=object)
    """

    parts_: list[list[str]]
    zoned_: list[bool]
    n_features_in_: int

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """See which parts there are.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Dates, times of dates, or spans of time.
        y : ignored
            There for pipelines.

        Returns
        -------
        self
            The fitted transformer.
        """
        columns = list(_columns(X))
        _check_feature_names(self, X, reset=True)
        _check_n_features(self, X, reset=True)
        self.parts_, self.zoned_ = [], [zoned for _, zoned in columns]
        for column, _ in columns:
            self.parts_.append(kept_parts(column))
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Take dates apart.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            The dates.

        Returns
        -------
        ndarray of shape (n_samples, n_parts)
            Numbers, NaN for missing dates.
        """
        check_is_fitted(self)
        _check_feature_names(self, X, reset=False)
        _check_n_features(self, X, reset=False)
        made = []
        for j, (column, zoned) in enumerate(_columns(X)):
            names, parts = self.parts_[j], parts_of(column)
            if not np.isnat(column).all():
                self._check_alike(_named(X, j), names, parts, j, zoned)
            made += [parts.get(name, np.full(len(column), np.nan)) for name in names]
        return np.column_stack(made)

    def _check_alike(
        self, column: str, names: list[str], parts: dict[str, Array], j: int, zoned: bool
    ) -> None:
        """Refuse what is no more what it was in fit, and would be read as something else."""
        if (len(parts) == 1) != (names == ["days"]):
            now, before = ("spans of time", "dates")[:: 1 if len(parts) == 1 else -1]
            raise ValueError(f"{column} held {before} in fit, and holds {now}.")
        if zoned != self.zoned_[j]:
            raise ValueError(zone_changed(column, zoned=zoned))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """What the columns of the output are.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the input.

        Returns
        -------
        ndarray of str objects
            As "signed_month" of a column "signed".
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        found = [
            f"{name}_{part}" for name, own in zip(names, self.parts_, strict=True) for part in own
        ]
        return np.array(found, dtype=object)


def _columns(X: Any) -> Iterator[tuple[NDArray[Any], bool]]:
    """The columns as datetime64 or timedelta64, and whether they have a time zone."""
    frame = hasattr(X, "columns")
    for j in range(X.shape[1]):
        column = (X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]) if frame else np.asarray(X)[:, j]
        values, dtype = np.asarray(column), getattr(column, "dtype", None)
        zoned = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
        if values.dtype.kind == "m":
            yield values, False
            continue
        if values.dtype.kind == "f" and np.isnan(values).all():
            values = np.full(len(values), None)
        if values.dtype.kind in "biufc":
            raise ValueError(
                f"{_named(X, j)} holds numbers, no dates: make dates of them first, for instance "
                "with pandas.to_datetime(column, unit='s')."
            )
        if values.dtype == object and not zoned:
            zoned = any(getattr(cell, "tzinfo", None) for cell in values if not is_missing(cell))
            column = np.array([in_utc(cell) for cell in values], dtype=object)
        try:
            # In UTC where there is a zone; to the second, which leaves room for any year.
            known = values.dtype.kind == "M"
            dates = values if known else np.asarray(column, dtype="datetime64[us]")
        except (TypeError, ValueError) as error:
            raise ValueError(f"{_named(X, j)} holds no dates: {error}.") from error
        yield dates.astype("datetime64[s]"), bool(zoned)


def _named(X: Any, j: int) -> str:
    return f"Column {j} ({X.columns[j]!r})" if hasattr(X, "columns") else f"Column {j}"


def in_utc(cell: Any) -> Any:
    """A cell without its zone, None if it is missing."""
    if is_missing(cell):
        return None
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return cell.astimezone(UTC).replace(tzinfo=None)
    return cell


def kept_parts(column: NDArray[Any]) -> list[str]:
    """Return the names of the parts of dates; without the hour if all times are midnight."""
    parts = parts_of(column)
    if not np.nan_to_num(parts.get("hour", 0.0)).any():
        parts.pop("hour", None)
    return list(parts)


def zone_changed(column: str, *, zoned: bool) -> str:
    """Return the sentence on dates that have, or lack, a time zone unlike those of the fit."""
    has, had = ("a", "none") if zoned else ("no", "one")
    return (
        f"{column} has {has} time zone, and had {had} in fit: set or drop it, in pandas by "
        ".dt.tz_localize."
    )


def parts_of(column: NDArray[Any]) -> dict[str, Array]:
    """The parts of dates, by name."""
    missing = np.isnat(column)

    def numbers(values: NDArray[Any]) -> Array:
        return np.where(missing, np.nan, values.astype(np.int64))

    if column.dtype.kind == "m":
        return {"days": np.where(missing, np.nan, column / np.timedelta64(1, "D"))}
    day, month = column.astype("datetime64[D]"), column.astype("datetime64[M]")
    days = numbers(day)
    return {
        "days": days,
        "month": numbers(month) % 12 + 1,
        "day": numbers((day - month).astype("timedelta64[D]")) + 1,
        "weekday": (days + 3) % 7,  # the first of 1970 was a Thursday
        "hour": numbers(column - day) / 3600,
    }


__all__ = ["DateParts"]
