"""The systems of Table 2, what they choose from, and how many trials each can afford."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from printed import TRIALS
from sets import SOURCES, Labels
from toprank import AATP, SVMMAP, InfinitePush, RankSVM, SVMpAUC, TopPush

#: Lambdas to choose from, the largest first: paths start from the last fit.
ALPHAS = tuple(10.0**power for power in range(2, -7, -1))
#: Those of methods that stop early, which is a regularisation of its own.
EARLY_ALPHAS = ALPHAS[:7]
#: cs-SVM: what an error on a positive costs, an error on a negative costing 1.
COSTS = (0.1, 1.0, 10.0)
#: AATP: the share of the positives that its top has room for. The paper does not give its tau.
TOPS = (0.1, 0.5)
#: The most rows to train SVM-MAP, SVM-pAUC and AATP on.
SOME_ROWS = 3000
#: Trials of a large set.
LARGE_TRIALS = 3
#: The relative gap at which SVM-MAP and SVM-pAUC stop.
STRUCTURAL_TOL = 1e-2
#: Every so many of the lambdas, on a large set or where a fit is dear.
COARSE = 2
#: The most steps of the paper's method: of its authors' program, and here unless --trials is given.
MOST_STEPS, STEPS = 10_000, 1000

EXACT, BY_CHANGE, RELATIVE = "TopPush", "TopPush, printed rule", "TopPush, authors' rule"
#: Rows that are accounts of the paper's TopPush.
PUSHES = (EXACT, BY_CHANGE, RELATIVE)


@dataclass(frozen=True)
class System:
    """An estimator of lambda, a second parameter and labels, and its share of the work.

    `trials` are the most on a set where a trial is dear, and `rows` the most to train on, while the
    study is to take an hour or two.
    """

    make: Callable[[float, float, Labels], Any]
    alphas: tuple[float, ...] = ALPHAS
    ratios: tuple[float, ...] = (1.0,)  #: values of the second parameter, where there is one
    warm: bool = True  #: each fit of a path starts from the last
    steps: bool = False  #: the paper's method, whose steps are limited
    coarse: bool = False  #: dear: every other lambda on all sets
    trials: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)


def _stopped(rule: str) -> Callable[[float, float, Labels], Any]:
    def make(alpha: float, _: float, y: Labels) -> Any:
        return TopPush(alpha, solver="paper", stopping=rule, n_threads=1, random_state=0)

    return make


def _logistic(alpha: float, _: float, y: Labels) -> Any:
    return LogisticRegression(C=1.0 / (alpha * len(y)), solver="liblinear", random_state=0)


def _cost_sensitive(alpha: float, ratio: float, y: Labels) -> Any:
    return LinearSVC(C=1.0 / (alpha * len(y)), class_weight={0: 1.0, 1: ratio}, random_state=0)


def _top_area(alpha: float, _: float, y: Labels) -> Any:
    highest = 1.0 / np.count_nonzero(y == 0)  # the paper's range of rates: the top negative alone
    return SVMpAUC(alpha, fpr=(0.0, highest), tol=STRUCTURAL_TOL, n_threads=1)


def _top_share(alpha: float, top: float, y: Labels) -> Any:
    how = {"solver": "alternating", "n_threads": 1, "random_state": 0}
    return AATP(alpha, tau=top * y.mean(), **how)


FEWER_ROWS = dict.fromkeys(("news20-forsale", "nsl-kdd", "w8a"), SOME_ROWS)

SYSTEMS = {
    EXACT: System(
        lambda alpha, _, y: TopPush(alpha, n_threads=1, random_state=0),
    ),
    BY_CHANGE: System(
        _stopped("change"),
        alphas=EARLY_ALPHAS,
        warm=False,  # where it stops hangs on where it starts, and the published start is cold
        steps=True,
        coarse=True,
    ),
    RELATIVE: System(
        _stopped("relative"),
        alphas=EARLY_ALPHAS,
        warm=False,
        steps=True,
        coarse=True,
    ),
    "LR": System(_logistic, warm=False),
    "cs-SVM": System(
        _cost_sensitive,
        ratios=COSTS,
        warm=False,
    ),
    "SVM-rank": System(
        lambda alpha, _, y: RankSVM(alpha, loss="hinge", n_threads=1, random_state=0),
    ),
    "SVM-MAP": System(
        lambda alpha, _, y: SVMMAP(alpha, tol=STRUCTURAL_TOL, n_threads=1),
        rows=FEWER_ROWS,
    ),
    "SVM-pAUC": System(
        _top_area,
        trials={"news20-forsale": 0, "w8a": 1},
        rows=FEWER_ROWS,
    ),
    "InfinitePush": System(
        lambda alpha, _, y: InfinitePush(alpha, loss="hinge", n_threads=1, random_state=0),
    ),
    "AATP": System(
        _top_share,
        ratios=TOPS,
        warm=False,
        coarse=True,
        trials={"w8a": 1},
        rows=FEWER_ROWS,
    ),
}


@dataclass(frozen=True)
class Plan:
    """What a system chooses from on a set, and how far it may go."""

    alphas: tuple[float, ...]
    ratios: tuple[float, ...]
    steps: int
    rows: int | None
    trials: int


def plan(system: str, name: str, trials: int | None, quick: bool) -> Plan:
    """The plan for a system on a set; `trials`, if given, lifts all that is reduced."""
    own, source = SYSTEMS[system], SOURCES[name]
    whole = trials is not None and not quick
    few = 4 if quick else COARSE if not whole and (source.large or own.coarse) else 1
    most = own.trials.get(name, LARGE_TRIALS if source.large else TRIALS)
    wanted = trials or (2 if quick else most)
    return Plan(
        own.alphas[::few],
        own.ratios,
        MOST_STEPS if whole else STEPS,
        None if whole else own.rows.get(name),
        1 if source.fixed else wanted,
    )
