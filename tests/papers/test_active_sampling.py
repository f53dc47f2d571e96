"""The study of the active sampling paper: its tests, its data, its pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats

from support.paper_folder import modules_of, save_set


@pytest.fixture(scope="module")
def paper():
    """The modules of the paper's folder, by name; with a small budget, to be quick."""
    with modules_of("active-sampling") as (modules, patch):
        patch.setattr(modules.contenders, "BUDGET", 60)
        patch.setattr(modules.contenders, "BATCH", 20)
        yield modules


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Two small sets under the names of real ones: a sparse one, a dense one with a test set."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    for name in ("protein-val", "shuttle", "shuttle_t"):
        y = (np.arange(120) % 3 == 0).astype(np.int8)
        X = rng.normal(size=(120, 4)) + y[:, np.newaxis]
        if name == "protein-val":
            save_set(folder / f"{name}.npz", sparse.csr_array(np.where(X > 0.3, X, 0.0)), y)
        else:
            save_set(folder / f"{name}.npz", 1000 * X, y, y_multi=np.where(y, 1, 4))
    return folder


@pytest.fixture(scope="module")
def finished(paper, data, tmp_path_factory) -> Path:
    """The folder of a study that has run to its end."""
    out = tmp_path_factory.mktemp("finished")
    paper.run.main(["all", "--quick", "--data", str(data), "--out", str(out)])
    return out


def test_the_papers_table_3_follows_from_its_table_2(paper):
    printed, tests = paper.printed, paper.significance
    for other, expected in printed.TABLE_3.items():
        verdicts = [
            tests.verdict_of_moments(
                figures["Soft-Correct"], figures[other], 10, sure=other not in printed.SAMPLED
            )
            for figures in printed.TABLE_2.values()
        ]
        assert tests.tally(verdicts) == "/".join(map(str, expected))


def test_printed_tables_have_the_same_sets(paper):
    printed = paper.printed
    sets = set(printed.TABLE_1)
    assert len(sets) == 14
    for table in (printed.TABLE_2, printed.TABLE_4, printed.TABLE_5):
        assert set(table) == sets
    assert set(paper.sets.SOURCES) < sets
    for figures in printed.TABLE_4.values():
        assert len(figures) == len(printed.TIMED)


def test_verdicts_from_pools_are_those_from_their_moments(paper):
    rng, tests = np.random.default_rng(1), paper.significance
    seen = set()
    for shift in (-1.0, -0.3, 0.0, 0.3, 1.0):
        for _ in range(20):
            one, other = rng.normal(shift, 1.0, 10), rng.normal(0.0, 0.7, 10)
            moments = [(x.mean(), x.std(ddof=1)) for x in (one, other)]
            found = tests.verdict(one, other)
            assert found == tests.verdict_of_moments(*moments, 10, sure=False)
            assert tests.verdict(one, other[:1]) == tests.verdict_of_moments(
                moments[0], (other[0], 0.0), 10, sure=True
            )
            p = stats.ttest_ind(one, other, equal_var=False).pvalue
            assert (found == "tie") == (p >= 0.1)
            seen.add(found)
    assert seen == {"win", "loss", "tie"}


def test_figures_without_spread_are_compared_as_they_are(paper):
    verdict, same = paper.significance.verdict, np.full(3, 0.9)
    assert verdict(same, np.full(3, 0.8)) == "win"
    assert verdict(np.full(3, 0.8), same) == "loss"
    assert verdict(same, same) == "tie"
    assert verdict(same[:1], np.array([0.5])) == "tie"  # one figure each: nothing is known


def test_columns_are_brought_to_a_range_by_the_training_rows(paper):
    X = np.array([[0.0, 5.0, 7.0], [10.0, 6.0, 7.0]])
    new = np.array([[20.0, 5.5, 3.0]])
    scaled = paper.sets.to_range(X, (-1.0, 1.0), of=X)
    assert scaled.tolist() == [[-1, -1, 0], [1, 1, 0]]
    assert paper.sets.to_range(new, (0.0, 1.0), of=X).tolist() == [[2.0, 0.5, 0.0]]


def test_folds_are_disjoint_and_a_test_set_is_kept_apart(paper, data):
    folds = list(paper.sets.parts(data, "protein"))
    assert [part.X.shape[0] + part.X_test.shape[0] for part in folds] == [120] * 5
    assert sum(part.y_test.sum() for part in folds) == 40
    (only,) = paper.sets.parts(data, "shuttle")
    assert only.X.shape == only.X_test.shape == (120, 4)
    assert only.X.min() == -1
    assert only.X.max() == 1
    assert only.y.sum() == 40


def test_means_are_taken_over_folds_for_each_pool(paper):
    rows = [
        {"set": "a9a", "pool": pool, "fold": fold, "auc": 0.1 * pool + 0.01 * fold}
        for pool in (0, 1)
        for fold in (0, 1, 2)
    ]
    assert paper.contenders.per_pool(rows, set="a9a") == pytest.approx([0.01, 0.11])
    assert len(paper.contenders.per_pool(rows, set="bank")) == 0


def test_a_quick_study_from_nothing(finished, paper):
    for name in ("compare", "curves", "gamma", "findings"):
        text = (finished / f"{name}.md").read_text(encoding="utf-8")
        assert "protein" in text
        assert "shuttle" in text
        assert "nan" not in text
    for figure in ("figure1", "figure2", "figure3"):
        assert (finished / f"{figure}.svg").stat().st_size > 5000
        assert (finished / f"{figure}.png").stat().st_size > 5000
    rows = paper.common.rows.read_rows(finished / "compare.csv")
    fits = {(r["set"], r["method"], r["pool"], r["times"]) for r in rows}
    assert len(rows) == len(fits) == 2 * (2 * (2 + 2 * 4) + 2)
    assert all(0.5 < row["auc"] < 1 for row in rows)
    # The paper's figures stand beside ours.
    assert "**0.8329**" in (finished / "compare.md").read_text(encoding="utf-8")


def test_curves_end_with_the_budget_and_reject(finished, paper):
    rows = paper.common.rows.read_rows(finished / "curves.csv")
    for name in ("protein", "shuttle"):
        for method in paper.printed.SAMPLED:
            own = [r for r in rows if (r["set"], r["method"]) == (name, method)]
            assert [r["n_pairs"] for r in own] == [20, 40, 60]
            assert own[0]["rejected"] == 0
            if method == "Random":
                assert all(r["rejected"] < 0.5 for r in own)
            else:
                assert own[-1]["rejected"] > 0.1


def test_pages_can_be_written_again_from_the_figures(finished, paper, capsys):
    before = (finished / "compare.md").read_text(encoding="utf-8")
    (finished / "compare.md").unlink()
    paper.run.main(["compare", "--quick", "--report", "--out", str(finished)])
    assert (finished / "compare.md").read_text(encoding="utf-8") == before


def test_what_is_not_there_is_named(paper, data, tmp_path, capsys):
    with pytest.raises(SystemExit, match="No data set of the study is in"):
        paper.run.main(["compare", "--data", str(tmp_path), "--out", str(tmp_path)])
    assert "letter: skipped" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"no .*gamma\.csv to report"):
        paper.run.main(["gamma", "--report", "--out", str(tmp_path)])
    with pytest.raises(SystemExit):
        paper.run.main(["compare", "--sets", "news"])
    assert "no set 'news'" in capsys.readouterr().err
