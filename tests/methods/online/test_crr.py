"""CRR: its draws, its steps, what it tends to, blocks, weights, thresholds, refusals."""

from __future__ import annotations

import pickle
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from support.special_rows import CASES
from support.steps import plain_steps
from support.toy_rows import overlapping
from toprank import CRR
from toprank.designs.pairs import CHUNK, RandomPairs
from toprank.inputs.class_split import Split

X, Y = overlapping(25, 75, 4, shift=0.7)
POS, NEG = np.flatnonzero(Y == 1), np.flatnonzero(Y == 0)


def draws(n: int, gamma: float = 0.5, weight: Any = None, *, seed: int = 0) -> tuple[Any, Any]:
    """The first n draws of a block of all rows."""
    block = RandomPairs(Split.of(Y == 1, weight))
    chunks = list(block.chunks(np.random.default_rng([seed, 0]), n, gamma))
    return tuple(np.concatenate(side) for side in zip(*chunks, strict=True))


def frequencies_fit(counts: Any, expected: Any) -> bool:
    """Whether a chi-square test lets counts pass for draws with the expected shares."""
    drawn = np.asarray(expected) > 0
    assert not np.asarray(counts)[~drawn].any()
    return bool(chisquare(counts[drawn], expected[drawn] * counts.sum()).pvalue > 1e-4)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_law_of_the_draws(gamma: float, weighted: bool) -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y)).astype(float) if weighted else None
    share = np.ones(len(Y)) if weight is None else weight
    n = 200_000
    chunks = list(RandomPairs(Split.of(Y == 1, weight)).chunks(np.random.default_rng(7), n, gamma))
    i, j = (np.concatenate(side) for side in zip(*chunks, strict=True))
    assert len(i) == len(j) == n
    assert ((i >= 0) | (j >= 0)).all()
    pair = (i >= 0) & (j >= 0)
    assert abs(pair.mean() - gamma) <= 4.5 * np.sqrt(gamma * (1 - gamma) / n)
    if gamma > 0:
        table = np.zeros((len(Y), len(Y)))
        np.add.at(table, (i[pair], j[pair]), 1)
        product = np.outer(share * (Y == 1), share * (Y == 0))
        assert frequencies_fit(table.ravel(), product.ravel() / product.sum())
    if gamma < 1:
        points = np.bincount(np.maximum(i, j)[~pair], minlength=len(Y)).astype(float)
        assert frequencies_fit(points, share / share.sum())
    assert set(i) <= {-1, *POS}
    assert set(j) <= {-1, *NEG}


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "squared"},
        {"project": True, "gamma": 0.8},
        {"fit_intercept": False, "average": True},
        {"average": True, "loss": "squared", "gamma": 1.0},
        {"alpha": 5.0, "loss": "squared", "project": False},
    ],
)
def test_a_fit_is_the_plain_steps_on_its_draws(options: dict[str, Any], form: Any) -> None:
    ranker = CRR(**{"alpha": 0.01, "max_iter": 501, "random_state": 0, **options}).fit(form(X), Y)
    i, j = draws(501, ranker.gamma)
    wide = np.c_[X, np.ones(len(Y))] if ranker.fit_intercept else X
    project = ranker.loss == "squared" if ranker.project == "auto" else ranker.project
    iterates = plain_steps(
        wide,
        list(zip(i, j, strict=True)),
        alpha=ranker.alpha,
        loss=ranker.loss,
        project=project,
    )
    # 501 steps: the last half are the last 251.
    w = iterates[250:].mean(axis=0) if ranker.average else iterates[-1]
    assert_allclose(ranker.coef_[0], w[:4], rtol=1e-9, atol=1e-9 * np.abs(iterates).max())
    if ranker.gamma < 1:
        expected = w[4] if ranker.fit_intercept else 0.0
        assert_allclose(ranker.intercept_[0], expected, atol=1e-9 * np.abs(iterates).max())
    assert ranker.t_ == ranker.n_iter_ == 501


def test_chunks_leave_no_trace_in_the_draws() -> None:
    n = CHUNK + 1000
    i, j = draws(n)
    first = draws(CHUNK)
    assert_array_equal(i[:CHUNK], first[0])
    assert_array_equal(j[:CHUNK], first[1])
    wide = np.c_[X, np.ones(len(Y))]
    iterates = plain_steps(wide, list(zip(i, j, strict=True)), alpha=0.01)
    for average, w in ((False, iterates[-1]), (True, iterates[n // 2 :].mean(axis=0))):
        ranker = CRR(0.01, max_iter=n, average=average, random_state=0).fit(X, Y)
        assert_allclose(ranker.coef_[0], w[:4], rtol=1e-8)


# The rows behind all pairs and all points, the last column that of the intercept.
PAIRS = np.c_[(X[POS][:, np.newaxis] - X[NEG]).reshape(-1, 4), np.zeros(25 * 75)]
POINTS = np.c_[X, np.ones(len(Y))] * np.where(Y == 1, 1.0, -1.0)[:, np.newaxis]


def value(ranker: CRR) -> float:
    """alpha/2 |w|^2 + gamma mean over pairs + (1 - gamma) mean over points."""
    learnt = ranker.intercept_[0] if ranker.gamma < 1 else 0.0
    w = np.r_[ranker.coef_[0], learnt]
    means = []
    for u, target in ((PAIRS @ w, 2.0), (POINTS @ w, 1.0)):
        each = np.maximum(1 - u, 0) if ranker.loss == "hinge" else (target - u) ** 2 / 2
        means.append(each.mean())
    return ranker.alpha / 2 * w @ w + ranker.gamma * means[0] + (1 - ranker.gamma) * means[1]


def optimum(ranker: CRR) -> float:
    """The minimum of the same, by CVXPY."""
    w, means = cp.Variable(5), []
    for u, target in ((PAIRS @ w, 2.0), (POINTS @ w, 1.0)):
        each = cp.pos(1 - u) if ranker.loss == "hinge" else cp.square(target - u) / 2
        means.append(cp.mean(each))
    losses = ranker.gamma * means[0] + (1 - ranker.gamma) * means[1]
    problem = cp.Problem(
        cp.Minimize(ranker.alpha / 2 * cp.sum_squares(w) + losses),
        [] if ranker.fit_intercept else [w[4] == 0],
    )
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_the_mean_iterate_tends_to_the_optimum(loss: str, gamma: float, intercept: bool) -> None:
    ranker = CRR(0.05, loss=loss, gamma=gamma, fit_intercept=intercept, average=True)
    short = value(ranker.set_params(max_iter=1000, random_state=0).fit(X, Y))
    long = value(ranker.set_params(max_iter=100_000).fit(X, Y))
    best = optimum(ranker)
    assert best * (1 - 1e-7) <= long <= 1.002 * best  # within two parts in a thousand
    assert long - best < 0.2 * (short - best)


def test_the_last_iterate_is_within_a_few_per_cent() -> None:
    ranker = CRR(0.05, random_state=0).fit(X, Y)
    best = optimum(ranker)
    assert best * (1 - 1e-7) <= value(ranker) <= 1.03 * best


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("gamma", [0.4, 1.0])
def test_weights_are_repeated_rows(gamma: float, form: Any) -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    ranker = CRR(0.01, gamma=gamma, max_iter=5000, random_state=0)
    weighted = clone(ranker).fit(form(X), Y, sample_weight=weight)
    repeated = clone(ranker).fit(form(np.repeat(X, weight, axis=0)), np.repeat(Y, weight))
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-12)
    assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-9)
    assert np.abs(weighted.coef_ - clone(ranker).fit(X, Y).coef_).max() > 1e-3


@pytest.mark.parametrize("factor", [1e-300, 7.0, 5e307])
def test_the_unit_of_the_weights_does_not_matter(factor: float) -> None:
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(Y))
    ranker = CRR(0.01, max_iter=3000, random_state=0)
    expected = clone(ranker).fit(X, Y, sample_weight=weight)
    assert_array_equal(ranker.fit(X, Y, sample_weight=factor * weight).coef_, expected.coef_)


def test_a_block_is_a_fit_with_a_step_a_row() -> None:
    whole = CRR(0.01, max_iter=len(Y), random_state=3).fit(X, Y)
    block = CRR(0.01, random_state=3).partial_fit(X, Y, classes=[0, 1])
    assert_array_equal(block.coef_, whole.coef_)
    assert_array_equal(block.intercept_, whole.intercept_)
    assert block.t_ == block.n_iter_ == len(Y)


def test_blocks_go_on_counting_steps_and_draw_anew() -> None:
    wide = np.c_[X, np.ones(len(Y))]
    ranker, w, t = CRR(0.01, random_state=0), np.zeros(5), 0
    for rows in (slice(0, 40), slice(40, 41), slice(41, 100), slice(0, 100)):
        ranker.partial_fit(X[rows], Y[rows], classes=[0, 1])
        part = RandomPairs(Split.of(Y[rows] == 1, one_class=True))
        n = len(Y[rows])
        ((i, j),) = part.chunks(np.random.default_rng([0, t]), n, 0.5)
        steps = list(zip(i, j, strict=True))
        w = plain_steps(wide[rows], steps, alpha=0.01, start=w, before=t)[-1]
        t += n
        assert (ranker.t_, ranker.n_iter_) == (t, n)
        assert_allclose(ranker.coef_[0], w[:4], rtol=1e-9, atol=1e-12)
        assert_allclose(ranker.intercept_[0], w[4], rtol=1e-9, atol=1e-12)


def test_a_block_of_one_class_gives_steps_on_points() -> None:
    for rows in (POS, NEG):
        pairs = CRR(0.01, gamma=0.9, random_state=0).partial_fit(X[rows], Y[rows], classes=[0, 1])
        points = CRR(0.01, gamma=0.0, random_state=0).partial_fit(X[rows], Y[rows], classes=[0, 1])
        assert_array_equal(pairs.coef_, points.coef_)
        assert pairs.t_ == len(rows)
        assert_array_equal(pairs.classes_, [0, 1])


def test_the_mean_over_blocks_is_over_all_their_steps() -> None:
    blocks = [slice(0, 30), slice(30, 100)]
    plain, mean = CRR(0.01, random_state=0), CRR(0.01, random_state=0, average=True)
    wide, iterates, t = np.c_[X, np.ones(len(Y))], [np.zeros((1, 5))], 0
    for rows in blocks:
        part = RandomPairs(Split.of(Y[rows] == 1, one_class=True))
        ((i, j),) = part.chunks(np.random.default_rng([0, t]), len(Y[rows]), 0.5)
        steps = list(zip(i, j, strict=True))
        iterates.append(
            plain_steps(wide[rows], steps, alpha=0.01, start=iterates[-1][-1], before=t)
        )
        t += len(steps)
        for ranker in (plain, mean):
            ranker.partial_fit(X[rows], Y[rows], classes=[0, 1])
    every = np.concatenate(iterates[1:])
    assert_allclose(plain.coef_[0], every[-1, :4], rtol=1e-9)
    assert_allclose(mean.coef_[0], every[:, :4].mean(axis=0), rtol=1e-8)
    assert_allclose(mean.intercept_[0], every[:, 4].mean(), rtol=1e-8)


def test_rows_without_weight_are_not_in_a_block() -> None:
    weight = np.where(np.arange(len(Y)) % 3 == 0, 0.0, 2.0)
    kept = weight > 0
    some = CRR(0.01, random_state=0).partial_fit(X, Y, classes=[0, 1], sample_weight=weight)
    only = CRR(0.01, random_state=0).partial_fit(X[kept], Y[kept], classes=[0, 1])
    assert_array_equal(some.coef_, only.coef_)
    assert some.t_ == kept.sum()
    before = some.coef_
    some.partial_fit(X, Y, sample_weight=np.zeros(len(Y)))
    assert_array_equal(some.coef_, before)
    assert (some.t_, some.n_iter_) == (kept.sum(), 0)


def test_fit_begins_anew_and_a_warm_start_goes_on() -> None:
    ranker = CRR(0.01, max_iter=500, random_state=0)
    first = ranker.fit(X, Y).coef_
    assert_array_equal(ranker.partial_fit(X, Y).fit(X, Y).coef_, first)
    assert ranker.t_ == 500
    ranker.set_params(warm_start=True, max_iter=20_000).fit(X, Y)
    assert (ranker.t_, ranker.n_iter_) == (20_500, 20_000)
    wider, labels = overlapping(25, 75, 6)
    assert ranker.fit(wider, labels).t_ == 20_000  # other columns: from zero
    assert ranker.coef_.shape == (1, 6)


def test_partial_fit_goes_on_after_fit() -> None:
    ranker = CRR(0.01, max_iter=500, random_state=0).fit(X, Y)
    assert ranker.partial_fit(X[:10], Y[:10]).t_ == 510


def test_the_threshold_with_and_without_points() -> None:
    moved = X + 3.0
    learnt = CRR(0.01, random_state=0).fit(moved, Y)
    assert (learnt.predict(moved) == Y).mean() > 0.75
    assert CRR(0.01, fit_intercept=False, random_state=0).fit(moved, Y).intercept_ == [0.0]
    for weight in (np.ones(len(Y)), np.where(Y == 1, 2.0, 1.0)):
        pairs = CRR(0.01, gamma=1.0, random_state=0).fit(moved, Y, sample_weight=weight)
        positive = weight[pairs.predict(moved) == 1].sum()
        assert positive == pytest.approx(weight[Y == 1].sum(), abs=weight.max() / 2)
    before = pairs.intercept_
    pairs.partial_fit(moved[POS], Y[POS])  # a class alone says nothing of the share
    assert_array_equal(pairs.intercept_, before)
    rows = np.r_[POS[:10], NEG[:10]]
    pairs.partial_fit(moved[rows], Y[rows])
    assert (pairs.predict(moved[rows]) == 1).sum() == 10


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
@pytest.mark.parametrize("labels", [[-1, 1], ["ham", "spam"], [False, True], [2.0, 7.0]])
def test_labels_of_any_kind(labels: list[Any]) -> None:
    y = np.array(labels)[Y]
    plain = CRR(0.01, max_iter=1000, random_state=0).fit(X, Y)
    named = CRR(0.01, max_iter=1000, random_state=0).fit(X, y)
    assert_array_equal(named.coef_, plain.coef_)
    block = CRR(0.01, random_state=0).partial_fit(X[POS], y[POS], classes=labels[::-1])
    assert_array_equal(block.classes_, labels)
    assert set(block.predict(X)) <= set(labels)


def test_what_partial_fit_refuses() -> None:
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        CRR().partial_fit(X, Y)
    with pytest.raises(ValueError, match="classes holds 3 labels: a ranker has two"):
        CRR().partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"y\[2\] is 5, which is not in classes, \[0, 1\]"):
        CRR().partial_fit(X[:4], [0, 1, 5, 1], classes=[0, 1])
    mistaken = CRR()
    with pytest.raises(ValueError, match=r"which is not in classes, \[1, 2\]"):
        mistaken.partial_fit(X, Y, classes=[1, 2])
    assert_array_equal(mistaken.partial_fit(X, Y, classes=[0, 1]).classes_, [0, 1])
    with pytest.raises(ValueError, match=r"'gamma' .* Got 2"):
        CRR(gamma=2.0).partial_fit(X, Y, classes=[0, 1])
    ranker = CRR(max_iter=50).fit(X, Y)
    with pytest.raises(ValueError, match="not the same as on last call"):
        ranker.partial_fit(X, Y, classes=[0, 2])
    with pytest.raises(ValueError, match="expecting 4 features"):
        ranker.partial_fit(X[:, :3], Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ranker.partial_fit(X, Y[:-1])
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1"):
        ranker.partial_fit(X, Y, sample_weight=-np.ones(len(Y)))
    with pytest.raises(ValueError, match="fit_intercept was changed"):
        ranker.set_params(fit_intercept=False).partial_fit(X, Y)


def test_an_overflow_is_an_error_that_names_the_remedy() -> None:
    ranker = CRR(1e-6, loss="squared", project=False, random_state=0)
    with pytest.raises(ValueError, match=r"overflowed at step \d+ .*'squared'.*project=True"):
        ranker.fit(X, Y)
    with pytest.raises(NotFittedError):
        ranker.predict(X)
    with pytest.raises(ValueError, match=r"overflowed .*StandardScaler, or raise alpha\."):
        CRR(1e-9, loss="squared").fit(1e99 * X, Y)
    good = CRR(0.01, random_state=0).partial_fit(X, Y, classes=[0, 1])
    before, t = good.coef_, good.t_
    with pytest.raises(ValueError, match="overflowed"):
        good.set_params(alpha=1e-308).partial_fit(1e99 * X, Y)
    assert_array_equal(good.coef_, before)
    again = good.set_params(alpha=0.01).partial_fit(X, Y)
    assert again.t_ == t + len(Y)
    assert np.isfinite(again.coef_).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_odd_data_give_finite_scores(case: Any, form: Any) -> None:
    data, positive = case()
    for loss in ("hinge", "squared"):
        for gamma in (0.0, 0.5, 1.0):
            ranker = CRR(1e-3, loss=loss, gamma=gamma, average=True, random_state=0, max_iter=2000)
            scores = ranker.fit(form(data), positive).decision_function(form(data))
            assert np.isfinite(scores).all()


@pytest.mark.parametrize("scale", [1e-40, 1e-8, 1e8, 1e40])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_features_of_any_size_give_the_same_order(loss: str, scale: float) -> None:
    options = {"loss": loss, "fit_intercept": False, "max_iter": 5000, "random_state": 0}
    plain = CRR(0.05, **options).fit(X, Y)
    scaled = CRR(0.05 * scale**2, **options).fit(scale * X, Y)
    assert_allclose(scale * scaled.coef_, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("alpha", [1e-12, 1e12])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_alpha_may_be_tiny_or_huge(loss: str, alpha: float) -> None:
    ranker = CRR(alpha, loss=loss, random_state=0).fit(X, Y)
    assert np.isfinite(ranker.coef_).all()
    assert ranker.coef_.any()


def test_the_seed_decides_and_the_threads_do_not() -> None:
    first = CRR(0.01, random_state=5).fit(X, Y).coef_
    assert_array_equal(CRR(0.01, random_state=5, n_threads=3).fit(X, Y).coef_, first)
    assert (CRR(0.01, random_state=6).fit(X, Y).coef_ != first).all()
    states = [np.random.RandomState(2) for _ in range(2)]
    assert_array_equal(*(CRR(0.01, random_state=state).fit(X, Y).coef_ for state in states))


def test_a_pickled_ranker_goes_on_alike() -> None:
    ranker = CRR(0.01, average=True, random_state=0).partial_fit(X, Y, classes=[0, 1])
    again = pickle.loads(pickle.dumps(ranker))
    assert_array_equal(again.partial_fit(X, Y).coef_, ranker.partial_fit(X, Y).coef_)


def test_verbose_tells_the_loss_of_each_chunk(capsys: pytest.CaptureFixture[str]) -> None:
    CRR(0.01, max_iter=CHUNK + 1, verbose=1, random_state=0).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"step {CHUNK}", f"step {CHUNK + 1}"]
    assert 0.3 < float(lines[0].split()[3].rstrip(",")) < 3.0
    CRR(0.01, max_iter=10).fit(X, Y)
    assert capsys.readouterr().out == ""
