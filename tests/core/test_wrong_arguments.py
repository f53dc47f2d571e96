"""Every function of the core with arguments it cannot use: an error, never a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.core_calls import BARE, FUNCTIONS, INIT, OBJECTS, D, N, calls
from support.programs import run
from toprank import _core

#: Of a type that no argument has.
WRONG: list[Any] = [
    np.datetime64("2020-01-01", "ns"),
    np.datetime64("NaT"),
    np.timedelta64(5, "s"),
    np.array(np.datetime64("2020-01-01", "ns")),
    np.zeros(N, "datetime64[ns]"),
    np.zeros((N, D), "timedelta64[s]"),
    np.zeros(N, [("a", float)]),
    np.zeros(N, object),
    np.zeros(N, "S8"),
    np.zeros(N, complex),
    np.zeros(N, ">f8"),
    np.zeros(N, np.float16),
    np.void(b"12345678"),
    object(),
    b"12345678",
    memoryview(b"12345678"),
    {},
    [1.0, "x"],
    np.arange(N, dtype=np.int16),
]
#: Arrays and other values that some argument may be, with unlikely shapes and numbers.
ARRAYS: list[Any] = [
    None,
    1.0,
    np.array(1.0),
    np.array(1),
    np.empty(0),
    np.empty(0, np.int64),
    np.ones(10_000),
    np.full(10_000, 10_000),
    np.full(2, -5),
    np.full(2, np.iinfo(np.int64).max),
    np.full(2, np.iinfo(np.int64).min),
    np.full(N, np.nan),
    np.ones(2 * N)[::2],
    np.ones(N)[::-1],
    np.ones((N, 2)),
    np.ones((0, 0)),
    np.ones((1, 1, 1)),
    "x",
]


def attack(name: str) -> None:
    """Call with each argument replaced, one at a time; print each wrong type that is taken."""
    for label, function, good in calls(name):
        function()(*good)
        for place, right in enumerate(good):
            for k, wrong in enumerate((*WRONG, *ARRAYS)):
                try:
                    function()(*good[:place], wrong, *good[place + 1 :])
                except (TypeError, ValueError, IndexError):
                    continue
                if k < len(WRONG) and not (isinstance(right, float) and is_number(wrong)):
                    print(f"{label} takes {wrong!r} as argument {place}")


def is_number(value: Any) -> bool:
    """Return whether `float` takes a value: the core takes its result."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def test_wrong_arguments_are_errors() -> None:
    program = """
import faulthandler, sys
faulthandler.enable()
sys.path.insert(0, sys.argv[1])
from support.other_core import use_the_core_that_is_named
use_the_core_that_is_named()
from core.test_wrong_arguments import FUNCTIONS, OBJECTS, attack
for name in (*OBJECTS, *FUNCTIONS):
    print(name, file=sys.stderr, flush=True)
    attack(name)
"""
    assert run(program, Path(__file__).parents[1]) == ""


@pytest.mark.parametrize("kind", ["datetime64[ns]", "timedelta64[s]"])
def test_times_as_scalars_are_errors(kind: str) -> None:
    program = """
import sys
import numpy as np
from toprank._core import Matrix

value = np.ones(1, sys.argv[1])[0]
try:
    Matrix.dense(np.ones((2, 1))).scores(value, None, 1)
except TypeError:
    print("TypeError")
"""
    assert run(program, kind) == "TypeError\n"


def test_every_function_is_tried() -> None:
    known = {label for name in OBJECTS for label, _, _ in calls(name)}
    known |= BARE | {"Matrix.__init__"}  # a matrix is made by `dense` or `csr`
    for name in _core.__all__:
        found = getattr(_core, name)
        if isinstance(found, str):
            continue
        if not isinstance(found, type):
            assert name in FUNCTIONS
            continue
        for method, value in vars(found).items():
            if callable(value) and (method == INIT or not method.startswith("_")):
                assert {f"{name}.{method}", f"{name} of CSR.{method}"} & known, method


@pytest.mark.filterwarnings("ignore:nanobind")
@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_an_object_that_was_never_made_is_refused(name: str) -> None:
    kind: Any = type(OBJECTS[name][0]())
    raw = kind.__new__(kind)
    for method, arguments in OBJECTS[name][1].items():
        if method not in (INIT, "dense", "csr"):
            with pytest.raises(TypeError):
                getattr(raw, method)(*arguments)
