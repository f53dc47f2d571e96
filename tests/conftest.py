"""Which examples the property tests draw, figures, and a core built elsewhere that may stand in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

from support import examples  # noqa: F401  (registers the profiles)
from support.other_core import use_the_core_that_is_named

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


use_the_core_that_is_named()
