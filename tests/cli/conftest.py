"""The program run in this process, and a model of orders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.orders import orders
from toprank.cli.app import toprank


@pytest.fixture(scope="session")
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
