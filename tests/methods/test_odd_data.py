"""Every estimator on data that are odd but legal, and on data that are not."""

from __future__ import annotations

import inspect
import pickle
import traceback
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

import toprank
from support.special_rows import CASES
from support.toy_rows import overlapping
from toprank import TrivialSolutionWarning, methods
from toprank.estimators.convex import ConvexRanker

X, Y = overlapping(15, 45, 5)

ESTIMATORS = [
    estimator
    for name in ("HeadRanker", *methods.__all__)
    if inspect.isclass(estimator := getattr(toprank, name)) and issubclass(estimator, BaseEstimator)
]
#: Those of problems that are not convex have no gap to close, and tests of their own.
NOT_CONVEX = {toprank.AATP}
CERTIFIED = [
    one
    for one in ESTIMATORS
    if {"tol", "alpha"} <= inspect.signature(one).parameters.keys() and one not in NOT_CONVEX
]
WARM = [one for one in CERTIFIED if issubclass(one, ConvexRanker)]
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
convex = pytest.mark.parametrize("estimator", CERTIFIED, ids=lambda estimator: estimator.__name__)
warm = pytest.mark.parametrize("estimator", WARM, ids=lambda estimator: estimator.__name__)
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def variants(estimator: type[BaseEstimator], **options: Any) -> list[Any]:
    """One of each loss and solver the estimator has."""
    known = inspect.signature(estimator).parameters
    constraints = estimator._parameter_constraints
    losses = sorted(constraints["loss"][0].options) if "loss" in known else [None]
    solvers: list[str | None] = [None]
    if "solver" in known:
        solvers = sorted(constraints["solver"][0].options - {"auto", "paper"})
    made = []
    for loss in losses:
        for solver in solvers:
            if (estimator, loss, solver) == (toprank.RankSVM, "squared_hinge", "dual-descent"):
                continue  # listed pairs are for the hinge
            if (loss, solver) == ("hinge", "few-passes"):
                continue  # which are for losses without kinks
            chosen = {"loss": loss, "solver": solver, "random_state": 0, "max_iter": 10**5}
            chosen |= {"tol": 1e-4, "batch_size": 20}
            kept = {k: v for k, v in chosen.items() if k in known and v is not None}
            kept = {"tol": 1e-4, **kept, **options}
            made.append(estimator(**{k: v for k, v in kept.items() if k in known}))
    return made


def fit_quietly(ranker: Any, *data: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSolutionWarning)
        return ranker.fit(*data, **options)


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")  # of scores that tie
@convex
@forms
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_odd_data_are_solved_and_certified(estimator: Any, form: Any, case: Any) -> None:
    data, positive = case()
    for ranker in variants(estimator, alpha=0.05):
        fit_quietly(ranker, form(data), positive)
        assert ranker.certificate_.holds(ranker.tol)
        assert np.isfinite(ranker.decision_function(form(data))).all()


@convex
def test_rows_of_weight_zero_are_as_if_absent(estimator: Any) -> None:
    weight = np.random.default_rng(0).integers(0, 2, len(Y)).astype(float)
    strange = X.copy()
    strange[weight == 0] = 1e3
    for ranker in variants(estimator, alpha=0.05, tol=1e-9):
        given = fit_quietly(clone(ranker), strange, Y, sample_weight=weight)
        absent = fit_quietly(clone(ranker), X[weight > 0], Y[weight > 0])
        assert_allclose(given.certificate_.primal, absent.certificate_.primal, rtol=1e-7)
        assert_allclose(given.coef_, absent.coef_, atol=3e-3)


@convex
@pytest.mark.parametrize("scale", [1e-40, 1e-8, 1e8, 1e40])
def test_features_of_any_size_give_the_same_order(estimator: Any, scale: float) -> None:
    plain = variants(estimator, alpha=0.05)
    scaled = variants(estimator, alpha=0.05 * scale**2)
    if estimator is toprank.SparseInfinitePush:  # its penalty goes with |w|, not with the square
        scaled = variants(estimator, alpha=0.05 * scale)
    for one, other in zip(plain, scaled, strict=True):
        fit_quietly(one, X, Y)
        fit_quietly(other, scale * X, Y)
        assert other.certificate_.holds(other.tol)
        assert_allclose(other.certificate_.primal, one.certificate_.primal, rtol=2 * one.tol)


@convex
@pytest.mark.parametrize("alpha", [1e-12, 1e12])
def test_alpha_may_be_tiny_or_huge(estimator: Any, alpha: float) -> None:
    for ranker in variants(estimator, alpha=alpha, max_iter=2000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it may stop short, and says so
            fit_quietly(ranker, X, Y)
        assert np.isfinite(ranker.coef_).all()
        if (estimator, alpha) != (toprank.SparseInfinitePush, 1e12):  # a 1-norm that leaves nothing
            assert ranker.coef_.any()
        assert ranker.certificate_.relative_gap >= -1e-9


@every
def test_one_class_and_bad_parameters_are_refused(estimator: Any) -> None:
    with pytest.raises(ValueError, match="class"):
        estimator().fit(X, np.ones(len(Y)))
    with pytest.raises(ValueError, match="no positive row with a weight above zero"):
        estimator().fit(X, Y, sample_weight=np.where(Y == 1, 0.0, 1.0))
    wrong = {"alpha": -1.0, "tol": 0.0, "max_iter": 0, "warm_start": "yes"}
    for parameter, value in wrong.items():
        if parameter not in inspect.signature(estimator).parameters:
            continue
        with pytest.raises(ValueError, match=parameter):
            estimator(**{parameter: value}).fit(X, Y)


@warm
def test_warm_starts_survive_data_of_the_same_shape(estimator: Any) -> None:
    other = X[:, ::-1] * np.array([1.0, 3.0, 0.2, 1.0, 1.0])
    for ranker in variants(estimator, alpha=0.01, warm_start=True, tol=1e-6):
        fit_quietly(ranker, X, Y)
        for data, labels in ((other, Y), (-X, Y), (X, Y[::-1]), (X, Y)):
            fit_quietly(ranker, data, labels)
            cold = fit_quietly(clone(ranker), data, labels)
            assert ranker.certificate_.holds(1e-6)
            assert_allclose(ranker.certificate_.primal, cold.certificate_.primal, rtol=3e-6)


@warm
def test_a_warm_estimator_can_be_pickled_and_goes_on(estimator: Any) -> None:
    ranker = fit_quietly(estimator(alpha=0.1, warm_start=True), X, Y)
    again = pickle.loads(pickle.dumps(ranker))
    assert_array_equal(again.coef_, ranker.coef_)
    for each in (ranker, again):
        fit_quietly(each.set_params(alpha=0.01), X, Y)
        assert each.certificate_.holds(each.tol)


@warm
def test_a_warm_start_far_from_everything_is_left_out(estimator: Any) -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 4))
    labels = (data[:, 0] + rng.normal(size=60) > 0).astype(int)
    data[:, 0] += 4 * labels
    for ranker in variants(estimator, alpha=1e-3, warm_start=True, max_iter=3000):
        for other, turned in ((10 * data, 1 - labels), (1e-3 * data, labels), (data, 1 - labels)):
            fit_quietly(ranker, data, labels)
            fit_quietly(ranker, other, turned)
            assert ranker.certificate_.holds(ranker.tol)


@warm
def test_a_warm_start_survives_rows_that_come_and_go(estimator: Any) -> None:
    weight = np.where(np.arange(len(Y)) < 7, 0.0, 1.0)
    for ranker in variants(estimator, alpha=0.05, warm_start=True):
        fit_quietly(ranker, X, Y, sample_weight=weight)
        fit_quietly(ranker, X[7:], Y[7:])
        assert ranker.certificate_.holds(ranker.tol)
        fit_quietly(ranker, X, Y)
        assert ranker.certificate_.holds(ranker.tol)


@warm
def test_a_warm_start_survives_columns_that_come_to_life(estimator: Any) -> None:
    # The scores of the last weights are those of the new data too, for those weights were zero.
    rng = np.random.default_rng(0)
    data = rng.normal(size=(600, 8)) * np.linspace(0.001, 1.0, 8)
    labels = (data @ rng.normal(size=8) + rng.normal(size=600) > 0).astype(int)
    before = data.copy()
    before[:, :6] = 0.0
    for ranker in variants(estimator, alpha=1e-4, warm_start=True, tol=1e-6):
        if ranker.get_params().get("solver") == "dual-descent":
            continue  # takes no Hessian over, and long
        fit_quietly(ranker, before, labels)
        fit_quietly(ranker, data, labels)
        assert ranker.certificate_.holds(1e-6)
        # The iterations of Newton's methods are long.
        assert ranker.n_iter_ <= 30 or not ranker.solver_.endswith("newton")


def test_the_same_rows_in_both_classes_are_trivial_however_long_one_is() -> None:
    half = np.random.default_rng(1).normal(size=(30, 4))
    half[0] *= 1e7
    for estimator in (toprank.RectPush, toprank.RectPushApp, toprank.PNormPush, toprank.WSVM):
        with pytest.warns(TrivialSolutionWarning):
            ranker = estimator(alpha=1e12).fit(np.vstack([half, half]), np.repeat([0, 1], 30))
        assert ranker.trivial_


@pytest.mark.parametrize("estimator", [toprank.RectPush, toprank.RectPushApp, toprank.TopPush])
@pytest.mark.parametrize("alpha", [1e-9, 1e-12, 1e-15])
def test_the_logistic_dual_keeps_its_digits(estimator: Any, alpha: float) -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(30, 3))
    labels = (data[:, 0] > 0).astype(int)
    data += 5 * labels[:, np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker = estimator(alpha, loss="logistic", tol=1e-8).fit(data, labels)
    assert -1e-9 <= ranker.certificate_.relative_gap <= 1e-4


ONE = np.arange(len(Y)) == 3
#: Rows, labels and weights at the ends of what numbers hold.
EXTREMES = {
    "weights of 1e-300": (X, Y, np.full(len(Y), 1e-300)),
    "positives of weight 1e-300": (X, Y, np.where(Y == 1, 1e-300, 1.0)),
    "an offset of 1e12": (X + 1e12, Y, None),
    "one positive": (X, ONE, None),
    "float32 below its normal range": ((1e-42 * X).astype(np.float32), Y, None),
    "float64 below its normal range": (1e-310 * X, Y, None),
    "float32 of 1e15": ((1e15 * X).astype(np.float32), Y, None),
    "squares that overflow": (1e300 * X, Y, None),
    "one entry of 1e99": (
        np.where((np.arange(60)[:, None] == 7) & (np.arange(5) == 2), 1e99, X),
        Y,
        None,
    ),
    "columns of 1e98 and 1e-300": (X * [1e97, 1.0, 1e-300, 1.0, 1.0], Y, None),
    "a subnormal column": (X * [1.0, 1.0, 1e-312, 1.0, 1.0], Y, None),
    "squares that vanish": (1e-160 * X, Y, None),
    "constant columns of 1e90": (np.full(X.shape, 1e90), Y, None),
    "two rows": (X[[0, -1]], np.array([1, 0]), None),
}


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@convex
@pytest.mark.parametrize("alpha", [1e-300, 1e-170, 1e300])
def test_extreme_alphas_end_without_a_warning_of_numpy(estimator: Any, alpha: float) -> None:
    """Every loss and solver: finite scores and an ordered bracket, or an error of ours."""
    for data, labels, weight in EXTREMES.values():
        for ranker in variants(estimator, alpha=alpha, max_iter=60):
            options = {} if weight is None else {"sample_weight": weight}
            refused_by = ""
            try:
                ranker.fit(data, labels, **options)
            except ValueError as error:
                refused_by = traceback.extract_tb(error.__traceback__)[-1].filename
            if refused_by:
                assert "toprank" in refused_by
                continue
            assert np.isfinite(ranker.decision_function(data)).all()
            assert ranker.certificate_.dual <= ranker.certificate_.primal


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@every
@pytest.mark.parametrize("extreme", EXTREMES)
def test_extremes_are_ranked_or_refused_in_words(estimator: Any, extreme: str) -> None:
    """Finite scores and a gap within tol, or a warning, or an error of ours; never NumPy's."""
    data, labels, weight = EXTREMES[extreme]
    seeded = "random_state" in inspect.signature(estimator).parameters
    ranker = estimator(**{"random_state": 0} if seeded else {})
    options = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            ranker.fit(data, labels, **options)
        except ValueError as error:
            refused_by = traceback.extract_tb(error.__traceback__)[-1].filename
        else:
            refused_by = ""
    if refused_by:
        assert "toprank" in refused_by
        return
    assert np.isfinite(ranker.decision_function(data)).all()
    if estimator in CERTIFIED and not seen and not ranker.trivial_:
        assert ranker.certificate_.holds(ranker.tol)
