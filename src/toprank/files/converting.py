"""convert: a table of any size made into a data set of arrays, some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._atomic import name_the_file
from ..features.arrow import codes_of
from .columns import as_kinds, plain_word, positive_word, refuse_missing_label, words_of
from .errors import TableError, UndecidedLabelsError
from .mapped import PREPARE, DataSet, open_dataset
from .mapped_writing import HEADER, Folder
from .model import load, save
from .preparing import Preparation, Unforeseen, kinds_and_sample, prepare
from .svmlight import row_ends
from .tables import Table

#: Told how many rows have been written, and what is done with them.
Tell = Callable[[int, str], None]
#: Entries that are held at a time while their columns are renumbered.
_AT_A_TIME = 1 << 24


def convert(
    data: str | PathLike[str],
    output: str | PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    positive: str | None = None,
    ignore: Sequence[str] = (),
    category: Sequence[str] = (),
    dtype: str = "float32",
    scale: bool = True,
    format: str | None = None,
    tell: Tell | None = None,
) -> DataSet:
    r"""Make a data set of a table that may be larger than memory.

    Rows are read some at a time. Categories, dates and missing values become numbers as in
    `toprank fit`. A conversion that was killed goes on where it was when it is asked for again, and
    `output` is there once it is whole.

    Parameters
    ----------
    data : str or path-like
        A CSV, TSV, Parquet, Feather, svmlight or npz file.
    output : str or path-like
        The folder to make.
    label : str
        The column with the two labels; svmlight files have a place for them.
    id : str, optional
        The column that names rows.
    weight : str, optional
        The column with their weights.
    positive : str, optional
        The label to rank first. It may be left out for 0/1, -1/1 and booleans, and where one label
        is less than half as frequent as the other: then the rarer one is ranked first.
    ignore : sequence of str, optional
        Columns to leave out.
    category : sequence of str, optional
        Columns of numbers that are names of categories.
    dtype : {"float32", "float64"}, default="float32"
        What entries are kept as.
    scale : bool, default=True
        Whether columns are brought to mean 0 and standard deviation 1; sparse rows never are.
    format : str, optional
        The format, if the name of the file does not say.
    tell : callable, optional
        Is told, as ``tell(rows, what)``, how far it is.

    Returns
    -------
    DataSet
        Opened.

    See Also
    --------
    open_dataset : Open it again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from toprank.files import convert
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "table.csv"
    ...     _ = table.write_text("x,job,fraud\n1,clerk,no\n2,nurse,yes\n4,clerk,no\n")
    ...     output = Path(folder) / "train.toprank"
    ...     data = convert(table, output, label="fraud", positive="yes", scale=False)
    >>> data.classes, data.y.tolist()
    (('no', 'yes'), [0, 1, 0])
    """
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, not {dtype!r}.")
    table = Table(os.fspath(data), format)
    if table.path == "-":
        raise TableError("standard input can be read once, and this reads a table twice.")
    about = os.stat(table.path)
    same = {
        "data": os.path.abspath(table.path),
        "bytes": about.st_size,
        "changed": about.st_mtime_ns,
        "options": [table.format, label, id, weight, *ignore, "", *category, dtype, scale],
        "toprank": version("toprank"),
    }
    folder = Folder(os.fspath(output), same)
    work = _Conversion(table, folder, label, id, weight, positive, dtype, scale, tell)
    work.ignored, work.categories = list(ignore), list(category)
    try:
        if table.sparse:
            work.sparse_rows()
        else:
            try:
                work.dense_rows()
            except Unforeseen:  # a missing value that the few rows looked at first did not show
                folder.discard()
                work.folder = Folder(os.fspath(output), same)
                work.dense_rows(look_at_all=True)
    except UndecidedLabelsError:  # the rows read are kept: --positive is all that is missing
        work.folder.abandon()
        raise
    except (TableError, ValueError):
        work.folder.discard()
        raise
    except BaseException as error:
        work.folder.abandon()
        if isinstance(error, OSError) and name_the_file(error, output):
            left = work.folder.path.name
            error.strerror = f"no room is left: {left} keeps what is done; make room and repeat"
        raise
    return open_dataset(output)


class _Conversion:
    def __init__(
        self,
        table: Table,
        folder: Folder,
        label: str | None,
        id: str | None,
        weight: str | None,
        positive: str | None,
        dtype: str,
        scale: bool,
        tell: Tell | None,
    ) -> None:
        self.table, self.folder, self.label, self.id = table, folder, label, id
        self.weight, self.positive, self.scale = weight, positive, scale
        self.dtype = "<f4" if dtype == "float32" else "<f8"
        self.tell = tell or (lambda rows, what: None)
        self.ignored: list[str] = []
        self.categories: list[str] = []

    def dense_rows(self, *, look_at_all: bool = False) -> None:
        """Columns with names."""
        if self.label is None:
            raise TableError("--label COLUMN is missing: the column that says yes or no.")
        folder, table = self.folder, self.table
        others = [name for name in (self.label, self.id, self.weight) if name is not None]
        if "kinds" in folder.state:
            pipeline = load(folder.path / PREPARE)
            kinds, names = folder.state["kinds"], folder.state["names"]
        else:
            others += self.ignored
            kinds, sample = kinds_and_sample(
                table, others, self.categories, self.tell, look_at_all=look_at_all
            )
            pipeline, names = prepare(sample, scale=self.scale)
            del sample
            save(pipeline, folder.path / PREPARE)
        state = folder.state or {"kinds": kinds, "names": names, "labels": []}
        prepared = Preparation(pipeline, kinds)
        if self.weight is not None:
            folder.array("weight", "<f8")
        if self.id is not None:
            folder.array("ids.text", "|u1")
            folder.array("ids.ends", "<i8")
        X, y = folder.array("X", self.dtype, len(names)), folder.array("y", "|i1")
        for batch in table.batches([*kinds, *others], skip=y.rows):
            if not batch.num_rows:
                continue
            first = y.rows
            columns = as_kinds(batch, kinds, table.name, first)
            numbers = self._numbers(prepared, columns, names, first)
            codes, words = codes_of(batch.column(self.label))
            coded = self._codes(codes, [plain_word(word) for word in words], state, first)
            self._more(batch, first)
            X.add(numbers)
            y.add(coded)
            folder.note(numbers.nbytes, state)
            self.tell(y.rows, "converting")
        counts = self._counts(state)
        self._finish(counts, kind="dense", columns=len(names), names=names, kinds=kinds)

    def _numbers(
        self, prepared: Preparation, columns: Any, names: list[str], first: int
    ) -> NDArray[Any]:
        """The rows as numbers, all of them finite in the type they are kept as."""
        numbers = prepared(columns)
        with np.errstate(over="ignore"):
            kept = numbers.astype(self.dtype)
        if not np.isfinite(kept).all():
            row, column = np.argwhere(~np.isfinite(kept))[0]
            raise TableError(
                f"{self.table.name}, row {first + row + 1}, column {names[column]!r}: "
                f"{numbers[row, column]:g} is beyond float32; pass --dtype float64."
            )
        return np.asarray(kept)

    def _more(self, batch: Any, first: int) -> None:
        """Weights and ids."""
        table, folder = self.table, self.folder
        if self.weight is not None:
            values = as_kinds(batch, {self.weight: "number"}, table.name, first)[self.weight]
            wrong = ~(values >= 0.0)
            if wrong.any():
                row = int(np.argmax(wrong))
                raise TableError(
                    f"{table.name}, row {first + row + 1}, column {self.weight!r}: {values[row]:g} "
                    "is no weight; weights are numbers from 0 on."
                )
            folder.array("weight", "<f8").add(values)
        if self.id is not None:
            codes, words = codes_of(batch.column(self.id))
            names = np.array([*(word.encode() for word in words), b""], dtype=object)[codes]
            whole = folder.array("ids.text", "|u1")
            ends = whole.rows + np.cumsum([len(name) for name in names])
            whole.add(np.frombuffer(b"".join(names), dtype=np.uint8))
            folder.array("ids.ends", "<i8").add(ends)

    def sparse_rows(self) -> None:
        """svmlight: labels first, then places and values."""
        named = {
            "--label": self.label,
            "--id": self.id,
            "--weight": self.weight,
            "--ignore": self.ignored,
            "--category": self.categories,
        }
        if given := [option for option, value in named.items() if value]:
            raise TableError(
                "svmlight files have labels in their first column and no names: leave "
                f"{' and '.join(given)} out."
            )
        folder, table = self.folder, self.table
        state = folder.state or {"labels": [], "columns": 0, "from_zero": False}
        wide = os.path.getsize(table.path) > 2**32 or table.packing  # there may be 2^31 entries
        kind = "<i8" if wide else "<i4"
        data, indices = folder.array("X.data", self.dtype), folder.array("X.indices", kind)
        indptr, y = folder.array("X.indptr", kind), folder.array("y", "|i1")
        if not indptr.rows:
            indptr.add(np.zeros(1))
        skip = y.rows
        for X, labels in table.matrices(2**31 - 1, from_zero=True):
            if skip >= len(labels):
                skip -= len(labels)
                continue
            first = y.rows
            X = X[skip:]
            self._check_sparse(X, first)
            indptr.add(row_ends(X, data.rows))
            data.add(X.data)
            indices.add(X.indices)
            y.add(self._codes(*words_of(labels[skip:], table.name, first), state, first))
            skip = 0
            if len(X.indices):
                state["columns"] = max(state["columns"], int(X.indices.max()) + 1)
                state["from_zero"] = state["from_zero"] or bool((X.indices == 0).any())
            folder.note(X.data.nbytes * 2, state)
            self.tell(y.rows, "converting")
        counts = self._counts(state)
        columns = state["columns"] - (not state["from_zero"])
        if not state["from_zero"]:
            folder.forget_note()
            indices.flush()
            self._count_from_zero(indices.rows, kind)
        about = {"entries": data.rows, "from_zero": state["from_zero"]}
        self._finish(counts, kind="csr", columns=max(columns, 0), names=None, **about)

    def _check_sparse(self, X: Any, first: int) -> None:
        with np.errstate(over="ignore"):
            wrong = ~np.isfinite(X.data.astype(self.dtype))
        if wrong.any():
            at = int(np.argmax(wrong))
            row = int(np.searchsorted(X.indptr, at, side="right"))
            raise TableError(
                f"{self.table.name}, row {first + row}, column {X.indices[at]}: {X.data[at]:g} is "
                "no finite number, or beyond float32."
            )

    def _count_from_zero(self, entries: int, kind: str) -> None:
        """Columns that are numbered from 1, as svmlight's are, from 0 on."""
        if not entries:
            return
        file = self.folder.path / "X.indices.npy"
        places = np.memmap(file, mode="r+", dtype=kind, offset=HEADER, shape=(entries,))
        for begin in range(0, entries, _AT_A_TIME):
            places[begin : begin + _AT_A_TIME] -= 1
        places.flush()

    def _codes(
        self, place: NDArray[np.int64], words: list[str], state: dict[str, Any], first: int
    ) -> NDArray[np.int8]:
        """0 for the first label that was met, 1 for the second; `place` is among the words."""
        refuse_missing_label(place < 0, self.table.name, first, self.label)
        known: list[str] = state["labels"]
        codes = np.zeros(len(words), dtype=np.int8)
        for k, word in enumerate(words):
            if word not in known and len(known) == 2:
                row = first + int(np.argmax(place == k)) + 1
                raise TableError(
                    f"{self.table.name}, row {row}: {word!r} is a third label, after {known[0]!r} "
                    f"and {known[1]!r}; there must be two."
                )
            if word not in known:
                known.append(word)
            codes[k] = known.index(word)
        if self.positive is not None and len(known) == 2 and self.positive not in known:
            raise TableError(
                f"{self.table.name}: --positive {self.positive} is no label; there are "
                f"{known[0]!r} and {known[1]!r}."
            )
        return np.asarray(codes[place])

    def _counts(self, state: dict[str, Any]) -> dict[str, int]:
        """Return the two labels, in the order of their codes, with their rows."""
        known, y, name = state["labels"], self.folder.array("y", "|i1"), self.table.name
        if not y.rows:
            raise TableError(f"{name} has no rows.")
        if len(known) < 2:
            raise TableError(f"{name}: there must be two labels, and all rows have {known[0]!r}.")
        y.flush()
        second = int(np.count_nonzero(self._y_codes("r")))
        counts = {known[0]: y.rows - second, known[1]: second}
        try:
            positive_word(counts, self.positive, name)
        except UndecidedLabelsError:
            self.folder.note(0, state, now=True)
            raise
        return counts

    def _y_codes(self, mode: Literal["r", "r+"]) -> NDArray[np.int8]:
        """Return the codes of the labels that were written."""
        rows = self.folder.array("y", "|i1").rows
        path = self.folder.path / "y.npy"
        return np.memmap(path, mode=mode, dtype=np.int8, offset=HEADER, shape=(rows,))

    def _finish(self, counts: dict[str, int], **meta: Any) -> None:
        positive = positive_word(counts, self.positive, self.table.name)
        first, second = counts
        self.folder.forget_note()
        if second != positive:
            codes = self._y_codes("r+")
            np.subtract(1, codes, out=codes)
            codes.flush()  # type: ignore[attr-defined]
        self.folder.finish(
            {
                "toprank": version("toprank"),
                "rows": sum(counts.values()),
                "positives": counts[positive],
                "classes": [second if first == positive else first, positive],
                "positive_named": self.positive is not None,
                "label": self.label,
                "id": self.id,
                "weight": self.weight,
                "scaled": bool(self.scale and meta["kind"] == "dense"),
                "finite": True,
                "source": Path(self.table.path).name,
                **meta,
            }
        )


__all__ = ["convert"]
