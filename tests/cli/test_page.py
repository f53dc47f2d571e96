"""The page of the command line shows what the commands print."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from support.orders import orders

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


def test_the_page_shows_what_is_printed(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    orders(2000).to_csv("orders.csv", index=False)
    orders(1000, seed=1).drop(columns="fraud").to_parquet("today.parquet", index=False)
    orders(1000, seed=2).to_csv("last-month.csv", index=False)
    text = PAGE.read_text(encoding="utf-8")
    (config,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    Path("run.toml").write_text(config)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert Path("orders.csv").read_text().startswith(shown)
    blocks = re.findall(
        r"^```console\n\$ toprank (.*?)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    assert {words.split()[0] for words, _ in blocks} == {
        "fit",
        "top",
        "score",
        "evaluate",
        "export",
        "inspect",
    }
    for words, expected in blocks:
        code = 2 if expected.startswith("toprank: ") else 0
        printed = run(*shlex.split(words), code=code).output
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(expected, printed, flags), printed
