"""The certified estimators: options for each, and the problem that each says it solves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import toprank
from toprank.estimators.convex import ConvexRanker
from toprank.selection import path

from . import exact, heads
from .digits import real
from .exact import SCALARS, Classes, Rows, precise
from .objectives import Ridge
from .polish import Terms
from .shapes import Problem, Rng
from .tries import Claim, Try, ridge_claim

Maker = Callable[[Rng, Problem], list[Try]]
SMOOTH = ("squared_hinge", "logistic", "exponential")
#: Beyond this tol fits run for their max_iter: it is lowered, so that a problem takes its second.
TIGHT, STEPS_IF_TIGHT = 1e-8, 1000
#: The method of the paper is slow, and certifies as the others do: not always, nor for long.
PAPER_SHARE, PAPER_STEPS = 0.2, 500
#: The alphas of a path, beside the one that it ends with.
PATH = np.array([300.0, 30.0, 6.0, 1.0])
#: Of fits of SVMpAUC, those with its loose form.
LOOSE_SHARE = 0.2


def fitted(ranker: Any, problem: Problem) -> Any:
    """The ranker after its fit."""
    if problem.weight is None:
        return ranker.fit(problem.X, problem.y)
    return ranker.fit(problem.X, problem.y, sample_weight=problem.weight)


def _power(rng: Rng) -> float:
    return float(10.0 ** rng.uniform(*((-4, 1) if rng.random() < 0.7 else (-9, 6))))


def _alpha(rng: Rng, problem: Problem) -> float:
    return _power(rng) * problem.strength


def _radius(rng: Rng, problem: Problem) -> float:
    return _power(rng) / math.sqrt(problem.strength)


def _options(rng: Rng, problem: Problem, default_tol: float = 1e-4) -> dict[str, Any]:
    tol = float(rng.choice([default_tol, default_tol, 1e-6, 1e-9, 1e-13]))
    options = {"alpha": _alpha(rng, problem), "tol": tol, "n_threads": 1}
    return options | ({"max_iter": STEPS_IF_TIGHT} if tol < TIGHT else {})


def _tell(options: dict[str, Any]) -> str:
    told = ", ".join(
        f"{name}={value!r}" for name, value in options.items() if name not in ("n_threads",)
    )
    return f"({told})"


def _convex(
    estimator: Any,
    problem: Problem,
    loss: Callable[[Classes], exact.Loss],
    variants: list[dict[str, Any]],
    *,
    centred: bool = True,
    terms: Callable[[Rows, Classes], Terms] | None = None,
    unit: float = 0.0,
) -> list[Try]:
    """Fits of one objective by several options, two warm ones, and a rival on centred rows."""
    classes = Classes(problem.y, problem.weight)
    rows = Rows(problem.dense)
    objective = Ridge(rows, loss(classes), variants[0]["alpha"])
    objective.unit = real(unit)
    if terms is not None:
        objective.terms = lambda: terms(rows, classes)
    name = estimator.__name__

    def read(ranker: Any) -> list[Claim]:
        by_gap = getattr(ranker, "stopping", "gap") == "gap"
        return [ridge_claim(ranker, objective, problem, promises=by_gap)]

    def warm() -> Any:
        options = variants[0]
        ranker = estimator(**options | {"alpha": 10 * options["alpha"], "warm_start": True})
        fitted(ranker, problem)
        return fitted(ranker.set_params(alpha=options["alpha"]), problem)

    def along() -> Any:
        return path(
            estimator(**on_path),
            problem.X,
            problem.y,
            on_path["alpha"] * PATH,
            sample_weight=problem.weight,
        ).rankers[-1]

    tries = [
        Try(name + _tell(one), lambda one=one: fitted(estimator(**one), problem), read)
        for one in variants
    ]
    tries.append(Try(f"{name} warm{_tell(variants[0])}", warm, read))
    if issubclass(estimator, ConvexRanker):
        on_path = variants[min(1, len(variants) - 1)]  # few passes, where they can be asked for
        tries.append(Try(f"{name} path{_tell(on_path)}", along, read))
    if centred:
        tries += _centred(estimator, problem, variants[0], objective)
    return tries


def _centred(
    estimator: Any, problem: Problem, options: dict[str, Any], objective: Ridge
) -> list[Try]:
    """The same problem of w but for rounding, shifted and scaled: the fit is an easier one.

    None where no float64 holds its alpha.
    """
    X = problem.dense - problem.dense.mean(axis=0)
    unit = float(np.abs(X).max(initial=0.0)) or 1.0
    alpha = options["alpha"] / unit / unit
    if not 0.0 < alpha < np.inf:
        return []
    moved = Problem(X / unit, problem.y, problem.weight)
    options = options | {"alpha": alpha, "tol": 1e-10, "max_iter": 2000}

    def read(ranker: Any) -> list[Claim]:
        w = ranker.coef_[0] / unit
        return [Claim(objective, w, np.nan, np.nan, None)]

    return [Try("centred", lambda: fitted(estimator(**options), moved), read, only_rival=True)]


def _push(
    estimator: Any, losses: tuple[str, ...], loss_of: Callable[[Classes, exact.Scalar], exact.Loss]
) -> Maker:
    def make(rng: Rng, problem: Problem) -> list[Try]:
        loss = str(rng.choice(losses))
        options = {**_options(rng, problem), "loss": loss}
        variants = [
            {**options, "solver": solver, "random_state": 0}
            for solver in ("auto", "few-passes", "newton", "dual-descent")
            if (solver, loss) != ("few-passes", "hinge")  # that is for smooth losses
        ]
        if estimator is toprank.TopPush and loss == "squared_hinge" and rng.random() < PAPER_SHARE:
            for stopping in ("gap", "change", "relative"):
                paper = {"solver": "paper", "stopping": stopping, "max_iter": PAPER_STEPS}
                variants.append({**options, **paper})
        return _convex(estimator, problem, lambda c: loss_of(c, SCALARS[loss]), variants)

    return make


def _rect_push_app(rng: Rng, problem: Problem) -> list[Try]:
    loss, p = str(rng.choice(SMOOTH)), float(rng.choice([1.0, 4.0, 4.0, 33.3, 1e3, 1e6]))
    options = {**_options(rng, problem), "loss": loss, "p": p}
    scalars = SCALARS[loss], exact.steepened(SCALARS[loss], p)
    return _convex(
        toprank.RectPushApp,
        problem,
        lambda c: exact.threshold(c, *scalars),
        [options],
        terms=lambda rows, c: Terms.of_threshold(rows, c, *scalars),
    )


def _pnorm_push(rng: Rng, problem: Problem) -> list[Try]:
    p = float(rng.choice([1.0, 4.0, 4.0, 33.3, 1e3]))
    scalars = SCALARS["exponential"], exact.power(p)
    return _convex(
        toprank.PNormPush,
        problem,
        lambda c: exact.powers(c, p),
        [{**_options(rng, problem), "p": p}],
        terms=lambda rows, c: Terms.of_threshold(rows, c, *scalars),
    )


def _logistic_rank(rng: Rng, problem: Problem) -> list[Try]:
    weight = [None, "balanced", 0.1, 30.0][int(rng.integers(4))]
    options = {**_options(rng, problem), "negative_weight": weight}
    logistic = SCALARS["logistic"]

    def shared(c: Classes) -> Classes:
        return c.sharing(None if weight == "balanced" else 1.0 if weight is None else weight)

    return _convex(
        toprank.LogisticRank,
        problem,
        lambda c: exact.threshold(shared(c), logistic, logistic),
        _by_points(options),
        terms=lambda rows, c: Terms.of_threshold(rows, shared(c), logistic, logistic),
    )


def _by_points(options: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {**options, "solver": solver, "random_state": 0}
        for solver in ("auto", "few-passes", "newton")
    ]


def _log_exp_push(rng: Rng, problem: Problem) -> list[Try]:
    p = float(rng.choice([1.0, 4.0, 16.0, 33.3, 1e3]))
    scalars = SCALARS["logistic"], exact.power(p)
    return _convex(
        toprank.LogExpPush,
        problem,
        lambda c: exact.threshold(c, *scalars),
        _by_points({**_options(rng, problem), "p": p}),
        terms=lambda rows, c: Terms.of_threshold(rows, c, *scalars),
    )


def _log_sum_exp_push(rng: Rng, problem: Problem) -> list[Try]:
    scalars = heads.LINEAR, heads.EXPONENTIAL_RISE
    return _convex(
        toprank.LogSumExpPush,
        problem,
        heads.log_sum_exp,
        _by_points(_options(rng, problem)),
        terms=lambda rows, c: Terms.of_threshold(rows, c, *scalars),
        unit=1.0,
    )


def _rank_svm(rng: Rng, problem: Problem) -> list[Try]:
    loss = str(rng.choice(["hinge", "squared_hinge"]))
    options = {**_options(rng, problem, 1e-3), "loss": loss, "random_state": 0}
    solvers = ["auto", "newton"] + (["dual-descent"] if loss == "hinge" else [])
    return _convex(
        toprank.RankSVM,
        problem,
        lambda c: exact.pairs(c, SCALARS[loss]),
        [{**options, "solver": solver} for solver in solvers],
        terms=None if loss == "hinge" else lambda rows, c: Terms.of_pairs(rows, c, SCALARS[loss]),
    )


def _top_fraction_push(rng: Rng, problem: Problem) -> list[Try]:
    fraction = float(rng.choice([0.01, 0.1, 0.1, 0.37, 0.8, 1.0]))
    squared = SCALARS["squared_hinge"]
    q = min(Classes(problem.y, problem.weight).q)
    if fraction < q * (1 + real(1e-9)):  # the highest alone counts
        return _convex(
            toprank.TopFractionPush,
            problem,
            lambda c: exact.top(c, squared),
            [{**_options(rng, problem), "fraction": fraction}],
        )
    return _convex(
        toprank.TopFractionPush,
        problem,
        lambda c: heads.top_fraction(c, squared, fraction),
        [{**_options(rng, problem), "fraction": fraction}],
    )


def _svm_pauc(rng: Rng, problem: Problem) -> list[Try]:
    a = float(rng.choice([0.0, 0.0, 0.1, 0.45]))
    b = float(rng.choice([0.02, 0.1, 0.5, 1.0]))
    fpr = (a, b) if a < b else (0.0, b)
    options = {**_options(rng, problem, 1e-3), "fpr": fpr}
    if rng.random() < LOOSE_SHARE:
        problem, options["tight"] = _with_equal_negatives(problem), False
    tight = options.get("tight", True)
    return _convex(
        toprank.SVMpAUC, problem, lambda c: exact.partial_auc(c, *fpr, tight=tight), [options]
    )


def _with_equal_negatives(problem: Problem) -> Problem:
    """The problem with negatives that weigh the same, where others are refused."""
    if problem.weight is None:
        return problem
    weight = np.where(problem.y == 1, problem.weight, 1.0)
    return replace(problem, weight=weight, story=[*problem.story, "equal negatives"])


def _owpc(rng: Rng, problem: Problem) -> list[Try]:
    problem = _with_equal_negatives(problem)
    n = int((problem.y == 0).sum())
    kind = str(rng.choice(["harmonic", "uniform", "top", "given"]))
    given = np.sort(rng.uniform(size=int(rng.integers(1, n + 1))))[::-1]
    weights: Any = given if kind == "given" else kind
    b = {
        "harmonic": lambda: [1 / real(j) for j in range(1, n + 1)],
        "uniform": lambda: [1] * n,
        "top": lambda: [1] + [0] * (n - 1),
        "given": lambda: [*given, *[0] * (n - len(given))],
    }[kind]()
    return _convex(
        toprank.OWPC,
        problem,
        lambda c: exact.ordered(c, precise(np.array(b, dtype=object))),
        [{**_options(rng, problem, 1e-3), "weights": weights}],
    )


def _svm_map(rng: Rng, problem: Problem) -> list[Try]:
    """Without weights, which it refuses."""
    plain = replace(problem, weight=None)
    return _convex(toprank.SVMMAP, plain, exact.average_precision, [_options(rng, problem, 1e-3)])


def _wsvm(rng: Rng, problem: Problem) -> list[Try]:
    options = {**_options(rng, problem, 1e-3), "random_state": 0}
    return _convex(toprank.WSVM, problem, exact.points, [options], centred=False)


def _active(estimator: Any) -> Maker:
    def make(rng: Rng, problem: Problem) -> list[Try]:
        rows, budget = Rows(problem.dense), int(rng.integers(5, 200))
        hinge = SCALARS["hinge"]

        def read(ranker: Any) -> list[Claim]:
            first, second = ranker.pairs_.T
            loss = exact.listed(first, second, ranker.pair_weight_, hinge)
            return [ridge_claim(ranker, Ridge(rows, loss, ranker.alpha), problem)]

        tries = []
        for _ in range(2):
            options = {**_options(rng, problem, 1e-3), "n_pairs": budget, "random_state": 0}
            options["batch_size"] = int(rng.integers(1, budget + 1))
            options["strategy"] = str(rng.choice(toprank.methods.sampling.base.STRATEGIES))
            options["weighting"] = str(rng.choice(["rate", "paper", "plain", "none"]))
            if estimator is toprank.ASCRC:
                options["gamma"] = [0.0, 0.5, 1.0, "uniform"][rng.integers(4)]
            tries.append(
                Try(
                    estimator.__name__ + _tell(options),
                    lambda options=options: fitted(estimator(**options), problem),
                    read,
                )
            )
        return tries

    return make


def _rect(c: Classes, loss: exact.Scalar) -> exact.Loss:
    return exact.threshold(c, loss, loss, walled=True)


def _reverse_rect(c: Classes, loss: exact.Scalar) -> exact.Loss:
    return exact.reverse(_rect(c.swapped(), loss))


CONVEX: dict[str, Maker] = {
    "TopPush": _push(toprank.TopPush, SMOOTH, exact.top),
    "InfinitePush": _push(toprank.InfinitePush, ("hinge", "hinge", *SMOOTH), exact.top),
    "RectPush": _push(toprank.RectPush, SMOOTH, _rect),
    "ReverseRectPush": _push(toprank.ReverseRectPush, SMOOTH, _reverse_rect),
    "RectPushApp": _rect_push_app,
    "PNormPush": _pnorm_push,
    "LogisticRank": _logistic_rank,
    "LogExpPush": _log_exp_push,
    "LogSumExpPush": _log_sum_exp_push,
    "RankSVM": _rank_svm,
    "TopFractionPush": _top_fraction_push,
    "SVMpAUC": _svm_pauc,
    "SVMMAP": _svm_map,
    "OWPC": _owpc,
    "WSVM": _wsvm,
    "ASRankSVM": _active(toprank.ASRankSVM),
    "ASCRC": _active(toprank.ASCRC),
}
