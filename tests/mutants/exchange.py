"""A fault put into a module that has been imported, wherever its functions and constants are."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Iterator
from functools import cache
from inspect import CO_OPTIMIZED
from pathlib import Path
from typing import Any

from .faults import Fault, faulty_tree

#: What is compared and copied of constants; other objects are left.
_PLAIN = (bool, int, float, complex, str, bytes, type(None), tuple, list, dict, set, frozenset)


#: The functions that there are, by their code.
Functions = dict[types.CodeType, list[types.FunctionType]]


def functions_of(paths: set[str]) -> Functions:
    """All functions of these files: found once, for every object that there is must be asked."""
    found: Functions = {}
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__code__.co_filename in paths:
            found.setdefault(one.__code__, []).append(one)
    return found


def exchange(
    path: Path, fault: Fault, module: types.ModuleType, functions: Functions | None = None
) -> bool:
    """Put it in; False where nothing that exists has it. `functions` may be known before."""
    source = path.read_text(encoding="utf-8")
    old = _sound(path, source)
    new = list(_codes(compile(faulty_tree(source, fault.number), str(path), "exec")))
    assert len(old) == len(new)
    changed = [k for k in range(len(old)) if _own(old[k][0]) != _own(new[k][0])]
    if not changed:
        return False
    if all(old[k][0].co_flags & CO_OPTIMIZED for k in changed):
        functions = functions_of({str(path)}) if functions is None else functions
        pairs = {old[j][0]: new[j][0] for k in changed for j in old[k][1]}
        return _into_functions(pairs, functions)
    fresh = {"__name__": module.__name__, "__package__": module.__package__, "__file__": str(path)}
    exec(new[0][0], fresh)  # an error of it is the fault's
    return _into_constants(module, fresh)


@cache
def _sound(path: Path, source: str) -> list[tuple[types.CodeType, tuple[int, ...]]]:
    return list(_codes(compile(source, str(path), "exec")))


def _codes(
    code: types.CodeType, places: tuple[int, ...] = (), count: list[int] | None = None
) -> Iterator[tuple[types.CodeType, tuple[int, ...]]]:
    """All code in it, in the order of the source, with the places of what it is in and its own."""
    count = [0] if count is None else count
    places = (*places, count[0])
    count[0] += 1
    yield code, places
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant, places, count)


def _own(code: types.CodeType) -> tuple[Any, ...]:
    """What a code does itself, without the functions that it makes."""
    constants = [None if isinstance(x, types.CodeType) else repr(x) for x in code.co_consts]
    return code.co_code, constants, code.co_names, code.co_exceptiontable


def _into_functions(codes: dict[types.CodeType, types.CodeType], functions: Functions) -> bool:
    found = [(one, new) for old, new in codes.items() for one in functions.get(old, ())]
    for one, new in found:
        one.__code__ = new
    return bool(found)


def _into_constants(module: types.ModuleType, fresh: dict[str, Any]) -> bool:
    """Constants of the module, of its classes, and defaults of arguments."""
    found = False
    for name, value in fresh.items():
        own = vars(module).get(name)
        if _differ(own, value):
            found = True
            for other in list(sys.modules.values()):  # whoever has imported it
                if vars(other).get(name) is own and other.__name__.startswith("toprank"):
                    setattr(other, name, value)
        elif isinstance(own, type) and own.__module__ == module.__name__:
            for key, inner in vars(value).items():
                if _differ(vars(own).get(key), inner) and not key.startswith("__"):
                    setattr(own, key, inner)
                    found = True
                found = _into_defaults(vars(own).get(key), inner) or found
        else:
            found = _into_defaults(own, value) or found
    return found


def _into_defaults(own: Any, value: Any) -> bool:
    if isinstance(own, classmethod | staticmethod) and type(own) is type(value):
        own, value = own.__func__, value.__func__
    if not (isinstance(own, types.FunctionType) and isinstance(value, types.FunctionType)):
        return False
    found = False
    for name in ("__defaults__", "__kwdefaults__"):
        if _differ(getattr(own, name), getattr(value, name)):
            setattr(own, name, getattr(value, name))
            found = True
    return found


def _differ(own: Any, value: Any) -> bool:
    return type(own) is type(value) and isinstance(own, _PLAIN) and repr(own) != repr(value)


__all__ = ["Functions", "exchange", "functions_of"]
