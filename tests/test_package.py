"""The package as a whole: names, documentation, file sizes, what importing it costs."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from sklearn.base import BaseEstimator

import toprank
from support.programs import PATIENCE
from toprank import (
    dask,
    datasets,
    features,
    files,
    guarantees,
    methods,
    metrics,
    plots,
    report,
    selection,
    theory,
    trees,
)

REPOSITORY = Path(__file__).resolve().parents[1]
#: What users import from.
PUBLIC_MODULES = [
    toprank,
    dask,
    datasets,
    features,
    files,
    guarantees,
    methods,
    metrics,
    plots,
    report,
    selection,
    theory,
    trees,
]
#: Files of a family that hold what its methods share.
BASES = {"base", "drawing", "pair_ranker", "reading"}
MODULES = [
    info.name
    for info in pkgutil.walk_packages(toprank.__path__, "toprank.")
    if not info.name.startswith("toprank._core.")
]


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_public_names_are_there(module: ModuleType) -> None:
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name)


def test_every_method_is_importable_from_the_top() -> None:
    for module in (importlib.import_module(name) for name in MODULES if ".methods." in name):
        for name, thing in vars(module).items():
            own = getattr(thing, "__module__", None) == module.__name__
            base = module.__name__.rsplit(".", 1)[1] in BASES
            if own and _is_estimator(thing) and not base:
                assert name in methods.__all__
    assert set(toprank._METHODS) == set(methods.__all__)
    for name in methods.__all__:
        assert getattr(toprank, name) is getattr(methods, name)


def _is_estimator(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, BaseEstimator)


PUBLIC = [
    pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")
    for module in PUBLIC_MODULES
    for name in module.__all__
    if inspect.isroutine(getattr(module, name)) or inspect.isclass(getattr(module, name))
]


@pytest.mark.parametrize("thing", PUBLIC)
def test_public_things_are_documented(thing: Any) -> None:
    text = inspect.getdoc(thing) or ""
    assert len(text.split()) >= 5
    if inspect.isroutine(thing) or _is_estimator(thing):
        assert ">>> " in text
    parameters = set(inspect.signature(thing).parameters) if inspect.isroutine(thing) else set()
    if _is_estimator(thing):
        parameters = set(thing._get_param_names())
        transformer = hasattr(thing, "transform")
        ranking = ("predict", "decision_function", "score")
        ranking += ("rank",) if hasattr(thing, "rank") else ()  # not of other libraries' models
        for method in ("fit", *(("transform",) if transformer else ranking)):
            assert inspect.getdoc(getattr(thing, method))
    for parameter in parameters:
        assert re.search(rf"^(.*, )?{parameter}(, .*)?( :|$)", text, re.MULTILINE), parameter


def test_every_module_says_what_it_is() -> None:
    for name in MODULES:
        assert importlib.import_module(name).__doc__, name


def test_no_file_is_long() -> None:
    folders = ("src", "core", "tests", "benchmarks", "papers", "docs")
    endings = {".py", ".pyi", ".cpp", ".hpp", ".ipp"}
    files = [
        path
        for folder in folders
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in endings
    ]
    assert len(files) > 20
    long = [path for path in files if len(path.read_text().splitlines()) > 500]
    assert long == []


def test_only_designs_and_clusters_know_where_rows_are() -> None:
    """Solvers and methods go by what a design affords: see `Design.stores_scores`."""
    location = re.compile(r"\.(elsewhere|keeps_scores|in_memory|has_kernels|n_parts)\b")
    source = REPOSITORY / "src" / "toprank"
    outside = [
        path
        for path in source.rglob("*.py")
        if path.relative_to(source).parts[0] not in ("designs", "dask")
    ]
    assert len(outside) > 100
    assert not [path for path in outside if location.search(path.read_text(encoding="utf-8"))]


def test_the_oldest_versions_tested_are_those_declared() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    least = {}
    for wanted in map(Requirement, declared):
        (bound,) = wanted.specifier
        assert bound.operator == ">="
        least[wanted.name] = bound.version
    lines = (REPOSITORY / "tests" / "oldest.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name, version in least.items():
        assert Version(pins[name]) == Version(version)
    assert pins.keys() - least.keys() == {"osqp", "pyparsing"}


OPTIONAL = ["matplotlib", "dask", "distributed", "click", "rich", "pyarrow", "pandas", "polars"]


def _imported(statement: str) -> set[str]:
    """The top-level modules that a statement has imported in a fresh interpreter."""
    program = f"{statement}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return {name.split(".")[0] for name in json.loads(done.stdout)}


def test_importing_brings_in_nothing_optional() -> None:
    base = "import sklearn.base, sklearn.metrics, sklearn.utils.validation"
    if importlib.util.find_spec("sklearn.callback"):
        base += ", sklearn.callback"  # which imports rich where that is installed
    assert "sklearn" not in _imported("import toprank")
    names = "import toprank\nfor name in toprank.__all__: getattr(toprank, name)"
    extra = _imported(names) - _imported(base)
    assert extra & set(OPTIONAL) == set()
    assert "toprank" in extra


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_the_documentation_run(name: str) -> None:
    result = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.failed == 0


def test_the_estimators_have_examples_that_were_run() -> None:
    finder = doctest.DocTestFinder()
    for name in methods.__all__:
        assert any(test.examples for test in finder.find(getattr(toprank, name), name))


def test_the_version_is_that_of_the_project() -> None:
    text = (REPOSITORY / "pyproject.toml").read_text()
    assert f'version = "{toprank.__version__}"' in text


def test_the_versions_name_the_core_and_packages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    toprank.show_versions()
    told = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert told["toprank"] == toprank.__version__
    assert told["numpy"] == np.__version__
    assert "compiled by" in told["core"]


@pytest.mark.parametrize("asked", ["", "plain"])
def test_the_plain_core_can_be_asked_for(asked: str) -> None:
    command = [sys.executable, "-m", "toprank", "--version"]
    environment = os.environ | {"TOPRANK_INSTRUCTIONS": asked}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    expected = "plain instructions" if asked else toprank._core.level
    assert f"core           {expected}, " in told.stdout


def test_dir_lists_public_names_only() -> None:
    modules = {module.__name__.removeprefix("toprank.") for module in PUBLIC_MODULES}
    listed = set(dir(toprank))
    assert listed >= set(toprank.__all__)
    others = listed - set(toprank.__all__) - modules
    assert others <= {"__version__", "dask", "features", "files", "methods"}
    assert all(hasattr(toprank, name) for name in listed - {"dask"})
