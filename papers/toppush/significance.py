"""The paper's t-tests: paired over trials, two-sided, at its level of 0.9."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from common.rows import Row, chosen
from printed import LEVEL
from toprank.metrics import corrected_t_test

#: What the pages show for a system that TopPush beats, that beats it, and for neither.
BETTER, WORSE, EVEN = "•", "◦", ""
#: The share of the rows that a trial tests on: what the corrected test has to know.
HELD = 1 / 3


def mark(
    rows: Sequence[Row], push: str, system: str, name: str, measure: str, *, corrected: bool = False
) -> str | None:
    """Whether `push` is significantly better or worse than the system; None if it cannot be said.

    By the trials that both have, two of them at the least. The paper's test takes trials for
    independent; `corrected` allows for the rows that they share.
    """
    found = {
        one: {r["trial"]: r[measure] for r in chosen(rows, set=name, system=one)}
        for one in (push, system)
    }
    shared = sorted(found[push].keys() & found[system].keys())
    if len(shared) < 2:
        return None
    one, other = (np.array([found[which][t] for t in shared]) for which in (push, system))
    return verdict(one, other, HELD if corrected else None)


def verdict(one: np.ndarray, other: np.ndarray, test_share: float | None = None) -> str:
    """The mark for paired figures."""
    test = corrected_t_test(one, other, test_share=test_share)
    if not test.p < LEVEL:
        return EVEN
    return BETTER if test.difference > 0 else WORSE


def tally(marks: Sequence[str | None]) -> str:
    """How many are better / neither / worse; those of which nothing can be said do not count."""
    count = Counter(marks)
    return f"{count[BETTER]} / {count[EVEN]} / {count[WORSE]}"
