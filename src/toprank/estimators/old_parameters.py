"""Old names of parameters, which work for one release with a `FutureWarning`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..exceptions import warn_caller

T = TypeVar("T", bound=type)


def renamed_parameters(**new_names: str) -> Callable[[T], T]:
    """Let the constructor of a class and its `set_params` take old names of parameters.

    `renamed_parameters(rankers="weak_learners")` accepts `rankers` for `weak_learners`. The
    signature and `get_params` have the new names alone. Model files with the old names are the
    business of `toprank.files.decode`.
    """

    def accept(cls: T) -> T:
        init, set_params = cls.__init__, cls.set_params  # type: ignore[misc, attr-defined]

        @wraps(init)
        def new_init(self: Any, *args: Any, **parameters: Any) -> None:
            init(self, *args, **_translated(cls.__name__, new_names, parameters))

        @wraps(set_params)
        def new_set_params(self: Any, **parameters: Any) -> Any:
            return set_params(self, **_translated(cls.__name__, new_names, parameters))

        cls.__init__ = new_init  # type: ignore[misc]
        cls.set_params = new_set_params  # type: ignore[attr-defined]
        return cls

    return accept


def _translated(name: str, new_names: dict[str, str], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters under their new names, and warn of old ones."""
    if not new_names.keys() & parameters.keys():
        return parameters
    translated = {}
    for key, value in parameters.items():
        new = new_names.get(key, key)
        if new in translated or (new != key and new in parameters):
            raise TypeError(f"{name} got both {key!r} and {new!r}: {key!r} is the old name.")
        if new != key:
            warn_caller(
                f"The parameter {key!r} of {name} is deprecated and ends in version 0.4: use "
                f"{new!r}.",
                FutureWarning,
                about=(name, key),
            )
        translated[new] = value
    return translated


__all__ = ["renamed_parameters"]
