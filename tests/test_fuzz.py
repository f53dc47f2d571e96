"""The first problems of a fixed seed of `make fuzz`, and whether its judge sees what is false."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

import toprank
from fuzz.judge import ESTIMATORS, Finding, Verdict, estimator_of, fit_one, judge, try_one
from fuzz.report import KINDS, Table
from fuzz.shapes import draw_problem
from fuzz.tries import Claim

#: All estimators are among them, and none takes long.
SEED, PROBLEMS = 28, 50
DRAWN = [estimator_of(SEED, index) for index in range(PROBLEMS)]


def test_every_estimator_has_its_turn() -> None:
    assert set(DRAWN) == set(ESTIMATORS)


def certified() -> dict[str, Any]:
    """The estimators whose fits have a certificate, by the attributes that they document."""
    public = {name: getattr(toprank, name) for name in toprank.__all__}
    return {
        name: one
        for name, one in public.items()
        if isinstance(one, type)
        and issubclass(one, BaseEstimator)
        and "certificate_ :" in (one.__doc__ or "")
    }


def test_every_certified_estimator_and_path_is_fuzzed() -> None:
    paths = {name for name in toprank.__all__ if name.endswith("_path")}
    assert len(certified()) > 15
    assert set(ESTIMATORS) == certified().keys() | paths


@pytest.mark.parametrize("name", sorted(certified()))
def test_every_option_by_name_is_fuzzed(name: str) -> None:
    """Of the names that fits are given, without running any."""
    estimator = certified()[name]
    rng = np.random.default_rng(0)
    told = "".join(one.name for _ in range(120) for one in ESTIMATORS[name](rng, draw_problem(rng)))
    for parameter, allowed in estimator._parameter_constraints.items():
        names = [x for one in allowed if isinstance(one, StrOptions) for x in one.options]
        default = estimator().get_params().get(parameter)
        missing = [x for x in names if x != default and f"{parameter}={x!r}" not in told]
        assert not missing, parameter


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_found_makes_a_run_fail(kind: str) -> None:
    verdict = Verdict(1, 2, "TopPush", "a problem", fits=1)
    table = Table()
    table.add(verdict)
    assert not table.failed
    verdict.findings.append(Finding(kind, "TopPush", "something"))
    (line,) = table.add(verdict)
    assert table.failed
    assert "python -m fuzz --repeat 1:2" in line


@pytest.mark.parametrize("index", range(PROBLEMS))
def test_certificates_hold(index: int) -> None:
    assert [str(one) for one in try_one(SEED, index).findings] == []


#: What longer runs have found: an overflow of a row without weight, an empty Krylov space and a
#: trivial optimum that rounding only suggests, a weight that is no share at w = 0, equal stumps,
#: the length of a vector that no float holds, a share of a class as the rest of a rounded one;
#: slow fits of planes whose columns are of mixed scales, and an exact value without an end; slopes
#: whose squares rounding lost, a gap below zero at every step, a curvature that was rounding.
FOUND = [
    (1612, 1217, "PNormPush"),
    (1612, 2218, "BBRCV"),
    (1612, 2826, "ASCRC"),
    (77, 30, "LPPair"),
    (20261116, 2012, "RectPushApp"),
    (20261116, 2236, "BBRCV"),
    (20261116, 2236, "bbr_path"),
    (660076137, 311, "LogisticRank"),
    (785516644, 649, "SVMpAUC"),
    (144515425, 1315, "SVMpAUC"),
    (785516644, 709, "LogisticRank"),
    (480593634, 491, "LPPair"),
    (480593634, 2534, "LogisticRank"),
    (462063378, 1574, "TopFractionPush"),
    (973987727, 277, "ReverseRectPush"),
    (188048648, 295, "TopPush"),
    (188048648, 4403, "RankSVM"),
]


@pytest.mark.parametrize(("seed", "index", "estimator"), FOUND)
def test_what_was_found_is_mended(seed: int, index: int, estimator: str) -> None:
    assert [str(one) for one in try_one(seed, index, estimator).findings] == []


def with_dual_too_high(claim: Claim) -> None:
    claim.dual = math.nextafter(_exact(claim) + _slack(claim), math.inf)


def with_primal_too_low(claim: Claim) -> None:
    claim.primal = math.nextafter(_exact(claim) - _slack(claim), -math.inf)


def _exact(claim: Claim) -> float:
    return float(claim.objective.value(claim.objective.inside(claim.w)))


def _slack(claim: Claim) -> float:
    return 2.0 * float(claim.objective.slack)


@pytest.mark.parametrize("spoil", [with_dual_too_high, with_primal_too_low])
@pytest.mark.parametrize(
    "name", ["TopPush", "RankSVM", "BBR", "LPPair", "OWPC", "SparseInfinitePush", "AATP"]
)
def test_the_judge_sees_a_bound_off_by_its_last_bit(
    name: str, spoil: Callable[[Claim], None]
) -> None:
    verdict, outcomes, rng = fit_one(SEED, DRAWN.index(name))
    claim = next(one.claims[0] for one in outcomes if one.claims and not one.only_rival)
    spoil(claim)
    judge(rng, verdict, outcomes)
    assert "false" in [one.kind for one in verdict.findings]


def test_the_judge_sees_a_tolerance_that_is_missed_in_silence() -> None:
    verdict, outcomes, rng = fit_one(SEED, DRAWN.index("BBR"))
    one = next(one for one in outcomes if one.claims)
    one.warned, one.claims[0].w = [], 0.5 * one.claims[0].w
    judge(rng, verdict, outcomes)
    assert "unmet" in [one.kind for one in verdict.findings]
