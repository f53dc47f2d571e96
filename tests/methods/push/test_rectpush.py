"""RectPush and its reverse: reference optima, never trivial, the method's own threshold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler, normalize

from support.shared_files import shared_data
from support.toy_rows import inside_out, overlapping
from toprank import RectPush, RectPushApp, ReverseRectPush, TopPush, TrivialSolutionWarning
from toprank.inputs.class_split import Split
from truth import reference as truth
from truth.reference_files import reference_file

LOSSES = {"sq": "squared_hinge", "log": "logistic", "exp": "exponential"}
X, Y = overlapping()

losses = pytest.mark.parametrize("loss", truth.SMOOTH)
solvers = pytest.mark.parametrize("solver", ["newton", "dual-descent"])
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def case(key: str) -> tuple[Any, Any, dict[str, Any]]:
    with np.load(reference_file("top-push")) as file:
        X = np.concatenate([file[f"{key}_Xp"], file[f"{key}_Xn"]])
        y = np.repeat([1, 0], [len(file[f"{key}_Xp"]), len(file[f"{key}_Xn"])])
        _, problem, loss, alpha, *_ = file[f"{key}_meta"]
        facts = {"problem": problem, "loss": LOSSES[loss], "alpha": float(alpha)}
        return X, y, {**facts, **{name: file[f"{key}_{name}"] for name in ("obj", "w", "b")}}


def digits_of_duals(known: dict[str, Any]) -> float:
    """The relative gap that duals in double precision may leave, on any machine.

    w = X'v / alpha. Rounded duals move w by up to |v|_1 max |x| / alpha units of rounding, any
    score by max |x| as much, and the primal, whose slopes are v, by |v|_1 times that. Rows are no
    longer than one here, and |v|_1 is 4.5 at most.
    """
    return float(2.0**-53 * 4.5**2 / known["alpha"] / known["obj"])


@forms
@solvers
@pytest.mark.parametrize("key", ["c09", "c10", "c11", "c12", "c13", "c14"])
def test_reference_optima(key: str, solver: str, form: Any) -> None:
    X, y, known = case(key)
    estimator = {"P2": RectPush, "P3": ReverseRectPush}[known["problem"]]
    tol = 1e-13 if solver == "newton" else max(1e-11, digits_of_duals(known))
    options = {"loss": known["loss"], "solver": solver, "max_iter": 10**6, "random_state": 0}
    ranker = estimator(known["alpha"], tol=tol, **options).fit(form(X), y)
    assert ranker.certificate_.primal == pytest.approx(float(known["obj"]), rel=1e-8)
    # alpha/2 |w - w*|^2 <= gap, by strong convexity.
    reach = np.sqrt(2 * (tol + 1e-14) * float(known["obj"]) / known["alpha"])
    assert np.linalg.norm(ranker.coef_[0] - known["w"]) <= reach + 1e-8
    if solver == "newton":
        assert_allclose(ranker.coef_[0], known["w"], atol=1e-8)
        inner = ranker._loss(Split.of(y == 1, None))
        assert_allclose(-inner.threshold(X @ ranker.coef_[0]), known["b"], atol=1e-8)


@solvers
@losses
def test_the_reverse_is_rectpush_with_the_classes_exchanged(loss: str, solver: str) -> None:
    options = {"loss": loss, "solver": solver, "tol": 1e-10, "random_state": 0}
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    one = ReverseRectPush(1e-2, **options).fit(X, Y, sample_weight=weight)
    other = RectPush(1e-2, **options).fit(X, 1 - Y, sample_weight=weight)
    assert_array_equal(one.coef_, -other.coef_)
    assert_array_equal(one.intercept_, -other.intercept_)
    assert one.certificate_.primal == other.certificate_.primal
    assert one.certificate_.dual == other.certificate_.dual
    assert_array_equal(one.history_["primal"], other.history_["primal"])


@forms
@losses
def test_no_training_negative_is_above_the_threshold(loss: str, form: Any) -> None:
    X, y = overlapping(30, 90, 4, shift=0.4, seed=3)
    push = RectPush(1e-3, loss=loss).fit(form(X), y)
    reverse = ReverseRectPush(1e-3, loss=loss).fit(form(X), y)
    for data in (X, sparse.csr_array(X), np.asfortranarray(X), sparse.csc_array(X)):
        assert not push.predict(data)[y == 0].any()
        assert reverse.predict(data)[y == 1].all()
    # Noise: the one calls few rows positive, the other many.
    assert push.predict(X).mean() < y.mean() < reverse.predict(X).mean()


@pytest.mark.parametrize("weighted", [False, True])
@losses
@solvers
def test_the_certificate_is_what_three_lines_compute(
    solver: str, loss: str, weighted: bool
) -> None:
    weight = np.random.default_rng(2).integers(0, 3, len(Y)) if weighted else np.ones(len(Y))
    options = {"loss": loss, "solver": solver, "tol": 1e-6, "random_state": 0}
    ranker = RectPush(1e-2, warm_start=True, **options).fit(X, Y, sample_weight=weight)
    split, name = Split.of(Y == 1, weight.astype(float)), f"rectified {loss}"
    value = truth.primal_value(X, split, name, 1e-2, ranker.coef_[0])
    assert ranker.certificate_.primal == pytest.approx(value, rel=1e-9)
    s = X @ ranker.coef_[0]
    own = 0.005 * ranker.coef_[0] @ ranker.coef_[0]
    own += truth.of_both_classes(s, split, loss, -ranker._loss(split).threshold(s))
    assert own == pytest.approx(value, rel=1e-9)  # b is the best b, to rounding
    v = ranker._solution.dual
    a, delta = -v[split.pos], v[split.neg]
    assert a.sum() == pytest.approx(delta.sum(), rel=1e-12)
    dual = truth.dual_value(X, split, name, 1e-2, a, delta)
    assert ranker.certificate_.dual == pytest.approx(dual, rel=1e-9)
    assert -1e-12 <= ranker.certificate_.relative_gap <= 1e-6


@losses
@solvers
def test_rectpush_ranks_where_toppush_is_trivial(solver: str, loss: str) -> None:
    data, y = inside_out()
    data = data + 0.2 * y[:, np.newaxis]  # the hull still holds the mean, which is not the other's
    with pytest.warns(TrivialSolutionWarning):
        assert TopPush(loss=loss).fit(data, y).trivial_
    ranker = RectPush(loss=loss, solver=solver, random_state=0).fit(data, y)  # no warning
    assert not ranker.trivial_
    assert ranker.score(data, y) > 0.5


@pytest.mark.parametrize("name", ["a9a", "ijcnn1", "magic"])
def test_rectpush_ranks_the_data_on_which_toppush_is_trivial(name: str) -> None:
    X, y = shared_data(name)
    if isinstance(X, np.ndarray):
        X = StandardScaler().fit_transform(X.astype(np.float64))
    X = normalize(X)
    with pytest.warns(TrivialSolutionWarning):
        assert TopPush(1e-3).fit(X, y).trivial_
    ranker = RectPush(1e-3).fit(X, y)
    assert not ranker.trivial_
    assert ranker.certificate_.holds(1e-4)
    assert ranker.score(X, y) > 0.8


def test_a_negative_that_blocks_the_step_is_found() -> None:
    # Of this fold of a9a some tied negatives were too slightly violated to be listed, while the
    # gap was still wide; they stopped every step.
    X, y = shared_data("a9a")
    X = normalize(X)
    splits = list(StratifiedShuffleSplit(5, test_size=1 / 3, random_state=0).split(X, y))
    train = splits[1][0]
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train]))
    rows = train[folds[4][0]]
    ranker = RectPush(1e-5, solver="newton").fit(X[rows], y[rows])
    assert ranker.certificate_.holds(1e-4)
    assert ranker.n_iter_ <= 10


@pytest.mark.parametrize("estimator", [RectPush, ReverseRectPush])
@losses
@solvers
def test_classes_of_the_same_mean_are_called_trivial(
    solver: str, loss: str, estimator: Any
) -> None:
    data, y = inside_out()
    data = data - np.where(y[:, np.newaxis] == 1, data[y == 1].mean(0), data[y == 0].mean(0))
    with pytest.warns(TrivialSolutionWarning, match="the same mean") as caught:
        ranker = estimator(loss=loss, solver=solver, random_state=0).fit(data, y)
    assert ranker.trivial_
    assert not ranker.coef_.any()
    assert "other features" in str(caught[0].message)
    assert caught[0].filename == __file__


@solvers
@losses
@pytest.mark.parametrize("alpha", [2.0**15, 1e6])
def test_a_large_alpha_makes_nothing_trivial(alpha: float, loss: str, solver: str) -> None:
    ranker = RectPush(alpha, loss=loss, solver=solver, random_state=0).fit(X, Y)
    assert not ranker.trivial_
    # So strongly regularised, w points from one mean to the other.
    between = X[Y == 1].mean(axis=0) - X[Y == 0].mean(axis=0)
    cosine = ranker.coef_[0] @ between / np.linalg.norm(ranker.coef_) / np.linalg.norm(between)
    # Descent stops within tol, which leaves w much room here.
    assert cosine > (1 - 1e-3 if solver == "newton" else 0.5)
    assert ranker.score(X, Y) > 0.9


@pytest.mark.parametrize("estimator", [RectPush, ReverseRectPush])
@solvers
def test_a_fit_that_stops_short_says_by_how_much(solver: str, estimator: Any) -> None:
    ranker = estimator(1e-5, solver=solver, max_iter=2, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"gap of .*, above tol=1e-09"):
        ranker.fit(X, Y)
    assert ranker.n_iter_ == 2


@pytest.mark.parametrize("estimator", [RectPush, ReverseRectPush])
@solvers
@losses
def test_a_warm_path_ends_where_cold_fits_end(loss: str, solver: str, estimator: Any) -> None:
    options = {"loss": loss, "solver": solver, "tol": 1e-7, "random_state": 0}
    path = estimator(warm_start=True, **options)
    for alpha in (1e-1, 1e-2, 1e-3):
        path.set_params(alpha=alpha).fit(X, Y)
        cold = estimator(alpha, **options).fit(X, Y)
        assert path.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-7)
    assert path.fit(X, Y).n_iter_ < cold.n_iter_


def test_the_app_form_rises_to_it_as_p_grows() -> None:
    for loss in ("squared_hinge", "exponential"):
        limit = RectPush(1e-2, loss=loss, tol=1e-10).fit(X, Y).certificate_.primal
        values = [
            RectPushApp(1e-2, p=p, loss=loss, tol=1e-10).fit(X, Y).certificate_.primal
            for p in (1.0, 2.0, 8.0, 64.0, 4096.0)
        ]
        assert (np.diff(values) > 0).all()
        assert limit * (1 - 1e-2) < values[-1] <= limit


@pytest.mark.parametrize("seed", range(40))
def test_separable_data_without_any_loss_left(seed: int) -> None:
    # Where no row loses, the model has no curvature but alpha's, and b is any in an interval.
    for shape in ((2, 3, 2), (20, 40, 5)):
        data, positive = truth.rows_of_two_classes(seed, *shape, shift=4.0)
        for alpha in (1e-4, 1e-7):
            newton = RectPush(alpha, solver="newton").fit(data, positive)  # no warning
            assert newton.certificate_.holds(1e-4)


@losses
def test_weights_are_repeated_rows(loss: str) -> None:
    weight = np.random.default_rng(4).integers(0, 4, len(Y))
    options = {"loss": loss, "tol": 1e-12}
    weighted = RectPush(1e-2, **options).fit(X, Y, sample_weight=weight)
    repeated = RectPush(1e-2, **options).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-6, atol=1e-8)


def test_the_classes_seen_by_callbacks_are_the_right_way_round() -> None:
    callback = pytest.importorskip("sklearn.callback")
    assert callback is not None
    seen: list[float] = []
    inner = ReverseRectPush._threshold

    class Spy(ReverseRectPush):
        def _threshold(self, w: Any, problem: Any, scores: Any) -> float:
            seen.append(float(np.mean(scores[Y == 1]) - np.mean(scores[Y == 0])))
            return inner(self, w, problem, scores)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spy = Spy(1e-3)
        if not hasattr(spy, "set_callbacks"):
            pytest.skip("this scikit-learn has no callbacks")
        spy.set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert len(seen) > 2
    assert all(difference >= 0 for difference in seen)
