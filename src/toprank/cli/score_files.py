"""Scores written as they come: CSV, TSV or Parquet, whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import sys
from typing import Any

from ..files.atomic import replacing
from .telling import Refusal


class ScoreFile:
    """Columns of ids and scores; rows are numbered where no column of ids is named.

    Without a path it is standard output, as CSV.
    """

    def __init__(self, path: str | None, id: str | None) -> None:
        self._path, self._name, self._numbered = path, id or "row", id is None
        self._stack = contextlib.ExitStack()
        self._text: Any = None
        self._parquet: Any = None
        plain = (path or ".csv").removesuffix(".gz")
        if not plain.endswith((".csv", ".tsv", ".parquet")) or (path or "").endswith(".parquet.gz"):
            raise Refusal(f"{path}: scores are written as .csv, .tsv (.gz) or .parquet.")
        self._separator = "\t" if plain.endswith(".tsv") else ","

    def __enter__(self) -> ScoreFile:
        with contextlib.ExitStack() as stack:
            if self._path is None:
                self._begin(sys.stdout)
            else:
                file: Any = stack.enter_context(replacing(self._path))
                if self._path.endswith(".parquet"):
                    self._parquet = stack.enter_context(self._parquet_writer(file))
                else:
                    if self._path.endswith(".gz"):
                        file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
                    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
                    stack.callback(text.detach)  # which writes what is left; the file stays open
                    self._begin(text)
            self._stack = stack.pop_all()
        return self

    def _begin(self, stream: Any) -> None:
        self._text = csv.writer(stream, delimiter=self._separator, lineterminator="\n")
        self._named = False

    def _parquet_writer(self, file: Any) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        names = pa.int64() if self._numbered else pa.string()
        self._schema = pa.schema([(self._name, names), ("score", pa.float64())])
        return parquet.ParquetWriter(file, self._schema)

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def write(self, names: Any, scores: Any) -> None:
        """Some more rows; all digits of the scores."""
        if self._text is not None:
            if not self._named:  # not before there are rows: a table may be refused
                self._text.writerow([self._name, "score"])
                self._named = True
            self._text.writerows(zip(names.tolist(), map(repr, scores.tolist()), strict=True))
            return
        import pyarrow as pa

        columns = {self._name: names.tolist(), "score": scores}
        self._parquet.write_table(pa.table(columns, schema=self._schema))


__all__ = ["ScoreFile"]
