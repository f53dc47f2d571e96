"""A table of orders, some of them fraud, in files of every format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from toprank.cli.app import toprank


def orders(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "order": [f"{seed}{k:05d}" for k in range(n)],
            "amount": rng.lognormal(4, 1, n).round(2),
            "items": rng.integers(1, 9, n),
            "country": rng.choice(["AT", "DE", "FR"], n),
            "placed": np.datetime_as_string(
                np.datetime64("2025-01-01") + rng.integers(0, 300, n).astype("timedelta64[D]")
            ),
            "member": rng.random(n) < 0.4,
        }
    )
    risk = 3 * (table["country"] == "FR") + 0.6 * table["items"] + rng.logistic(size=n)
    table["fraud"] = (risk > 5.5).astype(int)
    table.loc[::9, "amount"] = np.nan
    table.loc[::11, "country"] = None
    return table


@pytest.fixture
def run() -> Callable[..., Result]:
    def invoke(*words: Any, code: int = 0, **options: Any) -> Result:
        result = CliRunner().invoke(toprank, [str(word) for word in words], **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds old.csv to learn from, new.csv to rank, and model.toprank, made of old.csv."""
    folder = tmp_path_factory.mktemp("orders")
    orders().to_csv(folder / "old.csv", index=False)
    orders(300, seed=1).to_csv(folder / "new.csv", index=False)
    words = ["fit", folder / "old.csv", "--label", "fraud", "--id", "order", "--model", "logistic"]
    words += ["--calibrate", 0.5, "--capacity", 20, "-o", folder / "model.toprank"]
    result = CliRunner().invoke(toprank, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return folder
