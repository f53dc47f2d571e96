"""The reference cases of guarantees, intervals and thresholds."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reference_files import CASES, reference_file


@cache
def _cases() -> dict[str, Any]:
    return dict(json.loads((CASES / "guarantees.json").read_text()))


@cache
def _arrays() -> dict[str, NDArray[Any]]:
    with np.load(reference_file("guarantees")) as archive:
        return {name: archive[name] for name in archive.files}


def guarantee_case(name: str) -> Any:
    """A part of the cases."""
    return _cases()[name]


def guarantee_arrays(case: str, *names: str) -> tuple[NDArray[Any], ...]:
    """The arrays of a case."""
    return tuple(_arrays()[f"{case}_{name}"] for name in names)
