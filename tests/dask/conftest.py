"""A small cluster, in this process, for all tests of a module."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Client

import dask


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two workers, which are threads."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        dask.config.set({"distributed.admin.system-monitor.gil.enabled": False}),
        Client(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as client,
    ):
        yield client
