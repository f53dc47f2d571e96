"""The compiled reader of svmlight texts gives scikit-learn's matrix, and names bad lines."""

from __future__ import annotations

import io
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from toprank.files import svmlight
from toprank.files.svmlight import SvmlightReader, read_all, row_ends, whole_lines


def same(found: sparse.csr_matrix, expected: sparse.csr_matrix) -> None:
    assert found.shape == expected.shape
    assert found.data.tobytes() == expected.data.tobytes()
    # Numbers of columns are narrower here, where they fit.
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(found.indptr, expected.indptr)


def as_scikit_learn(text: bytes) -> None:
    X, labels, _ = read_all(io.BytesIO(text))
    expected, own = load_svmlight_file(io.BytesIO(text))
    same(X, expected)
    assert labels.tobytes() == own.tobytes()


@pytest.mark.parametrize(
    "text",
    [
        b"1 1:2 3:4\n-1 2:5\n",
        b"1 0:2 3:4\n-1 2:5\n",
        b"1 0:2\n-1 2:5\n",
        b"1 0:2\n",
        b"1 1:2 3:4\n-1 2:5",
        b"1 1:2 3:4\r\n-1 2:5\r\n",
        b"# a comment: with 1:2\n\n   \n1 1:2 # and 7:3\n#\n-1 2:5\n",
        b"1 qid:7 1:2\n-1 qid:8:9 2:5\n1 qid:x\n",
        b"1\n-1\n0\n",
        b"1 3:0 4:-0 5:0.0\n",
        b"+1 +2:+3.5 0010:7\n",
        b"1.5 1:1e400 2:-1e400 3:1e-400 4:-1e-400 5:4.9e-324 6:2e-324 7:1.7976931348623159e308\n",
        b"nan 1:nan 2:inf 3:-Infinity 4:+INF\n",
        b"1 1:0.1 2:.5 3:5. 4:1e22 5:1e23 6:123456789012345678901234567890 7:9007199254740993\n",
        b"1 1:0." + b"0" * 400 + b"1 2:1" + b"0" * 400 + b" 3:0." + b"0" * 400 + b"1e401\n",
        b"1 1:1e0000000000000000000000005 2:1e-99999999999999999999 3:1E+3\n",
        b"1\t1:2\x0b2:3\x0c4:5\n",
        b"1 2147483646:3\n",
    ],
)
def test_the_same_matrix(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    as_scikit_learn(text)
    for block in (1, 2, 7, 64):
        monkeypatch.setattr(svmlight, "BLOCK", block)
        as_scikit_learn(text)


@given(st.floats(width=64), st.sampled_from([repr, "{:.17g}".format, "{:.3f}".format]))
def test_the_same_numbers(value: float, write: object) -> None:
    text = write(value)  # type: ignore[operator]
    X, _, _ = read_all(io.BytesIO(f"1 1:{text}\n".encode()))
    own, expected = float(X.data[0]), float(text)
    assert struct.pack("d", own) == struct.pack("d", expected) or math.isnan(own) == math.isnan(
        expected
    )


@given(st.from_regex(rb"[+-]?[0-9]{0,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{0,4})?", fullmatch=True))
def test_texts_of_numbers_as_python_reads_them(text: bytes) -> None:
    stream = io.BytesIO(b"1 1:" + text + b"\n")
    try:
        expected = float(text)
    except ValueError:
        with pytest.raises(ValueError, match="line 1: "):
            read_all(stream)
        return
    X, _, _ = read_all(stream)
    assert struct.pack("d", float(X.data[0])) == struct.pack("d", expected)


@pytest.mark.parametrize("zero_based", [True, False])
def test_rows_of_a_known_width(zero_based: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(300, 40, density=0.1, random_state=0, format="csr")
    y = rng.standard_normal(300)
    stream = io.BytesIO()
    dump_svmlight_file(X, y, stream, zero_based=zero_based)
    monkeypatch.setattr(svmlight, "BLOCK", 1000)
    reader = SvmlightReader(io.BytesIO(stream.getvalue()), 40, from_zero=zero_based)
    parts = list(reader)
    assert len(parts) > 5
    expected, labels = load_svmlight_file(
        io.BytesIO(stream.getvalue()), n_features=40, zero_based=zero_based
    )
    same(sparse.vstack([part for part, _ in parts], format="csr"), expected)
    assert np.concatenate([own for _, own in parts]).tobytes() == labels.tobytes()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"a 1:2", "the label 'a' is no number"),
        (b"1,2 1:2", "the label '1,2' is no number"),
        (b"0x1 1:2", "the label '0x1'"),
        (b"1 a:2", "'a:2' is no entry, such as 3:0.5"),
        (b"1 2", "'2' is no entry"),
        (b"1 1: 2", "the value of '1:' is no number"),
        (b"1 1:2:3", "the value of '1:2:3' is no number"),
        (b"1 1:nan(1)", "the value of '1:nan"),
        (b"1 1:--1", "the value of '1:--1'"),
        (b"1 1:1e", "the value of '1:1e'"),
        (b"1 -1:2", "the index of '-1:2' is below 0, the first one"),
        (b"1 3:2 2:1", "'2:1' comes after index 3: indices rise within a line"),
        (b"1 3:2 3:1", "'3:1' comes after index 3"),
        (b"1 99999999999999999999:1", "'99999999999999999999:1' is no entry"),
        (b"1 1:\xff\x00", "the value of '1:??' is no number"),
        (b"1 qid:3 qid:4", "'qid:4' is no entry"),
    ],
)
def test_bad_lines_are_named(line: bytes, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"# first\n\n1 1:2\n" + line + b"\n1 1:2\n"
    for block in (1 << 20, 5):
        monkeypatch.setattr(svmlight, "BLOCK", block)
        with pytest.raises(ValueError, match=r"^line 4: ") as caught:
            read_all(io.BytesIO(text))
        assert what in str(caught.value)


def test_a_column_beyond_the_last_is_refused() -> None:
    for from_zero, last in ((True, 2), (False, 3)):
        reader = SvmlightReader(io.BytesIO(b"1 1:1\n1 4:1\n"), 3, from_zero=from_zero)
        with pytest.raises(ValueError, match=f"line 2: the index of '4:1' is above {last}"):
            list(reader)


def test_more_columns_than_scikit_learn_can_count() -> None:
    X, _, _ = read_all(io.BytesIO(b"1 2147483649:3 9000000000:1\n"))
    assert X.shape == (1, 9_000_000_000)
    assert X.indices.tolist() == [2147483648, 8999999999]


def test_no_rows() -> None:
    X, labels, from_zero = read_all(io.BytesIO(b"\n# nothing\n"))
    assert X.shape == (0, 0)
    assert labels.tolist() == []
    assert from_zero


def test_blocks_end_with_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svmlight, "BLOCK", 4)
    for text, expected in (
        (b"", []),
        (b"a\nb\n", [b"a\nb\n"]),
        (b"a\nbc", [b"a\n", b"bc"]),
        (b"abcdef\nb\ncd\ne", [b"abcdef\n", b"b\ncd\n", b"e"]),
        (b"abcdefgh", [b"abcdefgh"]),
    ):
        found = list(whole_lines(io.BytesIO(text)))
        assert b"".join(found) == text
        assert found == expected


def test_blocks_are_as_wide_as_those_up_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svmlight, "BLOCK", 1)
    reader = SvmlightReader(io.BytesIO(b"1\n1 0:1\n1 4:1\n1 2:1\n"), None, from_zero=True)
    assert [X.shape for X, _ in reader] == [(1, 1), (1, 1), (1, 5), (1, 5)]
    assert (reader.least, reader.largest) == (0, 4)


def test_more_entries_than_a_block_can_count() -> None:
    block = sparse.csr_matrix(np.eye(3))
    assert block.indptr.dtype == np.int32
    before = 2**31 - 2
    assert row_ends(block, before).tolist() == [before + 1, before + 2, before + 3]
