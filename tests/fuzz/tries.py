"""What a fit is asked for, how it is run, and what it claims."""

from __future__ import annotations

import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .objectives import Ridge

#: What a fit of so few rows may take of the processor, in seconds. It is cut short then.
TIME_LIMIT = 5.0


class TooSlow(BaseException):
    """A fit has used up its time; no library code catches it."""


@dataclass
class Claim:
    """What a fit says: these weights, and bounds of the least objective."""

    objective: Any
    w: Any
    primal: float
    dual: float
    #: The relative gap that a fit without a warning has met; None where it promises none.
    tol: float | None
    trivial: bool = False
    #: Numbers that a user sees: they must be finite.
    shown: Any = ()


@dataclass
class Try:
    """One fit: a name that tells its options, and how to run and to read it."""

    name: str
    fit: Callable[[], Any]
    read: Callable[[Any], list[Claim]]
    #: A fit whose weights are of use as rivals, and whose claims are of another problem.
    only_rival: bool = False


@dataclass
class Outcome:
    """What came of a try."""

    name: str
    claims: list[Claim] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slow: bool = False
    #: A clear refusal, or an exception that is none.
    refused: str = ""
    error: str = ""
    only_rival: bool = False


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt what uses up more of the processor: other processes do not count."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def _said_on_purpose(error: ValueError) -> bool:
    """Whether a line of toprank or scikit-learn raised it: NumPy's own errors explain nothing."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return ("toprank" in last.filename or "sklearn" in last.filename) and (
        (last.line or "").startswith("raise ")
    )


def run(one: Try) -> Outcome:
    """Fit, and read the claims."""
    outcome, began = Outcome(one.name, only_rival=one.only_rival), time.process_time()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            with time_limit(TIME_LIMIT):
                outcome.claims = one.read(one.fit())
        except TooSlow:
            outcome.slow = True
        except ValueError as error:
            if _said_on_purpose(error):
                outcome.refused = str(error)
            else:
                outcome.error = f"{type(error).__name__}: {error}"
        except Exception as error:
            outcome.error = f"{type(error).__name__}: {error}"
    outcome.seconds = time.process_time() - began
    short = [str(w.message) for w in seen if issubclass(w.category, ConvergenceWarning)]
    outcome.warned = short
    for w in seen:
        if issubclass(w.category, RuntimeWarning) and not outcome.error:
            outcome.error = f"RuntimeWarning: {w.message} ({w.filename}:{w.lineno})"
    return outcome


def ridge_claim(
    ranker: Any, objective: Ridge, problem: Any, *, promises: bool = True, tol: float | None = None
) -> Claim:
    """The claim of a linear ranker that minimises alpha/2 |w|^2 + F(X w)."""
    w, certificate = ranker.coef_[0], ranker.certificate_
    tol = ranker.tol if tol is None else tol
    shown = np.concatenate([w, ranker.intercept_, ranker.decision_function(problem.X)])
    return Claim(
        objective,
        w,
        certificate.primal,
        certificate.dual,
        tol if promises else None,
        ranker.trivial_,
        shown,
    )
