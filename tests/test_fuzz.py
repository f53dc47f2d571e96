"""The first problems of a fixed seed of `make fuzz`, and whether its judge sees what is false."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

import toprank
from fuzz.extremes import FORMS
from fuzz.judge import ESTIMATORS, Finding, Verdict, estimator_of, fit_one, judge, try_one
from fuzz.report import KINDS, Table
from fuzz.shapes import Problem, draw_problem
from fuzz.tries import Claim, Try, run
from toprank import methods

#: All estimators are among them, and none takes long.
SEED, PROBLEMS = 28, 50
DRAWN = [estimator_of(SEED, index) for index in range(PROBLEMS)]


def test_every_estimator_has_its_turn() -> None:
    assert set(DRAWN) == set(ESTIMATORS)


def certified() -> dict[str, Any]:
    """The estimators whose fits have a certificate, by the attributes that they document."""
    public = {name: getattr(methods, name) for name in methods.__all__}
    return {
        name: one
        for name, one in public.items()
        if isinstance(one, type)
        and issubclass(one, BaseEstimator)
        and "certificate_ :" in (one.__doc__ or "")
    }


def test_every_certified_estimator_and_path_is_fuzzed() -> None:
    paths = {name for name in toprank._DEPRECATED if name.endswith("_path")}
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


def fails(*_: Any, **__: Any) -> None:
    raise ZeroDivisionError("float division by zero")


def warns(*_: Any) -> Any:
    return np.float64(1e300) * np.float64(1e300)


@pytest.mark.parametrize("part", ["draw_problem", "ESTIMATORS", "judge"])
def test_an_error_of_the_harness_is_a_finding(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made_badly = dict.fromkeys(ESTIMATORS, fails)
    monkeypatch.setattr(f"fuzz.judge.{part}", made_badly if part == "ESTIMATORS" else fails)
    (finding,) = try_one(SEED, 0).findings
    assert finding.kind == "harness"
    assert "ZeroDivisionError" in finding.detail


def test_a_warning_of_numpy_is_a_finding() -> None:
    outcome = run(Try("one", warns, lambda _: []))
    assert outcome.error.startswith("RuntimeWarning: overflow encountered")


def test_problems_have_every_extreme() -> None:
    rngs = [np.random.default_rng([SEED, index]) for index in range(800)]
    stories = [draw_problem(rng).story for rng in rngs]
    told = " ".join(itertools.chain(*stories))
    assert [kind for kind in FORMS if not any(kind in story for story in stories)] == []
    for part in ("subnormal", "equal to the label", "powers of two", "rows of both", "20 decades"):
        assert part in told


@pytest.mark.parametrize("kind", FORMS)
def test_every_form_holds_what_dense_says(kind: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3)) * (rng.random((12, 3)) < 0.7)
    given = FORMS[kind](rng, X)
    problem = Problem(given, np.arange(12) % 2, None)
    assert problem.dense.shape == X.shape
    assert_array_equal(
        Problem(problem.rows(slice(1, None, 4)), problem.y, None).dense, problem.dense[1::4]
    )
    if given.dtype == X.dtype:
        assert_array_equal(problem.dense, X)


def test_a_seed_without_extremes_gives_what_it_gave() -> None:
    rng = np.random.default_rng([SEED, 0])
    problem = draw_problem(rng, extremes=False)
    assert problem.strength == 1.0
    assert not set(problem.story) & set(FORMS)


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
    verdict = try_one(seed, index, estimator, extremes=False)
    assert [str(one) for one in verdict.findings] == []


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
    verdict = Verdict(SEED, DRAWN.index(name), name, "not drawn")
    outcomes, rng = fit_one(verdict, extremes=False)
    claim = next(one.claims[0] for one in outcomes if one.claims and not one.only_rival)
    spoil(claim)
    judge(rng, verdict, outcomes)
    assert "false" in [one.kind for one in verdict.findings]


def test_the_judge_sees_a_tolerance_that_is_missed_in_silence() -> None:
    verdict = Verdict(SEED, DRAWN.index("BBR"), "BBR", "not drawn")
    outcomes, rng = fit_one(verdict, extremes=False)
    one = next(one for one in outcomes if one.claims)
    one.warned, one.claims[0].w = [], 0.5 * one.claims[0].w
    judge(rng, verdict, outcomes)
    assert "unmet" in [one.kind for one in verdict.findings]
