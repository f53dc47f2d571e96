"""The net compares two lists of results: worse objectives, slow cells, memory, errors."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toprank import methods

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
MODULES = ("tables", "data", "memory", "net", "net_cells", "net_compare", "net_worker")


@pytest.fixture(scope="module")
def net() -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        for name in MODULES:
            patch.delitem(sys.modules, name, raising=False)
        yield {name: importlib.import_module(name) for name in MODULES}
        for name in MODULES:
            del sys.modules[name]


def result(key: str, **more: Any) -> dict[str, Any]:
    """A certified fit: objective 2, gap 2e-5, tolerance 1e-4, 10 ms."""
    fit = {
        "key": key, "family": "pairs", "seconds": 0.01, "warnings": [], "solver": "newton",
        "primal": 2.0, "dual": 2.0 - 2e-5, "gap": 1e-5, "tol": 1e-4, "hash": "a",
        "coef": [1.0, 2.0], "memory": False,
    }  # fmt: skip
    return fit | more


def compared(net: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> Any:
    return net["net_compare"].compare({before["key"]: before}, {after["key"]: after})


def test_equal_results_pass(net):
    found = compared(net, result("A"), result("A"))
    assert not found.failed
    assert found.same_bits == 1
    assert "Verdict: go on." in net["net_compare"].page(found)


@pytest.mark.parametrize(
    "after",
    [
        {"primal": 2.01, "dual": 2.01 - 2e-5},  # beyond the gaps and the tolerance
        {"primal": 2.01, "dual": 1.9, "gap": 0.05},  # an honest gap that misses the tolerance
        {"primal": float("inf"), "dual": 1.9, "gap": float("inf")},
        {"primal": float("nan")},
    ],
)
def test_a_worse_objective_is_found(net, after):
    found = compared(net, result("A"), result("A", **after))
    assert [line.split(":")[0] for line in found.worse] == ["A"]
    assert found.failed


def test_a_difference_within_the_gaps_is_none(net):
    found = compared(net, result("A"), result("A", primal=2.0 + 1e-5))
    assert not found.worse
    assert not found.apart


@pytest.mark.parametrize("primal", [1.9, 2.0 + 1e-4])
def test_a_contradiction_that_harms_nobody_is_listed(net, primal):
    found = compared(net, result("A"), result("A", primal=primal, dual=primal - 2e-5))
    assert len(found.apart) == 1
    assert not found.failed


@pytest.mark.parametrize("before", [{"dual": None, "gap": None}, {"dual": 0.1, "gap": 0.95}])
def test_a_change_that_no_gap_can_judge_is_listed(net, before):
    old = result("A", **before)
    found = compared(net, old, old | {"coef": [1.0, 2.2], "hash": "b"})
    assert len(found.changed) == 1
    assert not found.failed


def test_a_slow_cell_is_named(net):
    before = {name: result(name) for name in "ABCDEFGH"}
    after = before | {"C": result("C", seconds=0.016)}
    found = net["net_compare"].compare(before, after)
    assert list(found.slow) == ["C"]
    assert "* C: 1.60" in net["net_compare"].page(found)
    assert not found.failed  # the mean of the family is 1.06


def test_a_slow_family_fails(net):
    found = compared(net, result("A"), result("A", seconds=0.012))
    assert found.slow_families == ["pairs"]
    assert found.failed


def test_short_cells_are_not_timed(net):
    found = compared(net, result("A", seconds=0.002), result("A", seconds=1.0))
    assert not found.ratios


def test_results_without_a_common_cell_fail(net):
    assert net["net_compare"].compare({"A": result("A")}, {}).failed


def test_a_run_writes_what_a_comparison_reads(net, tmp_path, monkeypatch):
    path = tmp_path / "results.jsonl"
    options = [
        "net.py",
        "run",
        str(path),
        "--only",
        r"OWPC\(alpha=1e-06\) german",
        "--repeats",
        "1",
    ]
    monkeypatch.setattr(sys, "argv", options)
    assert net["net"].main() == 0
    results = net["net_compare"].read(path)
    slower = {key: one | {"seconds": 2 * one["seconds"]} for key, one in results.items()}
    found = net["net_compare"].compare(results, slower)
    assert list(found.slow) == ["OWPC(alpha=1e-06) german natural"]
    assert not found.memory


def test_memory_that_grows_fails(net):
    found = compared(net, result("A", peak=1e8), result("A", peak=1.2e8))
    assert found.larger == ["A"]
    assert found.failed
    assert not compared(net, result("A", peak=1e8), result("A", peak=1.05e8)).failed


def test_a_new_error_fails_and_a_new_warning_is_listed(net):
    error = {"key": "A", "family": "pairs", "error": "ValueError: no"}
    assert compared(net, result("A"), error).failed
    assert not compared(net, error, error).failed
    found = compared(net, result("A"), result("A", warnings=["ConvergenceWarning"]))
    assert found.notes == ["A: new ConvergenceWarning"]
    assert not found.failed


def test_results_are_read_up_to_an_interruption(net, tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(result("A")) + "\n" + json.dumps(result("B"))[:20])
    assert list(net["net_compare"].read(path)) == ["A"]


def test_every_estimator_is_in_the_net(net):
    cells = net["net_cells"].cells()
    assert len({cell.key for cell in cells}) == len(cells)
    public = {"HeadRanker", *methods.__all__}
    assert {cell.estimator for cell in cells} == public


def test_a_worker_fits_a_cell_and_survives_an_error(net, tmp_path):
    net["net_cells"].prepare("german", tmp_path, tmp_path)
    worker = net["net"].Worker(sys.executable, tmp_path, tmp_path / "scratch", 60.0)
    request = {"estimator": "TopPush", "data": "german", "storage": "csr", "memory": False}
    request |= {"always": {"random_state": 0}}
    try:
        wrong = worker.fit(request | {"parameters": {"alpha": -1.0}})
        right = worker.fit(request | {"parameters": {"alpha": 1e-3}})
    finally:
        worker.close()
    assert "alpha" in wrong["error"]
    assert right["dual"] <= right["primal"]
    assert len(right["coef"]) == 24
