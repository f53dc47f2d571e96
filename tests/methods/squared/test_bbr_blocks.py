"""BBR from blocks and from its like: what was seen, and when it is solved."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from support.examples import examples
from support.toy_rows import overlapping
from toprank import BBR

X, Y = overlapping(30, 90, 6)
WEIGHT = np.random.default_rng(3).uniform(0.1, 2.0, len(Y))
FORMS = [np.asarray, np.asfortranarray, sparse.csr_array]


def chunks(rng: Any, n: int, count: int) -> list[Any]:
    ends = np.sort(rng.integers(0, n + 1, count - 1))
    return [rows for rows in np.split(rng.permutation(n), ends) if len(rows)]


@examples(60)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 12),
    form=st.sampled_from(FORMS),
    weighted=st.booleans(),
)
def test_any_blocks_and_merges_give_the_batch(
    seed: int, count: int, form: Any, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    weight = WEIGHT if weighted else None
    batch = BBR(0.01).fit(form(X), Y, sample_weight=weight)
    rankers = [BBR(0.01) for _ in range(rng.integers(1, 4))]
    for rows in chunks(rng, len(Y), count):
        part = None if weight is None else weight[rows]
        one = rankers[rng.integers(len(rankers))]
        one.partial_fit(form(X[rows]), Y[rows], classes=[0, 1], sample_weight=part)
    whole = BBR(0.01)
    for one in rng.permutation(np.array(rankers, dtype=object)):
        whole.merge(one)
    for name in ("positive", "negative"):
        ours, theirs = (getattr(ranker.moments_, name) for ranker in (whole, batch))
        assert_allclose(ours.weight, theirs.weight, rtol=1e-13)
        assert_allclose(ours.mean, theirs.mean, atol=1e-13)
        assert_allclose(ours.scatter, theirs.scatter, atol=1e-11)
    assert_allclose(whole.coef_, batch.coef_, rtol=0, atol=1e-12)
    assert_allclose(whole.intercept_, batch.intercept_, atol=1e-12)


def test_blocks_are_solved_when_asked() -> None:
    ranker = BBR(0.01).partial_fit(X[Y == 1], Y[Y == 1], classes=[0, 1])
    with pytest.raises(NotFittedError, match="seen no negative row yet"):
        ranker.decision_function(X)
    assert not hasattr(ranker, "coef_")
    ranker.partial_fit(X[Y == 0], Y[Y == 0])
    again = pickle.loads(pickle.dumps(ranker))
    expected = BBR(0.01).fit(X, Y)
    assert_allclose(again.decision_function(X), expected.decision_function(X), atol=1e-12)
    assert_allclose(ranker.set_params(alpha=0.5).coef_, BBR(0.5).fit(X, Y).coef_, atol=1e-12)
    ranker.fit(X[:60], Y[:60])  # begins anew
    assert_allclose(ranker.coef_, BBR(0.5).fit(X[:60], Y[:60]).coef_)
    ranker.partial_fit(X[60:], Y[60:])  # goes on
    assert_allclose(ranker.coef_, BBR(0.5).fit(X, Y).coef_, atol=1e-12)


def test_merging_leaves_the_other_as_it_is_and_refuses_strangers() -> None:
    one, other = BBR().fit(X[:60], Y[:60]), BBR().fit(X[60:], Y[60:])
    before = other.coef_.copy()
    assert one.merge(other) is one
    assert_array_equal(other.coef_, before)
    assert_allclose(one.coef_, BBR().fit(X, Y).coef_, atol=1e-12)
    with pytest.raises(TypeError, match="not with str"):
        one.merge("other")
    with pytest.raises(ValueError, match="6 features, the other 5"):
        one.merge(BBR().fit(X[:, 1:], Y))
    with pytest.raises(ValueError, match="classes"):
        one.merge(BBR(pos_label=2).fit(X, Y + 1))
    with pytest.raises(ValueError, match="solver='moments'"):
        one.merge(BBR(solver="lanczos").fit(X, Y))
    with pytest.raises(ValueError, match="solver='moments'"):
        BBR(solver="lanczos").fit(X, Y).partial_fit(X, Y)
    assert_array_equal(one.merge(BBR()).coef_, BBR().merge(one).coef_)


def test_parameters_are_checked_when_a_block_is_solved() -> None:
    ranker = BBR().partial_fit(X, Y, classes=[0, 1]).set_params(alpha=-1.0)
    with pytest.raises(ValueError, match=r"'alpha' .* Got -1"):
        ranker.decision_function(X)


def test_a_failed_fit_leaves_the_old_answers() -> None:
    ranker = BBR().fit(X, Y)
    before = ranker.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(np.full((4, 9), np.nan), [0, 1, 0, 1])
    assert_array_equal(ranker.decision_function(X), before)
    first = BBR()
    with pytest.raises(ValueError, match="sample_weight"):
        first.partial_fit(X, Y, classes=[0, 1], sample_weight=[1.0])
    first.set_params(pos_label=4).partial_fit(X, Y + 3, classes=[3, 4])
    assert_array_equal(first.classes_, [3, 4])
