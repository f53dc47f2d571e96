"""Warnings that are toprank's own, and how all warnings are given."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

#: Whose lines are not the user's: a warning belongs at the line that called them.
_PASSED_OVER = frozenset(
    {
        "toprank",
        "sklearn",
        # What runs fits for their users.
        "dask",
        "dask_ml",
        "distributed",
        "imblearn",
        "mapie",
        "mlflow",
        "optuna",
        "optuna_integration",
        "skrub",
        # Between a worker and its tasks.
        "concurrent",
        "joblib",
        "multiprocessing",
        "threading",
    }
)
#: Where a call keeps what has been said during it.
_SAID = "__toprank_said__"


class TrivialSolutionWarning(UserWarning):
    """The best score of the asked form is the same for every row: nothing was ranked."""


class PositiveLabelWarning(UserWarning):
    """Which of two labels is the positive one was not said: the one that sorts last was taken."""


class GridEdgeWarning(UserWarning):
    """The best alpha is the first or the last that was tried: a better one may lie beyond."""


class GuaranteeWarning(UserWarning):
    """Nothing, or nothing more, can be promised of a list; or the promise may not hold."""


class UnfinishedFitError(RuntimeError):
    """A fit could not go on; `solution` is a ranker with what it had by then, or None."""

    solution: object = None


def warn_caller(message: str, category: type[Warning], about: object = None) -> None:
    """Warn at the user's line: once a call from there, whatever the numbers in the message.

    A search calls many fits, and scikit-learn resets Python's memory of warnings before each. So
    what has been said `about` something is noted in the outermost frame of the call, and goes
    with it. In parallel each worker speaks for itself.
    """
    frame, level = sys._getframe(1), 2
    entry = frame
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _PASSED_OVER:
        entry, frame, level = frame, frame.f_back, level + 1
    said = entry.f_locals.setdefault(_SAID, set())
    if (category, about) in said:
        return
    warnings.warn(message, category, stacklevel=level)  # may raise: then it was not said
    said.add((category, about))


def warn_trivial(estimator: BaseEstimator, why: str, advice: str) -> None:
    """Say that the optimum is w = 0, why, and what to do."""
    warn_caller(
        f"The optimum of {type(estimator).__name__} on these data is trivial: w = 0, every row "
        f"gets the same score. {why} {advice}",
        TrivialSolutionWarning,
        about=type(estimator),
    )


def warn_unconverged(
    estimator: BaseEstimator,
    reached: str,
    n_iter: int,
    remedies: Sequence[str] = ("scale the features", "raise alpha"),
) -> None:
    """Say how far a fit came, what stopped it, and what to do."""
    most, why = estimator.get_params().get("max_iter"), ""
    if most is not None and n_iter >= most:
        remedies = ("raise max_iter", *remedies)
    else:
        why = "Rounding left no further progress, which more iterations would not change. "
    advice = ", ".join(remedies)
    warn_caller(
        f"{type(estimator).__name__} stopped after {n_iter} iterations at {reached}. "
        f"{why}{advice[0].upper()}{advice[1:]}, or accept the gap by a larger tol.",
        ConvergenceWarning,
        about=type(estimator),
    )


def warn_path_unconverged(short: Sequence[float], n_fits: int, tol: float, remedy: str) -> None:
    """Say which fits of a path stopped short, by the relative gaps they were left with."""
    if short:
        warn_caller(
            f"{len(short)} of the {n_fits} fits of the path stopped short of a relative gap "
            f"of {tol:g}; the widest is {max(short):.2g}. Raise the smallest alpha, scale the "
            f"features, {remedy}, or accept the gap by a larger tol.",
            ConvergenceWarning,
            about="path",
        )


def warn_uncertified(estimator: BaseEstimator) -> None:
    """Say that nothing bounds the minimum of a squared loss from below."""
    warn_caller(
        f"{type(estimator).__name__} has no certificate: alpha is 0, and the features are "
        "linearly dependent, but for rounding, so that nothing bounds the minimum from below. "
        "Set alpha above 0 (1e-9, say), set a radius, or leave features out.",
        ConvergenceWarning,
        about=type(estimator),
    )


def warn_short_folds(max_iter: int, tol: float) -> None:
    """Say that fits of some folds stopped short."""
    warn_caller(
        f"Lanczos' method stopped after {max_iter} steps short of a relative gap of {tol:g} in "
        "some of the folds. Raise max_iter or the smallest alpha, scale the features, take "
        "solver='moments', or accept the gap by a larger tol.",
        ConvergenceWarning,
        about="folds",
    )


def warn_folds_unconverged(short: Sequence[float], n_folds: int, alpha: float) -> None:
    """Say which folds stopped short at an alpha, by the relative gaps they were left with."""
    if short:
        warn_caller(
            f"{len(short)} of the {n_folds} folds stopped short of tol at alpha={alpha:.3g}; the "
            f"widest relative gap is {max(short):.2g}. Raise the estimator's max_iter, scale the "
            "features, or accept the gap by a larger tol.",
            ConvergenceWarning,
            about="folds",
        )


def warn_folds_of_one_class(n_left_out: int, n_folds: int) -> None:
    """Say how many folds could not be scored, if any."""
    if n_left_out:
        warn_caller(
            f"{n_left_out} of the {n_folds} folds hold out rows of one class only, and are left "
            "out of the means. Take fewer folds, or stratified ones.",
            UserWarning,
            about="folds",
        )


def warn_undefined_metric(metric: str, n_rows: int) -> None:
    """Say that rows of one class were scored by a metric that needs both."""
    warn_caller(
        f"{metric} is undefined on these {n_rows} rows, for they are all of one class, and counts "
        "as 0. Split with StratifiedKFold, into no more folds than the rarer class has rows.",
        UndefinedMetricWarning,
        about=metric,
    )


def warn_grid_edge(alpha: float, end: str) -> None:
    """Say that the best alpha is the largest or the smallest that was tried."""
    warn_caller(
        f"The best alpha, {alpha:.3g}, is the {end} of those tried, and scores differ there: a "
        "better one may lie beyond. Pass alphas that reach further, or alphas=9 to have the grid "
        "chosen and extended.",
        GridEdgeWarning,
        about="alphas",
    )


def warn_raised(estimator: BaseEstimator, asked: float, raised: float, why: str) -> None:
    """Say that the optimum was w = 0 at the epsilon asked for, and what was done."""
    warn_caller(
        f"At epsilon={asked:g} the optimum of {type(estimator).__name__} on these data is trivial: "
        f"w = 0, every row gets the same score. {why} epsilon was raised to {raised:g}, the "
        "smallest of a grid that leaves a margin; it is kept as epsilon_. "
        'on_trivial="keep" keeps w = 0 instead.',
        TrivialSolutionWarning,
        about=type(estimator),
    )


def warn_no_margin(estimator: BaseEstimator, theta: float) -> None:
    """Say that boosting came to a margin that guarantees nothing."""
    warn_caller(
        f"{type(estimator).__name__} found no margin: theta = {theta:.2g}, so that what it "
        "guarantees is empty. The rankers cannot lift the worst pairs. Raise epsilon, lower "
        "delta, or try other rankers.",
        TrivialSolutionWarning,
        about=type(estimator),
    )


def warn_no_guarantee(estimator: BaseEstimator, n_rounds: int) -> None:
    """Say that boosting ended before its guarantee held, and why."""
    last = n_rounds == estimator.get_params()["n_estimators"]
    why = "Raise n_estimators," if last else "No ranker has an edge left. Raise"
    warn_caller(
        f"{type(estimator).__name__} stopped after {n_rounds} rounds without its guarantee. "
        f"{why} epsilon or delta.",
        ConvergenceWarning,
        about=type(estimator),
    )


def warn_trivial_bound(what: str) -> None:
    """Say that nothing bounds this where only negatives are known to be alike."""
    warn_caller(
        'With assume="negatives" the list may hold any number of positives anywhere, so that '
        f'{what} is the trivial one. Pass assume="rows" if all rows of the list are like the '
        "calibration rows, how frequent positives are included.",
        GuaranteeWarning,
        about=what,
    )


def warn_few_calibration(
    given: int, kind: str, k: int, n_rows: int, least_k: int, enough: int
) -> None:
    """Say that nothing can be promised of so short a head, and how many rows would do."""
    warn_caller(
        f"{given:,} calibration {kind} are too few to promise anything about the first {k:,} of "
        f"{n_rows:,} rows: the least k is {least_k:,}. About {enough:,} would do for one k that is "
        "fixed beforehand, and somewhat more for whichever k is picked.",
        GuaranteeWarning,
        about=("few", k, n_rows),
    )


def warn_few_positives(count: int, enough: int) -> None:
    """Say that an interval of so few positives may be off."""
    warn_caller(
        f"There are {count} positives, fewer than {enough}: intervals of 95 % held .90 to .99 of "
        "the time with so few.",
        GuaranteeWarning,
        about="few positives",
    )


def warn_no_negatives() -> None:
    """Say that without calibration negatives nothing is promised."""
    warn_caller(
        "There is no negative among the calibration rows, so that every bound is 0: pass rows of "
        "both classes, and check pos_label.",
        GuaranteeWarning,
        about="no negatives",
    )


def warn_drift(p: float, *, rate_may_change: bool) -> None:
    """Say that a list looks unlike the calibration rows."""
    allowed = (
        " If only positives have become more or less frequent, it does." if rate_may_change else ""
    )
    warn_caller(
        f"The scores of the list differ from those of the calibration rows (p = {p:.1g}). If "
        f"negatives score otherwise than they did there, the promise does not hold.{allowed} "
        "Calibrate on recent rows.",
        GuaranteeWarning,
        about="drift",
    )


__all__ = [
    "GridEdgeWarning",
    "GuaranteeWarning",
    "PositiveLabelWarning",
    "TrivialSolutionWarning",
    "warn_caller",
    "warn_drift",
    "warn_few_calibration",
    "warn_few_positives",
    "warn_folds_of_one_class",
    "warn_folds_unconverged",
    "warn_grid_edge",
    "warn_no_guarantee",
    "warn_no_margin",
    "warn_no_negatives",
    "warn_path_unconverged",
    "warn_raised",
    "warn_short_folds",
    "warn_trivial",
    "warn_trivial_bound",
    "warn_uncertified",
    "warn_unconverged",
]
