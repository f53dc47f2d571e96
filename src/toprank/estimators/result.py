"""What every fit goes through: checked parameters, all or nothing, and what it has learnt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import make_constraint

from ..problems.solution import Certificate

P = ParamSpec("P")
R = TypeVar("R")


def fitting(method: Callable[P, R]) -> Callable[P, R]:
    """Make a method one that fits: its parameters are checked, and if it fails nothing changes.

    A fit sets attributes one by one. One that raised halfway, on rows of another width say, would
    leave some of its own among those of the fit before.
    """
    checked = _fit_context(prefer_skip_nested_validation=True)(method)

    @wraps(method)
    def fit(*args: P.args, **kwargs: P.kwargs) -> R:
        own: dict[str, Any] = args[0].__dict__
        before = own.copy()
        try:
            return checked(*args, **kwargs)  # type: ignore[no-any-return]
        except BaseException:
            own.clear()
            own.update(before)
            raise

    return fit


@lru_cache(maxsize=128)
def constraints_of(kind: type[Any]) -> list[tuple[str, list[Any]]]:
    """The parameters of a class, and what each must satisfy one of."""
    known, unchecked = kind._parameter_constraints, "no_validation"
    named = [(name, known.get(name, unchecked)) for name in kind._get_param_names()]
    return [(name, list(map(make_constraint, own))) for name, own in named if own != unchecked]


@dataclass
class Learnt:
    """What `_learn` returns: `Ranker._keep` makes attributes of it, `Ranker._warn` warnings.

    What is None has no meaning for the method, and becomes no attribute.
    """

    #: The attributes of the score, `intercept_` among them.
    score: dict[str, Any]
    n_iter: int
    certificate: Certificate | None = None
    solver: str | None = None
    history: NDArray[np.void] | None = None
    #: Whether the optimum is w = 0, proven.
    trivial: bool | None = None
    #: Whether the fit is as good as was asked for.
    converged: bool = True
    #: Whether a callback ended it: then it was asked for no more.
    asked_to_stop: bool = False
    #: Where it stopped instead, if not at a relative gap above tol.
    reached: str = ""
    #: Iterations of the solver, where `n_iter` counts something else.
    solver_iterations: int | None = None
    #: What may help a fit that stopped short, beside more iterations.
    remedies: Sequence[str] = ("scale the features", "raise alpha")
    #: What the method alone has to tell.
    more: dict[str, Any] = field(default_factory=dict)

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes, by name."""
        common = {
            "n_iter_": self.n_iter,
            "certificate_": self.certificate,
            "solver_": self.solver,
            "history_": self.history,
            "trivial_": self.trivial,
        }
        known = {name: value for name, value in common.items() if value is not None}
        return {**self.score, **known, **self.more}


__all__ = ["Learnt", "constraints_of", "fitting"]
