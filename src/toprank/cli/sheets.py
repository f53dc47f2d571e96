"""Excel workbooks of one sheet: texts are texts, whatever they begin with, and never formulas."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterable
from typing import Any, BinaryIO

from .telling import Refusal

#: Rows of a sheet, and letters of a cell, that Excel reads.
MOST_ROWS = 1 << 20
MOST_LETTERS = 32_767
#: Bytes of a sheet, from which on its zip would have a form that Excel does not read.
_MOST_BYTES = (1 << 31) - (1 << 24)
#: All entries have this date: equal lists are equal files.
_DATE = (1980, 1, 1, 0, 0, 0)
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
        if self._rows > MOST_ROWS or self._bytes > _MOST_BYTES:
            raise Refusal(
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
            raise Refusal(
                f"{self._name}, row {self._rows}: Excel reads no more than {MOST_LETTERS:,} "
                f"letters of a cell, and one has {len(text):,}: write .csv or .parquet."
            )
        return f'<c {place} t="inlineStr"><is><t xml:space="preserve">{_xml(text)}</t></is></c>'

    def _write(self, text: str) -> None:
        self._bytes += self._sheet.write(text.encode())


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _xml(text: str) -> str:
    """Return text as XML, with characters it cannot hold as Excel writes them: _x001B_."""
    text = _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


__all__ = ["MOST_LETTERS", "MOST_ROWS", "Sheet"]
