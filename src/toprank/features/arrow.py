"""Columns of Arrow as arrays of NumPy: numbers, dates, or words and their codes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.cells import is_missing


def kind_of_cells(cells: Iterable[Any]) -> str:
    """The kind of a column of Python objects: numbers or dates if all cells that are there are."""
    kinds = {_kind(cell) for cell in cells if not is_missing(cell)}
    return kinds.pop() if len(kinds) == 1 else "category"


def _kind(cell: Any) -> str:
    if isinstance(cell, Real | Decimal | np.bool_):
        return "number"
    return "date" if isinstance(cell, date | np.datetime64) else "category"


Bad = NDArray[np.bool_]
Codes = NDArray[np.int64]

#: Truth values as texts write them, and how Python does.
_TRUTH = {"true": "True", "false": "False", "TRUE": "True", "FALSE": "False"}


def plain_type(column: Any) -> str | None:
    """Whether a column holds numbers, categories, dates, or texts; None if none of these."""
    import pyarrow.types as is_a

    own = _decoded_type(column.type)
    if is_a.is_boolean(own) or is_a.is_dictionary(column.type):
        return "category"
    if is_a.is_integer(own) or is_a.is_floating(own) or is_a.is_decimal(own):
        return "number"
    if is_a.is_temporal(own) and not is_a.is_time(own):
        return "date"
    return "text" if _is_text(own) else None


def _decoded_type(own: Any) -> Any:
    return own.value_type if hasattr(own, "value_type") and hasattr(own, "index_type") else own


def _is_text(own: Any) -> bool:
    import pyarrow.types as is_a

    return bool(is_a.is_string(own) or is_a.is_large_string(own) or is_a.is_string_view(own))


def _plain(column: Any) -> Any:
    """One array, not coded."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def codes_of(column: Any) -> tuple[Codes, list[str]]:
    """The place of every cell's word among the words; -1 where it is missing."""
    import pyarrow as pa

    own = _plain(column)
    if pa.types.is_floating(own.type):
        own = pa.array(np.asarray(own), from_pandas=True)  # NaN is missing
    coded = own.dictionary_encode()
    codes = np.asarray(coded.indices.fill_null(-1)).astype(np.int64)
    return codes, [word_of(cell) for cell in coded.dictionary.to_pylist()]


def word_of(cell: Any) -> str:
    """Return a cell as a word; 1.0 is 1, for whole numbers become floats where one is missing."""
    if isinstance(cell, str):
        return _TRUTH.get(cell, cell)
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell)


def words_of_codes(codes: Codes, words: list[str]) -> NDArray[Any]:
    """The words of cells, None where they are missing."""
    return np.array([*words, None], dtype=object)[codes]


def numbers_of(column: Any) -> tuple[NDArray[np.float64], Bad]:
    """Cells as floats, NaN where they are missing; and which are something else."""
    import pyarrow as pa

    own = _plain(pa.array(column) if isinstance(column, list) else column)
    try:
        floats = np.asarray(own.cast(pa.float64(), safe=False))
        return floats, np.zeros(len(floats), dtype=bool)
    except pa.ArrowInvalid:  # a word, or a number as Arrow does not write it
        import pandas as pd

        cells = pd.Series(own.to_pandas(), dtype=object)
        floats = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        return floats, np.isnan(floats) & cells.notna().to_numpy()
    except pa.ArrowNotImplementedError:
        return np.full(len(own), np.nan), np.asarray(own.is_valid())


def dates_of(column: Any) -> tuple[NDArray[Any], Bad]:
    """Cells as datetime64, or timedelta64 of spans, NaT where missing; which are no dates."""
    import pyarrow as pa

    own = _plain(column)
    there = np.asarray(own.is_valid())
    if not _is_text(own.type):
        is_a = pa.types
        known = is_a.is_duration(own.type) or is_a.is_timestamp(own.type) or is_a.is_date(own.type)
        exact = np.asarray(own) if known else np.full(len(own), "NaT", dtype="datetime64[us]")
        times = _in_microseconds(exact)
        return times, np.isnat(times) & there
    try:  # of texts in nanoseconds older versions of Arrow count around
        times = _in_microseconds(np.asarray(own.cast(pa.timestamp("us"))))
        return times, np.isnat(times) & there
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        codes, words = codes_of(own)
    import pandas as pd

    read = pd.to_datetime(
        pd.Series(words, dtype=object), format="ISO8601", errors="coerce", utc=True
    )
    exact = _in_microseconds(read.dt.tz_convert(None).to_numpy())
    times = np.append(exact, np.datetime64("NaT", "us"))[codes]
    return times, np.isnat(times) & there


def _in_microseconds(exact: NDArray[Any]) -> NDArray[Any]:
    """Times or spans in microseconds, NaT where these do not reach: NumPy would count around.

    In nanoseconds the year 9999, which stands for never in many a table, could not be held.
    """
    kind = exact.dtype.kind
    kept, second = exact.astype(f"{kind}8[us]"), f"{kind}8[s]"
    kept[kept.astype(second) != exact.astype(second)] = np.array("NaT", dtype=kept.dtype)
    return kept


__all__ = [
    "codes_of",
    "dates_of",
    "is_missing",
    "kind_of_cells",
    "numbers_of",
    "plain_type",
    "word_of",
    "words_of_codes",
]
