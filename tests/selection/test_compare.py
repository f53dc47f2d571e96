"""compare: the same figures as by hand, every cell once, and nothing half-known."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, ShuffleSplit

from support.orders import orders
from toprank import BBR, TopPush
from toprank.datasets import make_gaussian_mixture, make_noisy_linear
from toprank.metrics import average_precision, corrected_t_test
from toprank.selection import compare, holm, over_sets
from toprank.selection.comparison.cells import Store


@pytest.fixture
def rows() -> tuple[Any, Any]:
    return make_noisy_linear(300, 4, flip=0.1, positive_fraction=0.3, random_state=0)


class Counted(ClassifierMixin, BaseEstimator):
    """Ranks by the first column, and counts its fits in a folder."""

    def __init__(self, folder: str, sign: float = 1.0) -> None:
        self.folder, self.sign = folder, sign

    def fit(self, X: Any, y: Any) -> Counted:
        path = Path(self.folder) / "fits"
        path.write_text(path.read_text() + "x" if path.exists() else "x")
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return self.sign * np.asarray(X)[:, 0]


def fits(folder: Path) -> int:
    return len((folder / "fits").read_text())


def test_figures_are_those_of_a_loop(rows: tuple[Any, Any]) -> None:
    X, y = rows
    found = compare({"bbr": BBR(), "plain": LogisticRegression()}, X, y, cv=3)
    assert found.models == ["logistic", "bbr", "plain"]
    for k, (training, test) in enumerate(found.folds):
        scores = LogisticRegression().fit(X[training], y[training]).decision_function(X[test])
        np.testing.assert_allclose(found.oof_scores("plain")[test], scores)
        assert found.figures[2, k, 0] == pytest.approx(average_precision(y[test], scores))
    tidy = found.results()
    assert len(tidy) == 3 * 3 * 4
    own = tidy[(tidy.model == "plain") & (tidy.metric == "average_precision")]
    assert own.value.tolist() == found.figures[2, :, 0].tolist()


def test_intervals_and_tests_by_their_formulas(rows: tuple[Any, Any]) -> None:
    found = compare(["bbr", "ranksvm"], *rows, cv=4)
    one, other = found.figures[1, :, 0], found.figures[0, :, 0]
    d = one - other
    error = np.sqrt((1 / 4 + 0.25 / 0.75) * d.var(ddof=1))
    table = found.tests()
    assert table.model.tolist() == ["bbr", "ranksvm"]
    assert table.p[0] == pytest.approx(2 * student.sf(abs(d.mean()) / error, 3))
    assert table.p[0] == corrected_t_test(one, other, test_share=0.25).p
    assert (table.p_adjusted >= table.p).all()
    mean, low, high = found.interval("bbr")
    reach = student.ppf(0.975, 3) * np.sqrt((1 / 4 + 0.25 / 0.75) * one.var(ddof=1))
    assert mean == pytest.approx(one.mean())
    assert (low, high) == (max(mean - reach, 0), min(mean + reach, 1))
    assert found.table().shape == (3 * 4, 5)
    assert "3 models on 4 folds of 300 rows" in repr(found)


def test_standing_puts_folds_together_in_proportion(rows: tuple[Any, Any]) -> None:
    found = compare({"bbr": BBR()}, *rows, cv=3)
    held_out, standing = found.standing("bbr")
    first = held_out[np.argsort(-standing)][:30]
    for _, test in found.folds:
        assert np.isin(first, test).sum() == 10
    assert sorted(held_out) == list(range(300))


def test_a_second_call_goes_on_from_what_is_kept(rows: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = rows
    model = Counted(str(tmp_path))
    first = compare({"one": model}, X, y, cv=3, store=tmp_path / "cells")
    assert fits(tmp_path) == 3
    again = compare({"another name": model}, X, y, cv=3, store=tmp_path / "cells")
    assert fits(tmp_path) == 3
    assert again.figures.tolist() == first.figures.tolist()
    kept = sorted((tmp_path / "cells").iterdir())
    assert len(kept) == 6  # logistic regression's too
    kept[0].write_bytes(kept[0].read_bytes()[:40])  # a cell that cannot be read is fitted again
    kept[1].write_bytes(b"")
    assert compare({"one": model}, X, y, cv=3, store=tmp_path / "cells").figures.tolist() == (
        first.figures.tolist()
    )


@pytest.mark.parametrize("change", ["model", "rows", "labels", "weights", "fold"])
def test_what_a_cell_depends_on_is_not_used_again(
    rows: tuple[Any, Any], tmp_path: Path, change: str
) -> None:
    X, y = rows
    weight = np.ones(len(y))
    cells = {"store": tmp_path / "cells", "cv": 3}
    compare({"logistic": Counted(str(tmp_path))}, X, y, **cells)
    assert fits(tmp_path) == 3
    model = Counted(str(tmp_path), sign=-1.0 if change == "model" else 1.0)
    if change == "rows":
        X = X + 1e-9
    if change == "labels":
        y = y.copy()
        y[:2] = 1 - y[:2]
    if change == "fold":
        cells["cv"] = 4
    if change == "weights":
        with pytest.raises(ValueError, match="Counted takes no sample_weight"):
            compare({"logistic": model}, X, y, sample_weight=weight, **cells)
        return
    compare({"logistic": model}, X, y, **cells)
    assert fits(tmp_path) == 3 + cells["cv"]


def test_a_stop_keeps_what_was_finished(rows: tuple[Any, Any], tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(done: int, total: int, last: str) -> None:
        if done == 2:
            raise Stop

    model = Counted(str(tmp_path))
    with pytest.raises(Stop):
        compare({"logistic": model}, *rows, cv=3, store=tmp_path / "cells", progress=stop)
    seen: list[tuple[int, int, str]] = []
    compare(
        {"logistic": model},
        *rows,
        cv=3,
        store=tmp_path / "cells",
        progress=lambda *words: seen.append(words),
    )
    assert fits(tmp_path) == 3
    assert seen[0][2] == "2 were finished before"
    assert seen[-1][:2] == (3, 3)


def test_two_at_a_time_gives_the_same(rows: tuple[Any, Any]) -> None:
    one, two = (compare(["bbr"], *rows, cv=2, n_jobs=jobs) for jobs in (1, 2))
    assert one.figures.tolist() == two.figures.tolist()


def test_frames_and_sparse_rows_as_they_come() -> None:
    table = orders(200)
    X, y = table.drop(columns=["fraud", "order"]), table["fraud"]
    found = compare(["bbr"], X, y, cv=2)
    assert found.figures[:, :, 3].min() > 0.7
    X, y = make_gaussian_mixture(120, random_state=0)
    found = compare(["bbr"], sparse.csr_array(X), y, cv=2)
    assert found.figures.shape == (2, 2, 4)


def test_weights_groups_labels_and_repeats(rows: tuple[Any, Any]) -> None:
    X, y = rows
    words = np.where(y == 1, "a-yes", "no")  # the positive label sorts first
    found = compare(["bbr"], X, words, cv=2, pos_label="a-yes", sample_weight=np.full(300, 2.0))
    plain = compare(["bbr"], X, y, cv=2)
    np.testing.assert_allclose(found.figures, plain.figures, atol=1e-6)
    groups = np.arange(300) // 5
    kept = compare(["bbr"], X, y, cv=GroupKFold(3), groups=groups)
    for training, test in kept.folds:
        assert not set(groups[training]) & set(groups[test])
    again = compare(
        ["bbr"], X, y, cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    )
    assert again.figures.shape[1] == 4
    assert again.test_share == 0.5


def test_warnings_of_fits_are_passed_on(rows: tuple[Any, Any]) -> None:
    with pytest.warns(UserWarning, match=r"TopPush warned \(TrivialSolutionWarning\)"):
        found = compare([TopPush()], *rows, cv=2)
    assert ("TopPush", "TrivialSolutionWarning") in found.notes
    assert found.facts("TopPush", "trivial") == [True, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ["nosuch"]}, "no model 'nosuch'"),
        ({"models": [3]}, "must be an estimator or a name"),
        ({"models": [TopPush(pos_label="yes")]}, r"pass compare\(..., pos_label"),
        ({"metrics": ["nosuch"]}, "There is no scorer 'nosuch'"),
        ({"metrics": []}, "metrics is empty"),
        ({"cv": ShuffleSplit(1)}, "one fold"),
        ({"cv": [([0], [3, 4])] * 2}, "Fold 0 of cv trains on no"),
        ({"y": np.zeros(300)}, "two labels, and it holds 1"),
        ({"y": np.arange(300) % 3}, "two labels, and it holds 3"),
        ({"y": np.zeros((300, 2))}, "1-D"),
        ({"y": np.r_[np.nan, np.ones(299)]}, "NaN at row 0"),
        ({"y": np.arange(3) % 2}, "inconsistent numbers"),
        ({"capacity": 300}, "not below the number of training rows"),
        ({"groups": np.ones(300)}, "do not keep groups together"),
        ({"confidence": 1.0}, "confidence"),
        ({"sample_weight": -np.ones(300)}, "sample_weight"),
    ],
)
def test_refusals(rows: tuple[Any, Any], change: dict[str, Any], message: str) -> None:
    X, y = rows
    given = {"models": ["bbr"], "X": X, "y": y, "cv": 2, **change}
    with pytest.raises(ValueError, match=message):
        compare(given.pop("models"), given.pop("X"), given.pop("y"), **given)


def test_a_failing_fit_names_model_and_fold(rows: tuple[Any, Any]) -> None:
    class Failing(Counted):
        def fit(self, X: Any, y: Any) -> Failing:
            raise ValueError("no luck.")

    with pytest.raises(ValueError, match="bad, fold 0: no luck"):
        compare({"bad": Failing("")}, *rows, cv=2)

    class Nan(Counted):
        def fit(self, X: Any, y: Any) -> Nan:
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X: Any) -> Any:
            return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match=r"nan, fold 0: the score of row \d+ is no finite"):
        compare({"nan": Nan("")}, *rows, cv=2)


def test_rank_tests_over_sets() -> None:
    found = {}
    for seed in range(3):
        found[f"set {seed}"] = compare(["bbr"], *make_noisy_linear(200, 4, random_state=seed), cv=2)
    ranked = over_sets(found)
    assert ranked.figures.shape == (3, 2)
    assert ranked.average_ranks.sum() == 3
    expected = holm(ranked.average_ranks, 3, control=0)
    assert ranked.p_against_reference.tolist() == expected.tolist()
    assert "2 models on 3 sets by average_precision" in str(ranked)
    with pytest.raises(ValueError, match="two or more"):
        over_sets({"one": found["set 0"]})


def test_progress_on_request(rows: tuple[Any, Any], capfd: pytest.CaptureFixture[str]) -> None:
    compare({"logistic": BBR()}, *rows, cv=2)
    assert capfd.readouterr().err == ""
    compare({"logistic": BBR()}, *rows, cv=2, progress=True)
    assert "compare: 2 of 2 fits (logistic, fold 2)" in capfd.readouterr().err


def test_a_store_without_a_folder_keeps_nothing() -> None:
    store = Store(None)
    assert store.get("any") is None


def test_without_pandas_tables_are_columns(
    rows: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = compare({"logistic": BBR()}, *rows, cv=2)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with warnings.catch_warnings():
        table = found.table()
    assert isinstance(table, dict)
    assert not isinstance(table, pd.DataFrame)
    assert len(table["mean"]) == 4
