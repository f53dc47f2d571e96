"""TopPush against reference optima, its certificate, triviality, warm starts, solvers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler, normalize

from support.shared_files import shared_data
from support.toy_rows import inside_out, overlapping, sparse_rows
from toprank import TopPush, TrivialSolutionWarning
from toprank.datasets import load_german, load_mammography, load_spambase
from truth.reference_files import reference_file

LOSSES = {"sq": "squared_hinge", "log": "logistic", "exp": "exponential"}
REFERENCE = [f"c{number:02d}" for number in (*range(9), 19)]
X, Y = overlapping()


def value(loss: str, z: Any) -> Any:
    """l(z)."""
    if loss == "squared_hinge":
        return np.maximum(1 + z, 0) ** 2
    return np.logaddexp(0, z) if loss == "logistic" else np.exp(z)


def conjugate(loss: str, a: Any) -> Any:
    """sup_z a z - l(z)."""
    if loss == "squared_hinge":
        return a * a / 4 - a
    safe = np.where(a > 0, a, 1.0)
    if loss == "exponential":
        return a * np.log(safe) - a
    rest = np.where(a < 1, 1 - a, 1.0)
    return a * np.log(safe) + (1 - a) * np.log(rest)


def objective(ranker: TopPush, X: Any, y: Any, weight: Any = None) -> float:
    """alpha/2 |w|^2 + the mean over positives of l(highest negative - score)."""
    w = ranker.coef_[0]
    s = np.asarray(X @ w)
    weight = np.ones(len(y)) if weight is None else weight
    top = s[(y == 0) & (weight > 0)].max()
    losses = value(ranker.loss, top - s[y == 1])
    return 0.5 * ranker.alpha * w @ w + np.average(losses, weights=weight[y == 1])


def case(key: str) -> tuple[Any, Any, dict[str, Any]]:
    with np.load(reference_file("top-push")) as file:
        X = np.concatenate([file[f"{key}_Xp"], file[f"{key}_Xn"]])
        y = np.repeat([1, 0], [len(file[f"{key}_Xp"]), len(file[f"{key}_Xn"])])
        _, problem, loss, alpha, *_ = file[f"{key}_meta"]
        assert problem == "P1"
        facts = {"loss": LOSSES[loss], "alpha": float(alpha)}
        return X, y, {**facts, **{name: file[f"{key}_{name}"] for name in ("obj", "w", "b")}}


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("solver", ["newton", "dual-descent"])
@pytest.mark.parametrize("key", REFERENCE)
def test_reference_optima(key: str, solver: str, form: Any) -> None:
    X, y, known = case(key)
    tol = 1e-13 if solver == "newton" else 1e-10
    ranker = TopPush(
        known["alpha"], loss=known["loss"], solver=solver, tol=tol, max_iter=10**6, random_state=0
    ).fit(form(X), y)
    assert objective(ranker, X, y) == pytest.approx(float(known["obj"]), abs=1e-8, rel=1e-8)
    # alpha/2 |w - w*|^2 <= gap, by strong convexity.
    reach = np.sqrt(2 * (tol + 1e-14) * float(known["obj"]) / known["alpha"])
    scale = max(1.0, np.abs(known["w"]).max())
    assert np.linalg.norm(ranker.coef_[0] - known["w"]) <= reach + 1e-7 * scale
    if solver == "newton":
        assert_allclose(ranker.coef_[0], known["w"], atol=1e-7 * scale)
        s = X @ ranker.coef_[0]
        assert_allclose(-s[y != 1].max(), known["b"], atol=1e-7 * scale)
    assert ranker.trivial_ == (not np.any(known["w"].round(12)))


BUNDLED = {"spambase": load_spambase, "german": load_german, "mammography": load_mammography}


@pytest.mark.parametrize("loss", LOSSES.values())
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_data_are_solved_alike_by_both_solvers(name: str, loss: str) -> None:
    X, y = BUNDLED[name](return_X_y=True)
    X = normalize(StandardScaler().fit_transform(X))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        newton = TopPush(1e-3, loss=loss, solver="newton").fit(X, y)
        descent = TopPush(1e-3, loss=loss, solver="dual-descent", random_state=0).fit(X, y)
    for ranker in (newton, descent):
        assert ranker.certificate_.holds(1e-4)
        assert objective(ranker, X, y) == pytest.approx(ranker.certificate_.primal, rel=1e-10)
    assert newton.certificate_.primal == pytest.approx(descent.certificate_.primal, rel=1e-4)
    assert newton.trivial_ == hull_holds_the_mean(X, y)
    said = [warning for warning in caught if warning.category is TrivialSolutionWarning]
    assert len(said) == newton.trivial_ + descent.trivial_
    assert len(caught) == len(said)


def hull_holds_the_mean(X: Any, y: Any) -> bool:
    """Whether the positives' mean is a convex combination of negatives, by a linear program."""
    negatives, mean = X[y == 0], X[y == 1].mean(axis=0)
    equal = np.vstack([negatives.T, np.ones(len(negatives))])
    return bool(linprog(np.zeros(len(negatives)), A_eq=equal, b_eq=[*mean, 1.0]).status == 0)


def unit_rows(name: str) -> tuple[Any, Any]:
    X, y = shared_data(name)
    if isinstance(X, np.ndarray):
        X = StandardScaler().fit_transform(X.astype(np.float64))
    return normalize(X), y


ALPHAS = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
TRIVIAL = [
    *(("ijcnn1", alpha, "squared_hinge") for alpha in ALPHAS),
    *((name, 1e-3, loss) for name in ("a9a", "magic", "ijcnn1") for loss in LOSSES.values()),
]


@pytest.mark.parametrize(("name", "alpha", "loss"), TRIVIAL)
def test_trivial_data_are_called_trivial(name: str, alpha: float, loss: str) -> None:
    X, y = unit_rows(name)
    with pytest.warns(TrivialSolutionWarning) as caught:
        ranker = TopPush(alpha, loss=loss).fit(X, y)
    assert ranker.trivial_
    assert not ranker.coef_.any()
    assert ranker.intercept_[0] == 0
    assert not ranker.predict(X).any()
    assert ranker.certificate_.primal == pytest.approx(float(value(loss, 0.0)))
    text = str(caught[0].message)
    for words in ("TopPush", "w = 0", "mean of the positives", "convex hull", "Try"):
        assert words in text
    assert caught[0].filename == __file__


@pytest.mark.parametrize("loss", LOSSES.values())
@pytest.mark.parametrize("solver", ["newton", "dual-descent"])
def test_trivial_made_up_data(solver: str, loss: str) -> None:
    X, y = inside_out()
    assert hull_holds_the_mean(X, y)
    with pytest.warns(TrivialSolutionWarning):
        ranker = TopPush(loss=loss, solver=solver, random_state=0).fit(X, y)
    assert ranker.trivial_
    assert not ranker.coef_.any()


@pytest.mark.parametrize("seed", range(6))
def test_triviality_is_that_of_the_hull(seed: int) -> None:
    X, y = overlapping(30, 120, 6, shift=0.4 + 0.15 * seed, seed=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = TopPush(1e-2).fit(X, y)
    assert ranker.trivial_ == hull_holds_the_mean(X, y) == bool(caught)


@pytest.mark.parametrize("alpha", [2.0**15, 1e6])
@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        *((solver, loss) for solver in ("newton", "dual-descent") for loss in LOSSES.values()),
        ("paper", "squared_hinge"),
    ],
)
def test_a_large_alpha_does_not_make_data_trivial(solver: str, loss: str, alpha: float) -> None:
    ranker = TopPush(alpha, loss=loss, solver=solver, random_state=0).fit(X, Y)  # no warning
    assert not ranker.trivial_
    assert ranker.coef_.any()
    assert ranker.score(X, Y) > 0.9


@pytest.mark.parametrize(("shift", "trivial"), [(1.0, True), (1.8, False)])
def test_what_rounding_hides_at_a_large_alpha_is_seen_at_a_smaller_one(
    shift: float, trivial: bool
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 20)) * np.exp(rng.normal(size=20))
    y = rng.random(4000) < 0.07
    X[y, :3] += shift * X.std(axis=0)[:3]
    X /= np.linalg.norm(X, axis=1).max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrivialSolutionWarning)  # and no other
        large, small = (TopPush(alpha).fit(X, y) for alpha in (2.0**15, 1.0))
        assert large.trivial_ == small.trivial_ == trivial == hull_holds_the_mean(X, y)
        assert large.score(X, y) == pytest.approx(small.score(X, y), abs=0.02)


def test_small_features_do_not_make_data_trivial() -> None:
    ranker = TopPush(1e-2).fit(1e-6 * X, Y)
    assert not ranker.trivial_


def test_dual_descent_calls_trivial_data_trivial() -> None:
    X, y = unit_rows("magic")
    with pytest.warns(TrivialSolutionWarning):
        ranker = TopPush(solver="dual-descent", random_state=0).fit(X, y)
    assert not ranker.coef_.any()


def test_dual_descent_bounds_the_optimum_in_few_columns() -> None:
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(10, 60), rng.integers(1, 5)
        y = np.arange(n) % 2
        X = rng.normal(size=(n, d)) + 3 * y[:, np.newaxis]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrivialSolutionWarning)  # some of them are
            ranker = TopPush(solver="dual-descent", random_state=0).fit(X, y)
        assert ranker.certificate_.holds(1e-4)
        assert (ranker.history_["relative_gap"] > -1e-9).all()


@pytest.mark.parametrize("solver", ["newton", "dual-descent", "paper"])
def test_a_fit_that_stops_short_says_by_how_much(solver: str) -> None:
    ranker = TopPush(1e-2, solver=solver, max_iter=3, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        ranker.fit(X, Y)
    text = str(caught[0].message)
    assert ranker.n_iter_ == 3
    assert f"gap of {ranker.certificate_.relative_gap:.2g}, above tol=1e-09" in text
    assert "after 3 iterations" in text
    assert "max_iter" in text
    assert caught[0].filename == __file__
    assert not ranker.trivial_


def test_the_certificate_decides_not_what_the_solver_says(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = TopPush._solve

    def doubtful(*arguments: Any) -> Any:
        solution = solve(*arguments)
        solution.converged = False
        return solution

    def boastful(*arguments: Any) -> Any:
        solution = solve(*arguments)
        solution.w = 1.1 * solution.w
        return solution

    monkeypatch.setattr(TopPush, "_solve", doubtful)
    assert TopPush(1e-2).fit(X, Y).certificate_.holds(1e-4)  # no warning
    monkeypatch.setattr(TopPush, "_solve", boastful)
    with pytest.warns(ConvergenceWarning, match="relative gap of 0.0"):
        TopPush(1e-2).fit(X, Y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda x: x.astype(np.float32)])
@pytest.mark.parametrize("loss", LOSSES.values())
@pytest.mark.parametrize("solver", ["newton", "dual-descent"])
def test_the_certificate_is_what_numpy_computes(
    solver: str, loss: str, form: Any, weighted: bool
) -> None:
    weight = np.random.default_rng(2).integers(0, 3, len(Y)) if weighted else np.ones(len(Y))
    ranker = TopPush(1e-2, loss=loss, solver=solver, tol=1e-6, random_state=0, warm_start=True)
    ranker.fit(form(X), Y, sample_weight=weight)
    data = X.astype(np.float32).astype(float) if form(X).dtype == np.float32 else X
    assert objective(ranker, data, Y, weight) == pytest.approx(ranker.certificate_.primal, rel=1e-9)

    v = ranker._solution.dual
    a, delta, p = -v[Y == 1], v[Y == 0], weight[Y == 1] / weight[Y == 1].sum()
    used = p > 0
    assert (a >= 0).all()
    assert (delta >= 0).all()
    assert not v[weight == 0].any()
    assert a.sum() == pytest.approx(delta.sum(), rel=1e-12)
    u = data.T @ v
    dual = -u @ u / (2 * ranker.alpha) - p[used] @ conjugate(loss, a[used] / p[used])
    assert ranker.certificate_.dual == pytest.approx(dual, rel=1e-9)
    assert -1e-12 <= ranker.certificate_.relative_gap <= 1e-6


def test_the_history_tells_of_every_iteration() -> None:
    history = TopPush(1e-2).fit(X, Y).history_
    assert history.dtype.names == (
        "iteration",
        "passes",
        "seconds",
        "primal",
        "dual",
        "relative_gap",
    )
    for name in ("iteration", "passes", "seconds", "dual"):
        assert (np.diff(history[name]) >= 0).all()
    assert (np.diff(history["primal"]) <= 0).all()
    assert_allclose(
        history["relative_gap"], (history["primal"] - history["dual"]) / history["primal"]
    )


@pytest.mark.parametrize("solver", ["newton", "dual-descent"])
@pytest.mark.parametrize("loss", LOSSES.values())
def test_a_warm_path_ends_where_cold_fits_end(loss: str, solver: str) -> None:
    options = {"loss": loss, "solver": solver, "tol": 1e-7, "random_state": 0}
    path = TopPush(warm_start=True, **options)
    for alpha in ALPHAS[:4]:
        path.set_params(alpha=alpha).fit(X, Y)
        cold = TopPush(alpha, **options).fit(X, Y)
        assert path.certificate_.holds(1e-7)
        assert path.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-7)
    again = path.fit(X, Y).n_iter_
    assert again < cold.n_iter_


@pytest.mark.parametrize("solver", ["newton", "dual-descent", "paper"])
def test_a_warm_start_survives_other_data(solver: str) -> None:
    tol = 0.2 if solver == "paper" else 1e-6
    ranker = TopPush(0.1, warm_start=True, solver=solver, tol=tol, random_state=0).fit(X, Y)
    more, y_more = overlapping(60, 300, 10, seed=1)
    wider, y_wider = overlapping(40, 160, 14, seed=2)
    others = [
        (X, 1 - Y),
        (-X, Y[::-1]),
        (more, y_more),
        (wider, y_wider),
        (wider[:90], y_wider[:90]),
    ]
    for data, labels in others:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrivialSolutionWarning)
            cold = TopPush(0.1, tol=1e-8).fit(data, labels)
            ranker.fit(data, labels)
        assert ranker.certificate_.holds(tol)
        assert ranker.coef_.shape == (1, data.shape[1])
        assert ranker.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2 * tol)
        assert ranker.certificate_.dual <= cold.certificate_.primal * (1 + 1e-12)


def test_without_warm_start_nothing_is_remembered() -> None:
    ranker = TopPush(1e-2, solver="dual-descent", random_state=0)
    first = ranker.fit(X, Y).coef_
    assert_array_equal(ranker.fit(X, Y).coef_, first)


def test_auto_chooses_by_the_shape() -> None:
    assert TopPush(1e-2).fit(X, Y).solver_ == "active-set-newton"
    wide = sparse_rows((300, 20_000), 0.002, np.random.default_rng(0))
    y = np.arange(300) % 3 == 0
    assert TopPush(1e-2, random_state=0).fit(wide, y).solver_ == "dual-descent"
    assert TopPush(1e-2, solver="dual-descent").fit(X, Y).solver_ == "dual-descent"


@pytest.mark.parametrize("state", [0, 7, np.random.RandomState])
def test_the_random_state_makes_a_fit_repeatable(state: Any) -> None:
    def fit(seed: Any) -> Any:
        seed = seed(3) if seed is np.random.RandomState else seed
        return TopPush(1e-2, solver="dual-descent", random_state=seed).fit(X, Y).coef_

    assert_array_equal(fit(state), fit(state))
    assert (fit(state) != fit(11)).any()
    newton = [TopPush(1e-2, random_state=seed).fit(X, Y).coef_ for seed in (0, 1)]
    assert_array_equal(*newton)
