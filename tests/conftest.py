"""Which examples the property tests draw, figures, and a core built elsewhere that may stand in."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from support import examples  # noqa: F401  (registers the profiles)

# `pytest --hypothesis-profile=fuzz` puts fresh examples in its place.
settings.load_profile("repeatable")
# Pictures are drawn in memory, whatever screen there is.
os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(autouse=True)
def the_same_draws_in_every_run() -> None:
    """Seed NumPy's global generator, which a fit without `random_state` draws from."""
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    """Close what pyplot holds after a test: it warns of many open figures."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


def use_core_of(folder: Path) -> None:
    """Make `toprank._core` load the extension in `folder`, which has no form for AVX2."""
    name = "toprank._core._baseline"
    (path,) = folder.glob("_baseline*.so")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    sys.modules["toprank._core._v3"] = None  # type: ignore[assignment]


if "TOPRANK_CORE" in os.environ:
    use_core_of(Path(os.environ["TOPRANK_CORE"]))
