"""The numbered checks: what each looks at, in plain words, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from . import data_checks, fit_checks
from .evidence import Evidence, Finding


@dataclass(frozen=True)
class Check:
    """A check: its code, what it is called, and how it looks at the evidence."""

    code: str
    title: str
    look: Callable[[Evidence], Finding]


CHECKS = (
    Check("TR001", "Trivial optimum", fit_checks.trivial),
    Check("TR002", "Gap not reached", fit_checks.gap),
    Check("TR003", "Alpha at the edge of its grid", fit_checks.edge),
    Check("TR004", "Too few positives for the claim", data_checks.few_positives),
    Check("TR005", "Ties at the cut", data_checks.ties),
    Check("TR006", "A feature that gives the label away", data_checks.leak),
    Check("TR007", "Same rows on both sides", data_checks.copies),
    Check("TR008", "New rows unlike the training rows", data_checks.drift),
    Check("TR009", "Not better than logistic regression", fit_checks.reference),
    Check("TR010", "Capacity beyond the positives", data_checks.capacity),
)


def codes_of(ignore: Collection[str]) -> set[str]:
    """The codes of checks to ignore; codes of none are refused."""
    codes = {code.upper() for code in ([ignore] if isinstance(ignore, str) else ignore)}
    unknown = codes - {check.code for check in CHECKS}
    if unknown:
        raise ValueError(
            f"There is no check {min(unknown)}; they are {CHECKS[0].code} to {CHECKS[-1].code}."
        )
    return codes


def run_checks(evidence: Evidence, ignore: Collection[str]) -> list[dict[str, Any]]:
    """How every check came out; those to ignore are not looked at."""
    silenced = codes_of(ignore)
    found = []
    for check in CHECKS:
        if check.code in silenced:
            finding = Finding("ignored", "Silenced: it was not looked at.")
        else:
            finding = check.look(evidence)
        found.append(
            {
                "code": check.code,
                "title": check.title,
                "status": finding.status,
                "message": finding.message,
                "advice": finding.advice,
                "link": f"checks.html#{check.code.lower()}",
            }
        )
    return found


__all__ = ["CHECKS", "Check", "codes_of", "run_checks"]
