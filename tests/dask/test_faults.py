"""Workers that die, and workers that go: the same bits, or an error with what there is."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
from typing import Any

import distributed
import numpy as np
import pytest
from distributed import Client, LocalCluster

from support.lost_workers import after_rounds, kill_one, two_processes
from support.parts import cut, table
from toprank import BBR, LogisticRank, RectPush, RectPushApp
from toprank.dask import DistributedFitError, options, reducer

LENGTHS = [700, 0, 1300, 1000]


def test_a_killed_worker_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    with two_processes() as client:
        ranker = RectPush(tol=1e-9).fit(cut(X, LENGTHS), y)
        before = ranker.coef_.tobytes()
        with after_rounds(monkeypatch, 5, lambda: kill_one(client)):
            ranker.fit(cut(X, LENGTHS), y)
        assert ranker.coef_.tobytes() == before


@pytest.fixture
def alone() -> Iterator[Any]:
    """A cluster in this process that a test may ruin."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_without_workers_it_ends_with_what_there_is(
    alone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table()
    ranker = LogisticRank(1e-3, tol=1e-10, random_state=0)
    with (
        options(idle_timeout=0.5),
        after_rounds(monkeypatch, 7, lambda: alone.cluster.scale(0)),
        pytest.raises(DistributedFitError, match=r"No progress for 0\.5 seconds") as caught,
    ):
        ranker.fit(cut(X, LENGTHS), y)
    error = caught.value
    assert error.parts
    assert error.state["workers"] == {}
    assert not hasattr(ranker, "coef_")
    found = error.solution
    assert found.certificate_.dual <= LogisticRank(1e-3, tol=1e-10).fit(X, y).certificate_.primal
    assert found.score(X, y) > 0.8
    # It goes on from there: in memory, or on a cluster again.
    again = found.set_params(warm_start=True).fit(X, y)
    assert again.certificate_.holds(1e-10)
    copied = pickle.loads(pickle.dumps(error))
    assert copied.parts == error.parts
    np.testing.assert_array_equal(copied.solution.coef_, found.coef_)


def test_a_method_of_one_round_has_nothing_to_hand_over(
    alone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table()
    with (
        options(idle_timeout=0.5),
        after_rounds(monkeypatch, 1, lambda: alone.cluster.scale(0)),
        pytest.raises(DistributedFitError) as caught,
    ):
        BBR().fit(cut(X, LENGTHS), y)
    assert caught.value.solution is None


def test_a_lost_round_is_submitted_again(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    plain = RectPushApp(random_state=0).fit(cut(X, LENGTHS), y)
    lost, left = reducer._lost()[0], [2]

    def lose() -> None:
        if left[0]:
            left[0] -= 1
            raise lost("the worker is gone")

    monkeypatch.setattr(reducer, "_PAUSE", 0.0)
    own = reducer.Reducer._gather

    def losing(self: Any, futures: list[Any]) -> list[Any]:
        lose()
        return own(self, futures)

    monkeypatch.setattr(reducer.Reducer, "_gather", losing)
    again = RectPushApp(random_state=0).fit(cut(X, LENGTHS), y)
    np.testing.assert_array_equal(again.coef_, plain.coef_)
    left[0] = 100
    with (
        options(retries=1),
        pytest.raises(DistributedFitError, match="was lost 2 times, the last time by Cancelled"),
    ):
        RectPushApp(random_state=0).fit(cut(X, LENGTHS), y)


def test_a_closed_client_is_told(alone: Any) -> None:
    X, y = table()
    other = Client(alone.cluster.scheduler_address, set_as_default=False)
    other.close()
    with (
        options(client=other),
        pytest.raises(DistributedFitError, match="The client is closed"),
    ):
        BBR().fit(cut(X, LENGTHS), y)


def test_scattered_parts_are_warned_of(client: Any) -> None:
    X, y = table()
    import dask.array as da

    blocks = client.scatter([X[:1500], X[1500:]], hash=False)
    rows = da.concatenate([da.from_delayed(one, (1500, 5), X.dtype) for one in blocks])
    with pytest.warns(UserWarning, match=r"Part 0 of 2 rests on scattered data, and 1 others"):
        BBR().fit(rows, y)


def test_without_a_client_it_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()

    def none() -> None:
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", none)
    with pytest.raises(ValueError, match="there is no client: make one"):
        BBR().fit(cut(X, LENGTHS), y)


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="retries must be 0 or more"), options(retries=-1):
        pass
    with pytest.raises(ValueError, match="idle_timeout must be above 0"), options(idle_timeout=0):
        pass


def test_large_sums_are_added_on_the_workers(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    lengths = [100] * 30
    flat = BBR().fit(cut(X, lengths), y)
    monkeypatch.setattr(reducer, "_TREE_FROM", 0)
    tree = BBR().fit(cut(X, lengths), y)
    np.testing.assert_allclose(tree.coef_, flat.coef_, rtol=1e-10)
    again = BBR().fit(cut(X, lengths), y)
    assert tree.coef_.tobytes() == again.coef_.tobytes()


def test_large_arguments_are_sent_once(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    plain = RectPushApp(random_state=0).fit(cut(X, LENGTHS), y)
    monkeypatch.setattr(reducer, "INLINE", 0)
    again = RectPushApp(random_state=0).fit(cut(X, LENGTHS), y)
    np.testing.assert_array_equal(again.coef_, plain.coef_)
