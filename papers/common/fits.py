"""One fit: its CPU seconds, and what it warned of."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning

from toprank.exceptions import TrivialSolutionWarning


class Fit(NamedTuple):
    """What there is to say of a fit besides its model."""

    seconds: float
    short: bool  #: whether it stopped short
    trivial: bool  #: whether its score is the same for every row


def fit_watched(model: Any, X: Any, y: Any) -> Fit:
    """Fit a model; other warnings than of a short stop or a trivial optimum are passed on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - began
    short = False
    for one in caught:
        if issubclass(one.category, ConvergenceWarning):
            short = True
        elif not issubclass(one.category, TrivialSolutionWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return Fit(seconds, short, bool(getattr(model, "trivial_", False)))
