"""A core built elsewhere, such as a sanitised one, in the place of the installed one."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path


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


def use_the_core_that_is_named() -> None:
    """Do so where the variable TOPRANK_CORE names a folder; before toprank is imported."""
    if "TOPRANK_CORE" in os.environ:
        use_core_of(Path(os.environ["TOPRANK_CORE"]))
