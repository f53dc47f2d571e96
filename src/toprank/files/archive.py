"""A zip of one JSON text and plain arrays, read without trust in anything it declares.

Nothing is compressed, so that no entry can be larger than the file; entries together are no larger
than the file either, so that memory is bounded by its size.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import struct
import zipfile
import zlib
from math import prod
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .errors import BAD_HEADER, ModelFileError

#: The entry that says what the arrays are.
TEXT = "model.json"
_ARRAY = re.compile(r"arrays/(0|[1-9][0-9]{0,8})\.npy")
#: Objects made of a text take some ten times its bytes. Names of a million columns are 20 MB.
_LONGEST_TEXT = 1 << 28
#: All entries have this date: equal models are equal files.
_DATE = (1980, 1, 1, 0, 0, 0)


#: What Python raises of a zip that is damaged; OSError where it points before its own start.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OSError)


class Writer:
    """Writes arrays as they come, and at last the text."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self._names: dict[int, tuple[str, NDArray[Any]]] = {}

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._zip.close()
        else:
            with contextlib.suppress(OSError):  # what is said already is why it failed
                self._zip.close()

    def add(self, array: NDArray[Any]) -> str:
        """Write an array, once, and return its name."""
        known = self._names.get(id(array))
        if known is not None:
            return known[0]
        name = f"arrays/{len(self._names)}.npy"
        with self._zip.open(zipfile.ZipInfo(name, _DATE), "w", force_zip64=True) as entry:
            npy.write_array(entry, array, allow_pickle=False)
        self._names[id(array)] = (name, array)  # held, so that no other gets its number
        return name

    def tell(self, text: dict[str, Any]) -> None:
        """Write the text."""
        content = json.dumps(text, allow_nan=False, ensure_ascii=False, indent=1).encode()
        if len(content) > _LONGEST_TEXT:
            raise ModelFileError(
                f"its names and parameters are {len(content) >> 20} MB of text, above the "
                f"{_LONGEST_TEXT >> 20} MB that a model file may hold"
            )
        self._zip.writestr(zipfile.ZipInfo(TEXT, _DATE), content)


class Reader:
    """Reads the text at once, arrays when they are asked for."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 (closed by __exit__)
        try:
            self._entries = self._check_entries()
            self.text = self._read_text()
        except _DAMAGE as error:
            self._file.close()
            raise ModelFileError("it is no model file, or a truncated one") from error
        except BaseException:
            self._file.close()
            raise
        self._arrays: dict[str, NDArray[Any]] = {}

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def _check_entries(self) -> dict[str, zipfile.ZipInfo]:
        size = os.fstat(self._file.fileno()).st_size
        self._zip = zipfile.ZipFile(self._file)
        entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self._zip.infolist():
            name = entry.filename
            if name != TEXT and not _ARRAY.fullmatch(name):
                raise ModelFileError(f"it has an entry {name[:80]!r}, which no model file has")
            if name in entries:
                raise ModelFileError(f"it has two entries {name!r}")
            if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
                raise ModelFileError(f"its entry {name!r} is compressed or encrypted")
            if entry.file_size != entry.compress_size:
                raise ModelFileError(f"its entry {name!r} declares two sizes")
            entries[name] = entry
        if TEXT not in entries:
            raise ModelFileError(f"it is a zip without {TEXT!r}, so no model file")
        if sum(entry.file_size for entry in entries.values()) > size:
            raise ModelFileError("its entries are larger than the file")
        return entries

    def _read_text(self) -> dict[str, Any]:
        if self._entries[TEXT].file_size > _LONGEST_TEXT:
            raise ModelFileError(f"its text is longer than {_LONGEST_TEXT >> 20} MB")
        try:
            text = json.loads(bytes(self._bytes(TEXT)), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ModelFileError(f"its {TEXT!r} is no text that toprank wrote") from error
        if not isinstance(text, dict):
            raise ModelFileError(f"its {TEXT!r} is no text that toprank wrote")
        return text

    def _bytes(self, name: str) -> bytearray:
        entry = self._entries[name]
        content = bytearray(entry.file_size)
        view = memoryview(content)
        with self._zip.open(entry) as stream:
            read = 0
            while read < len(content) and (more := stream.readinto(view[read:])):  # type: ignore[attr-defined]
                read += more
            if read != len(content) or stream.read(1):
                raise ModelFileError(f"its entry {name!r} is truncated")
        return content

    def array(self, name: Any) -> NDArray[Any]:
        """An array of the file; the same one if it is asked for again."""
        if not isinstance(name, str) or name == TEXT or name not in self._entries:
            raise ModelFileError(f"its array {str(name)[:80]!r} is missing")
        if name not in self._arrays:
            try:
                self._arrays[name] = _array_of(self._bytes(name), name)
            except _DAMAGE as error:
                raise ModelFileError(f"its array {name!r} is damaged") from error
        return self._arrays[name]


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _array_of(content: bytearray, name: str) -> NDArray[Any]:
    """The array of an .npy, whose shape must be that of its bytes."""
    head = io.BytesIO(content)
    try:
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, in_columns, dtype = read[npy.read_magic(head)](head)
    except BAD_HEADER as error:
        raise ModelFileError(f"its array {name!r} has no header that can be read") from error
    if dtype.hasobject:
        raise ModelFileError(f"its array {name!r} holds Python objects, which may run code")
    size = len(content) - head.tell()
    if dtype.itemsize == 0 or dtype.subdtype or any(side < 0 for side in shape):
        raise ModelFileError(f"its array {name!r} has no shape that can be")
    if prod(shape) * dtype.itemsize != size:
        raise ModelFileError(
            f"its array {name!r} declares shape {str(shape)[:80]} of {dtype.itemsize} bytes each, "
            f"and holds {size} bytes"
        )
    flat = np.frombuffer(content, dtype=dtype, offset=head.tell())
    try:
        return flat.reshape(shape, order="F" if in_columns else "C")
    except (ValueError, OverflowError) as error:  # too many sides, or one beyond any array's
        raise ModelFileError(f"its array {name!r} has no shape that can be") from error


__all__ = ["TEXT", "Reader", "Writer"]
