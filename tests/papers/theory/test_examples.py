"""The examples in the docstrings of papers/theory, and what toprank.theory says of its names."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import theory
import toprank.theory

MODULES = ["theory", *(f"theory.{one.name}" for one in pkgutil.iter_modules(theory.__path__))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


@pytest.mark.parametrize("name", theory.__all__)
def test_the_package_says_where_a_name_went(name: str) -> None:
    with pytest.raises(AttributeError, match="it is in papers/theory of toprank's repository"):
        getattr(toprank.theory, name)
