"""Claims held against exact values: what is false, missed in silence, slow or broken."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .cases import CONVEX
from .digits import Real, is_finite, real, told
from .exact import LEFT, ZERO
from .margins import Margin
from .objectives import EPS
from .rivals import near, rivals_of
from .shapes import draw_problem
from .soft_margins import SOFT_MARGINS
from .squared import SQUARED
from .tops import TOPS
from .tries import Claim, Outcome, TooSlow, run, time_limit

ESTIMATORS = {**CONVEX, **SQUARED, **SOFT_MARGINS, **TOPS}
#: What `Certificate.holds` allows: a share of tol, something beside it, and of what w = 0 costs.
ROOM, BESIDE, NO_GAP = 0.01, 1e-13, 1e-12
#: What exact values of one problem may take of the processor, in seconds; few take one.
JUDGE_LIMIT = 30.0
#: Margins are within one. They are solved to this at the best, and both bounds within this are as
#: good as none.
MARGIN_DIGITS, NO_MARGIN = 2e-10, 1.01e-6


@dataclass
class Finding:
    """Something that must not be."""

    kind: str
    fit: str
    detail: str
    #: By how much, relative to the objective; 0 where that has no meaning.
    excess: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind}: {self.fit}: {self.detail}"


@dataclass
class Verdict:
    """All that came of one problem."""

    seed: int
    index: int
    estimator: str
    problem: str
    fits: int = 0
    claims: int = 0
    warned: int = 0
    refused: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    #: A line a fit and a rival, for those who repeat it.
    details: list[str] = field(default_factory=list)


def estimator_of(seed: int, index: int) -> str:
    """The estimator that a problem is for."""
    return str(np.random.default_rng([seed, index]).choice(list(ESTIMATORS)))


def try_one(
    seed: int, index: int, estimator: str | None = None, *, extremes: bool = True
) -> Verdict:
    """Draw a problem, fit it by every option that was drawn, and judge the claims.

    An estimator that is named takes the place of the one that is drawn: which that is changes
    with the list of them. An error of the harness itself is a finding: it must not end a run.
    """
    verdict = Verdict(seed, index, estimator or estimator_of(seed, index), "not drawn")
    with threadpool_limits(1):  # of such small matrices more threads are slower
        try:
            outcomes, rng = fit_one(verdict, extremes=extremes)
            with time_limit(JUDGE_LIMIT):
                judge(rng, verdict, outcomes)
        except (Exception, TooSlow):
            verdict.findings.append(Finding("harness", verdict.estimator, traceback.format_exc()))
    return verdict


def fit_one(
    verdict: Verdict, *, extremes: bool = True
) -> tuple[list[Outcome], np.random.Generator]:
    """The fits, not judged yet, and the generator that the judge goes on with."""
    rng = np.random.default_rng([verdict.seed, verdict.index])
    rng.choice(list(ESTIMATORS))  # as `estimator_of` does
    with time_limit(JUDGE_LIMIT):
        problem = draw_problem(rng, extremes=extremes)
        verdict.problem = str(problem)
        tries = ESTIMATORS[verdict.estimator](rng, problem)
    return [run(one) for one in tries], rng


def judge(rng: np.random.Generator, verdict: Verdict, outcomes: list[Outcome]) -> None:
    """Hold every claim against the weights of all fits, and of other rivals."""
    pool = [(one.name, claim.w) for one in outcomes for claim in one.claims]
    groups: dict[int, list[tuple[Outcome, Claim]]] = {}
    for one in outcomes:
        _count(verdict, one)
        for claim in one.claims if not one.only_rival else []:
            if _sound(verdict, one, claim):
                groups.setdefault(id(claim.objective), []).append((one, claim))
    for claims in groups.values():
        objective = claims[0][1].objective
        ranked = _ranked(rng, objective, pool)
        verdict.details += [f"    {told(value)} at {name}" for value, name, _ in ranked]
        for one, claim in claims:
            verdict.claims += 1
            _against(verdict, one, claim, ranked)


def _count(verdict: Verdict, one: Outcome) -> None:
    verdict.fits += 1
    verdict.warned += bool(one.warned)
    if one.refused:
        verdict.refused.append(one.refused)
    if one.only_rival:
        return
    if one.slow:
        verdict.findings.append(Finding("slow", one.name, f"cut after {one.seconds:.1f} s"))
    if one.error:
        verdict.findings.append(Finding("error", one.name, one.error))


def _sound(verdict: Verdict, one: Outcome, claim: Claim) -> bool:
    """Whether all that is shown are numbers, and the weights are allowed."""
    bad = ""
    if not np.isfinite(np.asarray(claim.shown, dtype=float)).all():
        bad = "weights, intercept or scores are not finite"
    elif np.isnan([claim.primal, claim.dual]).any() or claim.primal == -np.inf:
        bad = f"primal {claim.primal}, dual {claim.dual}"
    elif not claim.objective.allows(claim.w):
        bad = "weights outside their ball"
    if bad:
        verdict.findings.append(Finding("error", one.name, bad))
    return not bad


def _ranked(rng: np.random.Generator, objective: Any, pool: Any) -> list[tuple[Real, str, Any]]:
    """All rivals, the best first."""
    found = [(objective.value(w), name, w) for name, w in rivals_of(objective, pool)]
    found.sort(key=lambda one: one[0])
    if len(found) > 1:
        best, other = found[0][2], found[int(rng.integers(1, len(found)))][2]
        found += [(objective.value(w), name, w) for name, w in near(rng, objective, best, other)]
        found.sort(key=lambda one: one[0])
    return found


def _against(verdict: Verdict, one: Outcome, claim: Claim, ranked: Any) -> None:
    """Hold a claim against the best rival, and against its own weights."""
    objective = claim.objective
    own, (best, rival, _) = objective.value(claim.w), ranked[0]
    unit = getattr(objective, "unit", ZERO)
    size = max(abs(own) if is_finite(own) else ZERO, abs(best), unit, real(10) ** -300)
    left = LEFT * size + objective.slack
    gap = claim.primal - claim.dual
    verdict.details.append(
        f"  {one.name}: primal {claim.primal!r} dual {claim.dual!r}, exact {told(own)}"
        + (f", warned: {one.warned[0]}" if one.warned else "")
    )

    def found(kind: str, what: str, by: Real) -> None:
        share = float(by / size)
        detail = (
            f"{what} by {share:.2g} of the objective, {share / float(EPS):.3g} eps, "
            f"gap {float(gap / size):.2g}, objective {float(own):.4g}"
        )
        verdict.findings.append(Finding(kind, one.name, detail, share))

    if real(claim.dual) > best + left:
        found("false", f"dual above the objective of {rival!r}", claim.dual - best)
    if real(claim.primal) < own - left:
        found("false", "primal below the objective of its weights", own - claim.primal)
    short, at_zero = own - best, _at_zero(ranked)
    if claim.tol is None or one.warned:
        return
    if not is_finite(own):
        found("unmet", f"no warning at an objective without an end: above {rival!r}", own)
        return
    allowed = (claim.tol * (1 + ROOM) + BESIDE) * max(abs(own), unit)
    allowed += NO_GAP * max(at_zero, unit)
    if isinstance(objective, Margin):
        allowed += MARGIN_DIGITS
        if max(abs(claim.primal), abs(claim.dual)) <= NO_MARGIN:
            return
    if short > allowed:
        found("unmet", f"no warning, tol {claim.tol:g} missed: above {rival!r}", short)
    elif gap > allowed * (1 + ROOM) and not claim.trivial:
        found("unmet", f"no warning, though the gap is above tol {claim.tol:g}", real(gap))
    if claim.trivial and at_zero - best > allowed:
        found("trivial", f"trivial_, but {rival!r} is better", at_zero - best)


def _at_zero(ranked: Any) -> Real:
    """What w = 0 costs; 0 where it is not allowed."""
    return next((value for value, name, _ in ranked if name == "zero"), ZERO)
