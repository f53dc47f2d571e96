"""What the checks look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .._compat import cached_property
from ..inputs.leaks import Leak, find_leaks
from ..selection import Comparison


class Finding(NamedTuple):
    """How a check came out, in words, and what to do if it fired."""

    status: str
    message: str
    advice: str = ""


@dataclass(frozen=True)
class Evidence:
    """A comparison, the head that the report speaks of, and the list of new rows, if any."""

    comparison: Comparison
    #: As `head_of` gives it.
    head: dict[str, Any]
    #: As `answer_of` gives it.
    answer: dict[str, Any]
    #: New rows with the same columns, or None.
    new: Any = None

    @cached_property
    def leaks(self) -> list[Leak]:
        """Columns that give the label away."""
        return find_leaks(self.comparison.data.X, self.comparison.positive)


__all__ = ["Evidence", "Finding"]
