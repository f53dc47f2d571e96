"""The one frame of `fit`: callbacks, progress and what is kept, the same in every family."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import toprank
from support.toy_rows import overlapping
from toprank import methods
from toprank.estimators.sklearn_api import CallbackSupportMixin

X, Y = overlapping(60, 90, 4)
#: Enough iterations for a second one to be asked for, and few enough to be quick.
SMALL: dict[str, dict[str, Any]] = {
    "ASCRC": {"n_pairs": 300},
    "ASRankSVM": {"n_pairs": 300},
    "CRR": {"max_iter": 40_000},
    "LPPair": {"weak_learners": "stumps"},
    "OAM": {"max_iter": 3},
    "RankBoost": {"n_estimators": 5},
    "WSVM": {"alpha": 1e-5},
}
#: Where the whole fit is one step.
ONE_STEP = {"BBR", "BBRCV", "LCBR"}


def make(name: str, **options: Any) -> Any:
    ranker = getattr(toprank, name)(**SMALL.get(name, {}), **options)
    return ranker.set_params(random_state=0) if "random_state" in ranker.get_params() else ranker


class Callback:
    """Sees the fitted estimator after every iteration, and may ask to stop after the second."""

    def __init__(self, stop_at: int = 10**9) -> None:
        self.stop_at, self.scores = stop_at, []  # type: ignore[var-annotated]

    def setup(self, estimator: Any, context: Any) -> None:
        pass

    def teardown(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, fitted_estimator: Any = None
    ) -> bool:
        if context.task_name != "iteration":
            return False
        assert fitted_estimator is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.scores.append(fitted_estimator.decision_function(X))
        return len(self.scores) >= self.stop_at


has_callbacks = pytest.mark.skipif(
    not hasattr(CallbackSupportMixin, "set_callbacks"), reason="scikit-learn before 1.9"
)
every = pytest.mark.parametrize("name", methods.__all__)


@has_callbacks
@every
def test_a_callback_sees_every_iteration_and_the_last_is_the_fit(name: str) -> None:
    seen = Callback()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = make(name).set_callbacks(seen).fit(X, Y)
        plain = make(name).fit(X, Y)
    assert len(seen.scores) >= (1 if name in ONE_STEP else 2)
    if hasattr(ranker, "history_"):
        assert len(seen.scores) == len(ranker.history_)
    order = np.argsort(ranker.decision_function(X), kind="stable")
    assert (order == np.argsort(plain.decision_function(X), kind="stable")).all()
    last = np.corrcoef(seen.scores[-1], ranker.decision_function(X))[0, 1]
    assert last > 0.999


@has_callbacks
@pytest.mark.parametrize("name", sorted(set(methods.__all__) - ONE_STEP))
def test_a_callback_stops_a_fit_which_then_does_not_warn(name: str) -> None:
    stop = Callback(stop_at=2)
    ranker = make(name).set_callbacks(stop)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(X, Y)
    assert len(stop.scores) == 2
    assert np.isfinite(ranker.decision_function(X)).all()


@every
def test_verbose_prints_and_changes_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quiet = make(name).fit(X, Y)
        assert capsys.readouterr().out == ""
        loud = make(name, verbose=1).fit(X, Y)
    assert len(capsys.readouterr().out.splitlines()) >= 1
    assert (quiet.decision_function(X) == loud.decision_function(X)).all()
