"""The paper's t-tests: paired over trials, two-sided, at its level of 0.9."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy import stats

from common.rows import Row, chosen
from printed import LEVEL

#: What the pages show for a system that TopPush beats, that beats it, and for neither.
BETTER, WORSE, EVEN = "•", "◦", ""


def mark(rows: Sequence[Row], push: str, system: str, name: str, measure: str) -> str | None:
    """Whether `push` is significantly better or worse than the system; None if it cannot be said.

    By the trials that both have, two of them at the least.
    """
    found = {
        one: {r["trial"]: r[measure] for r in chosen(rows, set=name, system=one)}
        for one in (push, system)
    }
    shared = sorted(found[push].keys() & found[system].keys())
    if len(shared) < 2:
        return None
    one, other = (np.array([found[which][t] for t in shared]) for which in (push, system))
    return verdict(one, other)


def verdict(one: np.ndarray, other: np.ndarray) -> str:
    """The mark for paired figures."""
    difference = one - other
    if np.ptp(difference) == 0.0:
        return EVEN if difference[0] == 0.0 else BETTER if difference[0] > 0 else WORSE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # figures that are nearly equal
        p = stats.ttest_rel(one, other).pvalue
    if not p < LEVEL:
        return EVEN
    return BETTER if difference.mean() > 0 else WORSE
