"""The online methods: what OAM, OPAUC, AdaOAM and SPAM have in common, and what each tends to."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import normalize

from support.shared_files import shared_data
from support.special_rows import CASES
from support.toy_rows import overlapping
from toprank import OAM, OPAUC, SPAM, AdaOAM
from toprank._core import Matrix, ProximalDescent
from toprank.metrics import auc
from truth.online_steps import moment_steps, oam_steps, spam_steps

X, Y = overlapping(25, 75, 4, shift=0.7)
SIGN = np.where(Y == 1, 1.0, -1.0)
POS, NEG = np.flatnonzero(Y == 1), np.flatnonzero(Y == 0)
MEANS = np.array([X[NEG].mean(axis=0), X[POS].mean(axis=0)])
#: With the means, the share and the cap told, SPAM's steps do not depend on blocks.
TOLD = {"class_means": MEANS, "positive_share": 0.25, "step_cap": 0.05}
RANKERS = [
    OAM(1e-2, buffer_size=9),
    OAM(1e-2, buffer_size=9, update="gradient"),
    OPAUC(0.01),
    OPAUC(0.01, learning_rate=0.02),
    AdaOAM(0.01),
    SPAM(0.01),
    SPAM(0.01, learning_rate=0.1, **TOLD),
]
IN_BLOCKS = [
    ranker for ranker in RANKERS if not (isinstance(ranker, SPAM) and ranker.step_cap is True)
]
each = pytest.mark.parametrize("ranker", RANKERS, ids=repr)
in_blocks = pytest.mark.parametrize("ranker", IN_BLOCKS, ids=repr)
CHANGED = ("learning_rate", "C", "alpha", "step_cap", "update")
forms = pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])


def plain(ranker: Any, order: Any, weight: Any = None) -> Any:
    """What the plain steps on rows in this order come to."""
    rules = {"weight": weight}
    if isinstance(ranker, OAM):
        update = {"size": ranker.buffer_size, "sequential": ranker.update == "sequential"}
        return oam_steps(X, SIGN, order, C=ranker.C, seed=0, **update, **rules)[0][-1]
    rules["alpha"] = ranker.alpha
    if isinstance(ranker, SPAM):
        v = np.ones(len(Y)) if weight is None else weight
        if ranker.class_means is None:
            means = [np.average(X[rows], axis=0, weights=v[rows]) for rows in (NEG, POS)]
            share = v[POS].sum() / v.sum()
            cap = 1 / (2 * max(share, 1 - share) * v.max() * (X * X).sum(axis=1).max())
        else:
            means, share, cap = MEANS, 0.25, 0.05
        told = {"means": np.array(means), "share": share, "cap": cap, "eta": ranker.learning_rate}
        return spam_steps(X, SIGN, order, **told, **rules).mean(axis=0)
    eta = None if ranker.learning_rate == "auto" else ranker.learning_rate
    adaptive = isinstance(ranker, AdaOAM)
    return moment_steps(X, SIGN, order, eta=eta, adaptive=adaptive, **rules)[-1]


@each
@forms
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_is_the_plain_steps_in_its_order(ranker: Any, form: Any, weighted: bool) -> None:
    weight = np.random.default_rng(1).uniform(0.3, 2.0, len(Y)) if weighted else None
    ranker = clone(ranker).set_params(max_iter=2, random_state=0)
    fitted = ranker.fit(form(X), Y, sample_weight=weight)
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(len(Y)) for _ in range(2)])
    expected = plain(ranker, order, weight)
    assert_allclose(fitted.coef_[0], expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    assert fitted.t_ == fitted.n_iter_ == 2 * len(Y)


@each
def test_without_shuffling_passes_are_blocks(ranker: Any) -> None:
    ranker = clone(ranker).set_params(shuffle=False, random_state=0)
    whole = clone(ranker).set_params(max_iter=1).fit(X, Y)
    block = clone(ranker).partial_fit(X, Y, classes=[0, 1])
    assert_array_equal(block.coef_, whole.coef_)
    assert_array_equal(block.intercept_, whole.intercept_)
    assert block.t_ == block.n_iter_ == len(Y)
    twice = clone(ranker).set_params(max_iter=2).fit(X, Y)
    assert_allclose(block.partial_fit(X, Y).coef_, twice.coef_, rtol=1e-9, atol=1e-12)


@in_blocks
@forms
def test_blocks_are_one_call_on_all_of_them(ranker: Any, form: Any) -> None:
    weight = np.random.default_rng(1).uniform(0.3, 2.0, len(Y))
    order = np.concatenate([NEG[:20], POS[:7], np.r_[POS[7:], NEG[20:]]])
    rows, y, v = form(X[order]), Y[order], weight[order]
    rows = rows.tocsr() if sparse.issparse(rows) else rows
    whole = clone(ranker).set_params(random_state=0)
    whole.partial_fit(rows, y, classes=[0, 1], sample_weight=v)
    parts = clone(ranker).set_params(random_state=0)
    # The first blocks have one class only, one has one row.
    for part in (slice(0, 20), slice(20, 27), slice(27, 28), slice(28, 28 + 40), slice(68, 100)):
        parts.partial_fit(rows[part], y[part], classes=[0, 1], sample_weight=v[part])
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-10, atol=1e-12)
    assert parts.t_ == whole.t_ == len(Y)
    expected = plain(ranker, order, weight)
    assert_allclose(whole.coef_[0], expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@each
def test_one_class_alone_moves_nothing_and_is_remembered(ranker: Any) -> None:
    ranker = clone(ranker).set_params(random_state=0)
    for rows in (POS, NEG):
        alone = clone(ranker).partial_fit(X[rows], Y[rows], classes=[0, 1])
        told = isinstance(ranker, SPAM) and ranker.class_means is not None
        assert alone.coef_.any() == told
        assert alone.intercept_[0] == 0.0
        assert alone.t_ == len(rows)
    alone.partial_fit(X[POS], Y[POS])
    assert alone.coef_.any()
    assert auc(Y, alone.decision_function(X)) > 0.7


@each
def test_rows_without_weight_are_not_read(ranker: Any) -> None:
    ranker = clone(ranker).set_params(random_state=0, shuffle=False)
    weight = np.where(np.arange(len(Y)) % 3 == 0, 0.0, 2.0)
    kept = weight > 0
    strange = X.copy()
    strange[~kept] = 1e50
    some = clone(ranker).fit(strange, Y, sample_weight=weight)
    only = clone(ranker).fit(X[kept], Y[kept], sample_weight=weight[kept])
    assert_array_equal(some.coef_, only.coef_)
    assert some.n_iter_ == ranker.max_iter * kept.sum()
    before = some.coef_
    some.partial_fit(X, Y, sample_weight=np.zeros(len(Y)))
    assert_array_equal(some.coef_, before)
    assert some.n_iter_ == 0


def ridge(alpha: float, weight: Any = None) -> Any:
    """(Sigma + alpha I)^-1 mu, from all pairs."""
    v = np.ones(len(Y)) if weight is None else weight
    pairs = (X[POS][:, np.newaxis] - X[NEG]).reshape(-1, X.shape[1])
    share = np.outer(v[POS], v[NEG]).ravel()
    share = share / share.sum()
    Sigma = (share[:, np.newaxis] * pairs).T @ pairs
    return np.linalg.solve(Sigma + alpha * np.eye(X.shape[1]), share @ pairs)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("ranker", "near"),
    [
        (OPAUC(0.3, learning_rate=2e-4, max_iter=300), 0.02),
        (AdaOAM(0.3, learning_rate=0.05, max_iter=300), 0.02),
        (SPAM(0.3, max_iter=1000), 0.02),
    ],
    ids=repr,
)
def test_they_tend_to_the_ridge_solution(ranker: Any, near: float, weighted: bool) -> None:
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(Y)) if weighted else None
    best = ridge(0.3, weight)
    short = clone(ranker).set_params(max_iter=2, random_state=0).fit(X, Y, sample_weight=weight)
    long = clone(ranker).set_params(random_state=0).fit(X, Y, sample_weight=weight)
    errors = [np.linalg.norm(one.coef_[0] - best) / np.linalg.norm(best) for one in (short, long)]
    assert errors[1] < near
    assert errors[1] < errors[0]


def test_the_mean_step_of_spam_is_the_gradient_of_the_pairs() -> None:
    # One step from w on each row, without regularisation: E g x = 2 p (1-p) (Sigma w - mu).
    p, w = 0.25, np.array([0.3, -0.2, 0.5, 0.1])
    pairs = (X[POS][:, np.newaxis] - X[NEG]).reshape(-1, 4)
    expected = 2 * p * (1 - p) * (pairs.T @ (pairs @ w - 1.0)) / len(pairs)
    matrix, total = Matrix.dense(X), np.zeros(4)
    below, above = (np.ascontiguousarray(X @ mean) for mean in MEANS)
    for i in range(len(Y)):
        core = ProximalDescent(w, 0, 1.0, np.inf, 0.0, p)
        row = np.array([i])
        scores = float(MEANS[1] @ w), float(MEANS[0] @ w)
        assert core.run(matrix, row, SIGN, np.ones(len(Y)), *scores, above, below) == 1
        total += w - core.w
    assert_allclose(total / len(Y), expected, rtol=1e-11)


def test_spam_learns_the_means_of_all_blocks_so_far() -> None:
    ranker = SPAM(0.01)
    ranker.partial_fit(X[:30], Y[:30], classes=[0, 1]).partial_fit(X[30:], Y[30:])
    state = ranker._stream
    assert_allclose(state["means"], MEANS, rtol=1e-12)
    assert_array_equal(state["weight"], [75, 25])
    assert_allclose(state["sizes"], [(X * X).sum(axis=1).max(), 1.0])
    only = SPAM(0.01).partial_fit(X[NEG], Y[NEG], classes=[0, 1])
    assert only._stream["steps"].t == 0  # no step before both classes are there
    only.partial_fit(X[POS[:1]], Y[POS[:1]])
    assert only._stream["steps"].t == 1


@pytest.mark.parametrize("cap", [True, False])
def test_the_cap_may_be_a_truth_of_numpys(cap: bool) -> None:
    one, two = (
        SPAM(learning_rate=0.01, step_cap=c, random_state=0).fit(X, Y) for c in (cap, np.bool_(cap))
    )
    assert_array_equal(one.coef_, two.coef_)


def test_the_cap_keeps_long_rows_from_throwing_spam_off() -> None:
    far = 30.0 * X
    best = ridge(1e-3)
    capped = (
        SPAM(1e-3 * 900, learning_rate=10.0, max_iter=20, random_state=0).fit(far, Y).coef_[0] * 30
    )
    assert np.linalg.norm(capped - best) < 0.1 * np.linalg.norm(best)
    with pytest.raises(ValueError, match="SPAM overflowed"):
        SPAM(1e-3 * 900, learning_rate=10.0, max_iter=20, step_cap=False, random_state=0).fit(
            far, Y
        )


def test_the_order_of_pairs_alone_decides_when_no_pair_has_its_margin() -> None:
    # While all pairs are active and all rows kept, OAM adds up x_i - x_j: weights are copies.
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    for update in ("sequential", "gradient"):
        ranker = OAM(1e-9, update=update, buffer_size=10_000, random_state=0)
        weighted = clone(ranker).fit(X, Y, sample_weight=weight)
        repeated = clone(ranker).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
        assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
        m, n = weight[POS].sum(), weight[NEG].sum()
        pairs = n * (weight[POS] @ X[POS]) - m * (weight[NEG] @ X[NEG])
        assert_allclose(weighted.coef_[0], 1e-9 / 2 * pairs, rtol=1e-6)


@each
def test_the_seed_decides_and_the_threads_do_not(ranker: Any) -> None:
    first = clone(ranker).set_params(random_state=5).fit(X, Y).coef_
    again = clone(ranker).set_params(random_state=5, n_threads=3).fit(X, Y).coef_
    assert_array_equal(again, first)
    assert (clone(ranker).set_params(random_state=6).fit(X, Y).coef_ != first).any()
    states = [np.random.RandomState(2) for _ in range(2)]
    made = (clone(ranker).set_params(random_state=state).fit(X, Y).coef_ for state in states)
    assert_array_equal(*made)


@each
def test_a_pickled_ranker_goes_on_alike(ranker: Any) -> None:
    first = clone(ranker).partial_fit(X, Y, classes=[0, 1])
    again = pickle.loads(pickle.dumps(first))
    assert_array_equal(again.partial_fit(X, Y).coef_, first.partial_fit(X, Y).coef_)


@each
def test_fit_begins_anew_and_partial_fit_goes_on(ranker: Any) -> None:
    ranker = clone(ranker).set_params(random_state=0)
    first = ranker.fit(X, Y).coef_
    assert_array_equal(ranker.partial_fit(X[:10], Y[:10]).fit(X, Y).coef_, first)
    assert ranker.partial_fit(X[:10], Y[:10]).t_ == ranker.max_iter * len(Y) + 10
    wider, labels = overlapping(25, 75, 6)
    if ranker.get_params().get("class_means") is None:
        assert ranker.fit(wider, labels).coef_.shape == (1, 6)


@each
def test_the_threshold_is_at_the_share_of_positives(ranker: Any) -> None:
    ranker = clone(ranker).set_params(random_state=0).fit(X, Y)
    assert (ranker.predict(X) == 1).sum() == len(POS)
    before = ranker.intercept_
    ranker.partial_fit(X[POS], Y[POS])  # a class alone says nothing of the share
    assert_array_equal(ranker.intercept_, before)
    rows = np.r_[POS[:10], NEG[:10]]
    ranker.partial_fit(X[rows], Y[rows])
    assert (ranker.predict(X[rows]) == 1).sum() == 10


@each
def test_what_partial_fit_refuses(ranker: Any) -> None:
    fresh = clone(ranker)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        fresh.partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"y\[2\] is 5, which is not in classes, \[0, 1\]"):
        fresh.partial_fit(X[:4], [0, 1, 5, 1], classes=[0, 1])
    fresh.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="expecting 4 features"):
        fresh.partial_fit(X[:, :3], Y)
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1"):
        fresh.partial_fit(X, Y, sample_weight=-np.ones(len(Y)))


def test_what_a_parameter_may_not_be() -> None:
    with pytest.raises(ValueError, match=r"buffer_size was changed .* set it back to 9"):
        OAM(buffer_size=9).fit(X, Y).set_params(buffer_size=8).partial_fit(X, Y)
    for wrong in (MEANS[:1], MEANS[:, :2], np.nan * MEANS):
        with pytest.raises(ValueError, match="class_means must be 2 rows of 4 finite numbers"):
            SPAM(class_means=wrong).fit(X, Y)
    bad = [
        OAM(C=0.0),
        OAM(update="both"),
        OPAUC(learning_rate="best"),
        OPAUC(learning_rate=0.0),
        AdaOAM(learning_rate="auto"),
    ]
    bad += [SPAM(step_cap=0.0), SPAM(positive_share=1.0), SPAM(max_iter=0), OPAUC(shuffle="yes")]
    for ranker in bad:
        with pytest.raises(ValueError, match=r"The '\w+' parameter of"):
            ranker.fit(X, Y)


@pytest.mark.parametrize("estimator", [OPAUC, AdaOAM])
def test_too_many_features_are_refused_with_a_way_out(estimator: Any) -> None:
    wide = sparse.csr_array((np.ones(4), ([0, 1, 2, 3], [0, 1, 2, 3])), shape=(4, 50_000))
    with pytest.raises(ValueError, match=r"50000 features that is 18.6 GiB.*toprank.SPAM"):
        estimator().fit(wide, [0, 1, 0, 1])
    assert SPAM(random_state=0).fit(wide, [0, 1, 0, 1]).coef_.shape == (1, 50_000)


@pytest.mark.parametrize(
    ("ranker", "named"),
    [
        (
            OPAUC(learning_rate=1e9, max_iter=100),
            'Lower learning_rate, or set learning_rate="auto"',
        ),
        (AdaOAM(1e-300, learning_rate=1e290), "lower learning_rate"),
        (
            SPAM(1e-12, learning_rate=1e9, step_cap=False, max_iter=100),
            "Lower learning_rate, or set step_cap=True",
        ),
        (OAM(C=1e308, update="gradient"), "Lower C"),
    ],
    ids=repr,
)
def test_an_overflow_is_an_error_that_names_the_remedy(ranker: Any, named: str) -> None:
    with pytest.raises(ValueError, match=rf"overflowed at row \d+ .*{named}"):
        ranker.set_params(random_state=0).fit(1e3 * X, Y)
    with pytest.raises(NotFittedError):
        ranker.predict(X)
    good = type(ranker)(random_state=0).partial_fit(X, Y, classes=[0, 1])
    before, t = good.coef_, good.t_
    wrong = {k: v for k, v in ranker.get_params().items() if k in CHANGED}
    right = {k: v for k, v in good.get_params().items() if k in wrong}
    many = np.tile(1e3 * X, (100, 1)), np.tile(Y, 100)
    with pytest.raises(ValueError, match="overflowed"):
        good.set_params(**wrong).partial_fit(*many)
    assert_array_equal(good.coef_, before)
    assert good.set_params(**right).partial_fit(X, Y).t_ == t + len(Y)
    assert np.isfinite(good.coef_).all()


@forms
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_odd_data_give_finite_scores(case: Any, form: Any) -> None:
    data, positive = case()
    for ranker in (OAM(), OAM(1.0, update="gradient"), OPAUC(), AdaOAM(), SPAM()):
        ranker.set_params(random_state=0, max_iter=20).fit(form(data), positive)
        assert np.isfinite(ranker.decision_function(form(data))).all()


@pytest.mark.parametrize("scale", [1e-40, 1e-8, 1e8, 1e40])
def test_features_of_any_size_give_the_same_order(scale: float) -> None:
    for one, other in (
        (OPAUC(0.05), OPAUC(0.05 * scale**2)),
        (OPAUC(0.05, learning_rate=0.01), OPAUC(0.05 * scale**2, learning_rate=0.01 / scale**2)),
        (SPAM(0.05), SPAM(0.05 * scale**2, learning_rate=10.0 / scale**2)),
        (OAM(0.01), OAM(0.01 / scale**2)),
    ):
        first = one.set_params(random_state=0).fit(X, Y)
        second = other.set_params(random_state=0).fit(scale * X, Y)
        assert_allclose(scale * second.coef_, first.coef_, rtol=1e-6)


def test_the_unit_of_the_weights_does_not_matter_where_steps_are_bounded() -> None:
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(Y))
    for ranker in (OPAUC(0.05, random_state=0), SPAM(0.05, learning_rate=1e300, random_state=0)):
        expected = clone(ranker).fit(X, Y, sample_weight=weight).coef_
        scaled = ranker.fit(X, Y, sample_weight=1e9 * weight).coef_
        assert_allclose(scaled, expected, rtol=1e-9)


def test_heavy_short_rows_beside_light_long_ones_do_not_blow_up() -> None:
    far = np.where(np.arange(len(Y))[:, np.newaxis] % 2 == 0, 1e-3, 10.0) * X
    weight = np.where(np.arange(len(Y)) % 2 == 0, 1e4, 1.0)
    for ranker in (OPAUC(max_iter=50), SPAM(max_iter=50)):
        ranker.set_params(random_state=0).fit(far, Y, sample_weight=weight)
        assert np.linalg.norm(ranker.coef_) < 10.0


def test_verbose_tells_of_each_pass(capsys: pytest.CaptureFixture[str]) -> None:
    for ranker in (OAM(), OPAUC(), AdaOAM(), SPAM()):
        ranker.set_params(max_iter=2, verbose=1).fit(X, Y)
        lines = capsys.readouterr().out.splitlines()
        assert [line.split(",")[0] for line in lines] == ["pass 1: 100 rows", "pass 2: 100 rows"]
        ranker.set_params(verbose=0).fit(X, Y)
        assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "ranker",
    [
        OPAUC(1e-3, learning_rate=0.01),
        AdaOAM(1e-3),
        SPAM(1e-3),
        OAM(3e-6),
        OAM(3e-6, update="gradient"),
    ],
    ids=repr,
)
def test_one_pass_over_a9a_comes_near_the_exact_solution(ranker: Any) -> None:
    rows, y = shared_data("a9a")
    fresh, y_fresh = shared_data("a9a_t")
    rows, fresh = normalize(rows), normalize(fresh)
    dense = rows.toarray()
    above, below = dense[y == 1], dense[y == 0]
    mu = above.mean(axis=0) - below.mean(axis=0)
    Sigma = np.cov(above.T, bias=True) + np.cov(below.T, bias=True) + np.outer(mu, mu)
    exact = auc(y_fresh, fresh @ np.linalg.solve(Sigma + 1e-3 * np.eye(len(mu)), mu))
    assert exact == pytest.approx(0.9000, abs=1e-4)
    ranker.set_params(max_iter=1, random_state=0).fit(rows, y)
    assert ranker.score(fresh, y_fresh) > exact - 0.01
