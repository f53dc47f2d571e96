"""Files of lists and scores: CSV, TSV, JSON lines, Parquet, and workbooks of one sheet."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import math
import re
import sys
import zipfile
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._atomic import replacing
from ..inputs.printable import printable, printable_json
from .checks import check_list_name
from .output import UsageError

#: Rows of a sheet, and letters of a cell, that Excel reads.
MOST_ROWS = 1 << 20
MOST_LETTERS = 32_767
#: Characters that XML has no place for, and what would be read as one of them.
_ESCAPED = re.compile("[\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = '<Relationship Id="rId1" Type="{}/{}" Target="{}"/>'
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/'
    'vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/>'
    "</Types>",
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f"{_RELATION.format(_OFFICE, 'officeDocument', 'xl/workbook.xml')}</Relationships>",
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
    '<sheets><sheet name="list" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f"{_RELATION.format(_OFFICE, 'worksheet', 'worksheets/sheet1.xml')}</Relationships>",
}
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


class ScoreFile:
    """Columns of ids and scores; rows are numbered where no column of ids is named.

    Without a path it is standard output: CSV, or `lines` of JSON. Ids are exact, except for CSV on
    a terminal, where control characters are escaped.
    """

    def __init__(self, path: str | None, id: str | None, *, lines: bool = False) -> None:
        self._path, self._id = path, id
        self._name = id or "row"
        self._stack = contextlib.ExitStack()
        self._ending = ".jsonl" if lines else check_list_name(path)
        self._begun = False

    def __enter__(self) -> ScoreFile:
        with contextlib.ExitStack() as stack:
            if self._path is None:
                sys.stdout.flush()
                self._file: Any = sys.stdout.buffer
                stack.callback(self._file.flush)
            else:
                self._file = stack.enter_context(packed(self._path))
                if self._ending == ".parquet":
                    self._file = stack.enter_context(self._parquet_writer(self._file))
                if self._ending == ".xlsx":
                    self._file = stack.enter_context(Sheet(self._file, self._path))
            self._stack = stack.pop_all()
        return self

    def _parquet_writer(self, file: Any) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        names = pa.int64() if self._id is None else pa.string()
        self._schema = pa.schema([(self._name, names), ("score", pa.float64())])
        return parquet.ParquetWriter(file, self._schema)

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def write(self, names: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """Some more rows; all digits of the scores."""
        both = zip(names.tolist(), scores.tolist(), strict=True)
        if self._ending == ".xlsx":
            for row in both if self._begun else [(self._name, "score"), *both]:
                self._file.row(row)
            self._begun = True
            return
        if self._ending == ".jsonl":
            lines = [
                printable_json(json.dumps({self._name: own, "score": s}, ensure_ascii=False))
                for own, s in both
            ]
            self._file.write(("\n".join(lines) + "\n").encode())
            return
        import pyarrow as pa

        if self._path is None and self._id is not None and sys.stdout.isatty():
            names = np.array([printable(name) for name in names], dtype=object)
        own = pa.array(names, type=pa.int64() if self._id is None else pa.string())
        rows = pa.table([own, pa.array(scores)], names=[self._name, "score"])
        if self._ending == ".parquet":
            self._file.write_table(rows)
            return
        from pyarrow import csv as arrow

        comma = "\t" if self._ending == ".tsv" else ","
        if not self._begun:  # not before there are rows: a table may be refused
            self._file.write(line_of([self._name, "score"], comma))
            self._begun = True
        # Into memory first: a writer closes its file, which here goes on.
        text = io.BytesIO()
        arrow.write_csv(
            rows,
            text,
            arrow.WriteOptions(include_header=False, delimiter=comma, quoting_style="needed"),
        )
        self._file.write(text.getbuffer())


def line_of(cells: list[str], comma: str = ",") -> bytes:
    """A line of cells, quoted where they need it."""
    text = io.StringIO()
    csv.writer(text, delimiter=comma, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


@contextlib.contextmanager
def packed(path: str) -> Any:
    """A file to write bytes to, packed if its name says so; it is there once all is written."""
    with replacing(path) as file:
        if path.endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packing:
                yield packing
        elif path.endswith(".zst"):
            import pyarrow as pa

            with pa.CompressedOutputStream(pa.PythonFile(_Open(file), "w"), "zstd") as packing:
                yield packing
        else:
            yield file


class _Open(io.RawIOBase):
    """A file that others may close, and is not closed by that."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, content: Any) -> int:
        """As the file does."""
        return int(self._file.write(content))


class Sheet:
    """Writes rows of texts and numbers to the one sheet of a workbook."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._name, self._rows, self._bytes = name, 0, 0
        self._zip = zipfile.ZipFile(file, "w")
        for part, content in _PARTS.items():
            self._zip.writestr(_entry(part), _HEAD + content)
        self._sheet = self._zip.open(_entry("xl/worksheets/sheet1.xml"), "w")
        self._write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>')

    def __enter__(self) -> Sheet:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._write("</sheetData></worksheet>")
        self._sheet.close()
        self._zip.close()

    def row(self, cells: Iterable[Any]) -> None:
        """Write the next row: numbers as such, None as an empty cell, all else as text."""
        self._rows += 1
        # Beyond 2 GB the zip has a form that Excel does not read.
        if self._rows > MOST_ROWS or self._bytes > (1 << 31) - (1 << 24):
            raise UsageError(
                f"{self._name}: Excel reads no more than {MOST_ROWS:,} rows or 2 GB of a sheet: "
                "write .csv or .parquet."
            )
        made = "".join(self._cell(chr(65 + j), cell) for j, cell in enumerate(cells))
        self._write(f'<row r="{self._rows}">{made}</row>')

    def _cell(self, column: str, cell: Any) -> str:
        place = f'r="{column}{self._rows}"'
        if cell is None:
            return ""
        if isinstance(cell, int | float) and math.isfinite(cell):
            return f"<c {place}><v>{cell!r}</v></c>"
        text = str(cell)
        if len(text) > MOST_LETTERS:
            raise UsageError(
                f"{self._name}, row {self._rows}: Excel reads no more than {MOST_LETTERS:,} "
                f"letters of a cell, and one has {len(text):,}: write .csv or .parquet."
            )
        return f'<c {place} t="inlineStr"><is><t xml:space="preserve">{_xml(text)}</t></is></c>'

    def _write(self, text: str) -> None:
        self._bytes += self._sheet.write(text.encode())


def _entry(name: str) -> zipfile.ZipInfo:
    # All entries have the same date, so that equal lists are equal files.
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _xml(text: str) -> str:
    """Return text as XML, with characters it cannot hold as Excel writes them: _x001B_."""
    text = _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


__all__ = ["MOST_LETTERS", "MOST_ROWS", "ScoreFile", "Sheet", "line_of", "packed"]
