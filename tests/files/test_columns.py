"""What the columns of a table are taken for, the words of labels, and fingerprints of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from toprank import LogisticRank
from toprank.features import table_pipeline
from toprank.files.columns import (
    as_kinds,
    check_columns,
    fingerprint_of,
    kinds_of,
    labels_of,
    plain_word,
    words_of,
)
from toprank.files.errors import TableError
from toprank.files.model import preprocessing_of
from toprank.files.tables import Table


def kinds(texts: bool = True, categories: tuple[str, ...] = (), **columns: Any) -> dict[str, str]:
    return kinds_of(pa.table(columns), "t.csv", texts=texts, categories=categories)


def test_the_kinds_of_texts() -> None:
    found = kinds(
        number=["1", "2.5", None],
        date=["2024-01-31", "2024-02-01 10:00", None],
        word=["a", "2", "b"],
        nothing=pa.array([None] * 3, pa.string()),
        named=["1", "2", "3"],
        categories=("named",),
    )
    assert found == {"number": "number", "date": "date", "word": "category", "named": "category"}
    assert kinds(texts=False, word=["1", "2"], whole=[1, 2]) == {
        "word": "category",
        "whole": "number",
    }
    with pytest.raises(TableError, match=r"column 'x' holds list<.*nothing can be made"):
        kinds(x=pa.array([[1], [2]]))


def test_a_word_among_numbers_is_refused_where_nearly_all_are_numbers() -> None:
    """A tenth of words is a slip; more of them is a column of words."""
    cells: list[Any] = [str(k) for k in range(20)]
    cells[7] = cells[12] = "x"
    with pytest.raises(TableError, match=r"row 8, column 'a': 'x' is no number, and 18 of 20"):
        kinds(a=cells)
    with pytest.raises(TableError, match=r"row 9, column 'a': 'x' is no number, and 18 of 20"):
        kinds(a=[None, *cells])
    with pytest.raises(TableError, match=r"row 1, column 'a': 'x' is no number, and 18 of 20"):
        kinds(a=["x", *cells[1:8], "8", *cells[9:12], "12", *cells[13:]])
    cells[15] = "y"
    assert kinds(a=cells) == {"a": "category"}


def test_columns_that_are_lacking_or_wrong() -> None:
    (batch,) = pa.table({"a": ["1", "x"], "z": ["1", "2"]}).to_batches()
    want = {"a": "number", "b": "number", "c": "number", "d": "date"}
    with pytest.raises(TableError, match=r"3 of 4 columns are missing: 'b', 'c', 'd'; it has 'z'"):
        check_columns(batch, want, "t.csv", ["a", "z"])
    with pytest.raises(TableError, match=r"has no column 'b', which the model was trained on\.$"):
        as_kinds(batch, {"a": "number", "b": "number"}, "t.csv", 0)
    with pytest.raises(TableError, match=r"row 12, column 'a': 'x' is no number"):
        as_kinds(batch, {"a": "number"}, "t.csv", 10)
    with pytest.raises(TableError, match=r"row 11, column 'a': '1' is no date"):
        as_kinds(batch, {"a": "date"}, "t.csv", 10)
    (endless,) = pa.table({"a": [1.0, np.inf]}).to_batches()
    with pytest.raises(TableError, match=r"row 2, column 'a': inf is no finite number"):
        as_kinds(endless, {"a": "number"}, "t.csv", 0)


def test_labels_as_words(tmp_path: Path) -> None:
    assert [plain_word(word) for word in ("1.0", "-2.", "+3", "1.5", "a", "007")] == [
        *("1", "-2", "3", "1.5", "a", "7")
    ]
    codes, words = words_of(np.array([1.0, -1.0, 0.5, 1.0]), "t.svm")
    assert [words[k] for k in codes] == ["1", "-1", "0.5", "1"]
    with pytest.raises(TableError, match="row 6: the label is missing"):
        words_of(np.array([1.0, np.nan]), "t.svm", 4)
    for count, more in ((8, r"'c7'\."), (9, r"'c7', \.\.\.\.")):
        frame = pd.DataFrame({f"c{k}": ["1.0", "0"] for k in range(count)})
        frame.to_csv(tmp_path / "t.csv", index=False)
        table = Table(str(tmp_path / "t.csv"))
        (batch,) = table.batches()
        assert labels_of(batch, "c0", table).tolist() == ["1", "0"]
        with pytest.raises(TableError, match=f"has no column 'y'; its columns are 'c0', .*{more}$"):
            labels_of(batch, "y", table)


def test_fingerprints_are_of_cells_and_not_of_how_they_are_kept() -> None:
    words = (np.array([0, 1, -1, 0]), ["a", "b"])
    other = (np.array([1, 0, -1, 1]), ["b", "a"])
    numbers, labels = np.array([0.0, 1.0, np.nan, 3.0]), [0, 1, 0, 1]
    found = fingerprint_of({"x": numbers, "w": words}, labels)
    quiet = np.array([-0.0, 1.0, -np.nan, 3.0])
    assert fingerprint_of({"x": quiet, "w": other}, ["0", "1", "0", "1"]) == found
    for columns, those in (
        ({"x": numbers, "w": (np.array([0, 1, 0, 0]), ["a", "b"])}, labels),
        ({"x": numbers, "w": (np.array([0, 1, -1, 0]), ["a", "c"])}, labels),
        ({"x": numbers + 1.0, "w": words}, labels),
        ({"y": numbers, "w": words}, labels),
        ({"x": numbers, "w": words}, [0, 1, 1, 1]),
    ):
        assert fingerprint_of(columns, those) != found


def test_what_a_model_does_to_columns_is_told() -> None:
    n = 90
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    frame.loc[3, "z"] = np.nan
    frame["few"] = np.where(np.arange(n) % 3 == 0, "a", "b")
    frame["many"] = [f"m{k % 30:02d}" for k in range(n)]
    frame.loc[0, "few"] = "rare"
    model = table_pipeline(LogisticRank(), min_frequency=2).fit(frame, np.arange(n) % 2)
    x, z, few, many = preprocessing_of(model) or []
    assert x == {"column": "x", "kind": "number", "filled_with": frame.x.median(), "flagged": False}
    assert z == {"column": "z", "kind": "number", "filled_with": frame.z.median(), "flagged": True}
    assert few["categories"] == ["a", "b"]
    assert (few["n_categories"], few["n_pooled"]) == (2, 1)
    assert many["categories"] == [f"m{k:02d}" for k in range(20)]
    assert (many["n_categories"], many["n_pooled"]) == (30, 0)
    assert preprocessing_of(LogisticRank()) is None
