"""Model files of raw tables: texts and arrays that may be anything, in a zip that is whole."""

from __future__ import annotations

import contextlib
import functools
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import toprank
from support.raw_tables import raw_labels, raw_table

#: What scoring may raise.
_ERRORS = (ValueError, TypeError, AttributeError, IndexError, KeyError, MemoryError)
#: Between the entries of the zip, each with its name in a line before it.
_NEXT = b"\n== next ==\n"


@functools.cache
def _new() -> Any:
    return raw_table(30, seed=3)


def table_models() -> list[bytes]:
    """Return models of a raw table: a linear score, trees, and a blend of both."""
    table = raw_table(300)
    y = raw_labels(table) == "fraud"
    file = Path("good.toprank")
    files = []
    for options in (
        {"candidates": "fast"},
        {"candidates": "trees"},
        {"candidates": ["forest", "columns"], "trees": True},
    ):
        ranker = toprank.HeadRanker(cv=2, random_state=0, **options).fit(table, y)
        toprank.save(ranker, file)
        with zipfile.ZipFile(file) as archive:
            files.append(
                _NEXT.join(
                    name.encode() + b"\n" + archive.read(name) for name in archive.namelist()
                )
            )
    return files


def read_table_model(path: Path) -> None:
    """Load the parts as a model, and score a few rows with gaps."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        names = set()
        for part in path.read_bytes().split(_NEXT):
            name, _, data = part.partition(b"\n")
            text = name.decode("utf-8", "replace").partition("\0")[0][:100] or "x"
            if text not in names:
                names.add(text)
                archive.writestr(text, data)
    Path("harmed.toprank").write_bytes(made.getvalue())
    model = toprank.load("harmed.toprank")
    # A model whose steps do not go together may raise when it scores rows.
    with np.errstate(all="ignore"), contextlib.suppress(*_ERRORS):
        model.decision_function(_new())


__all__ = ["read_table_model", "table_models"]
