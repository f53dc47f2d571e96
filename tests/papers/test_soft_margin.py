"""The soft margin paper's experiments: its data, both rules for ties, and a small run of all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats

from support.paper_folder import modules_of, save_set
from toprank import LPPair, SoftMarginRank

TOPICS = ("acq", "crude", "earn", "money-fx", "trade")


@pytest.fixture(scope="module")
def paper():
    """The paper's modules, on little data, to be quick."""
    with modules_of("soft-margin") as (modules, patch):
        patch.setattr(modules.artificial, "N_ROWS", 200)
        patch.setattr(modules.threshold_data, "N_VARIABLES", 32)
        patch.setattr(modules.times, "SIZES", (60,))
        patch.setattr(modules.heuristic, "N_ROWS", 120)
        # One epsilon below the share of pairs that noise puts in the wrong order, one above.
        patch.setattr(modules.artificial, "EPSILONS", (0.05, 0.3))
        patch.setattr(modules.uci, "EPSILONS", (0.05, 0.3))
        patch.setattr(modules.uci, "OF_ROUNDS", (0.3,))
        patch.setattr(modules.uci, "OF_STUMPS", (0.3,))
        patch.setattr(modules.reuters, "OF_WORDS", (0.3,))
        yield modules


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Small sets under the names of two of the real ones."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    y = (np.arange(100) % 3 == 0).astype(np.int8)
    X = rng.normal(size=(100, 5)) + y[:, np.newaxis]
    save_set(folder / "ionosphere.npz", X, y)
    topics = np.column_stack([np.roll(y, shift) for shift in range(len(TOPICS))])
    words = sparse.csr_array((rng.random((100, 12)) < 0.2 + 0.5 * y[:, np.newaxis]).astype(float))
    save_set(folder / "reuters-acq.npz", words, y, Y_top15=topics, topic_names=np.array(TOPICS))
    return folder


def test_data_are_what_the_paper_describes(paper):
    maker = paper.threshold_data.Threshold(8, share=0.7, noise=0.1)
    X, y, clean = maker.draw(20_000, seed=0)
    assert X.shape == (20_000, 33)
    assert np.isin(X, (-1.0, 1.0)).all()
    assert (X[:, 32] == 1).all()
    on = (X[:, :30] == 1).sum(axis=1)
    np.testing.assert_array_equal(clean, on >= 8)
    assert clean.mean() == 0.7
    assert np.mean(y != clean) == pytest.approx(0.1, abs=0.01)
    # Given the label the number of variables that are on is binomial, cut off.
    law = stats.binom.pmf(np.arange(31), 30, 0.5)
    for label, counts in ((0, np.arange(8)), (1, np.arange(8, 31))):
        found = np.bincount(on[clean == label], minlength=31)[counts] / np.sum(clean == label)
        np.testing.assert_allclose(found, law[counts] / law[counts].sum(), atol=0.02)
    # Which of them is on does not matter, and the others are coins.
    shares = (X[clean == 1] == 1).mean(axis=0)[:32]
    assert np.ptp(shares[:30]) < 0.04
    np.testing.assert_allclose(shares[30:], 0.5, atol=0.02)


def test_no_score_is_better_than_the_label_before_noise(paper):
    maker = paper.threshold_data.Threshold(8, share=0.5, noise=0.15)
    mean, deviation = maker.ceiling(1000)
    assert mean == pytest.approx(0.85, abs=0.001)
    drawn = []
    for seed in range(40):
        _, y, clean = maker.draw(1000, seed)
        drawn.append(paper.two_aucs.two_aucs(clean.astype(float), y)[0])
    assert np.mean(drawn) == pytest.approx(mean, abs=4 * deviation / np.sqrt(40))
    assert 0.5 < np.std(drawn) / deviation < 1.7


def test_both_rules_for_ties(paper):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    scores = rng.integers(5, size=60) + 1e-13 * rng.normal(size=60)
    pairs = np.round(scores[y == 1][:, np.newaxis] - scores[y == 0])
    half, one = paper.two_aucs.two_aucs(scores, y)
    assert half == pytest.approx(np.mean(pairs > 0) + np.mean(pairs == 0) / 2)
    assert one == pytest.approx(np.mean(pairs >= 0))
    assert paper.two_aucs.two_aucs(np.full(60, 0.3), y) == (0.5, 1.0)


def test_highs_says_the_same_of_both_programs(paper):
    X, y, _ = paper.threshold_data.Threshold(3, k=10).draw(60, seed=5)
    how = {"weak_learners": "precomputed", "nonnegative": True}
    epsilon = paper.times.EPSILON
    exact = LPPair(epsilon, tol=1e-8, polish=True, **how).fit(X, y)
    value, _ = paper.times.all_pairs(X, y)
    assert exact.gamma_lower_ - 1e-8 <= value <= exact.gamma_upper_ + 1e-8
    reduction = SoftMarginRank(epsilon, tol=1e-8, **how).fit(X, y)
    value, _ = paper.times.reduced(X, y)
    assert value == pytest.approx(reduction.reduced_gamma_, abs=1e-8)


def test_the_optimum_over_nu_plus(paper):
    X, y, _ = paper.threshold_data.Threshold(3, k=10).draw(60, seed=5)
    epsilon = paper.heuristic.EPSILON
    reduction = paper.heuristic.reduction_of(X, y)
    share = float(np.sqrt(epsilon))
    value, _ = paper.times.reduced(X, y)
    assert epsilon == paper.times.EPSILON
    assert paper.heuristic._at(reduction, share)["gamma"] == pytest.approx(value, abs=1e-6)
    # (9) allows less than (7), and the same at its center.
    assert reduction.tangent_value(share, share)[0] == pytest.approx(value, abs=1e-6)
    for x in (1.2 * epsilon, 0.9 * share):
        least = paper.heuristic._at(reduction, x)["gamma"]
        assert reduction.tangent_value(share, x)[0] >= least - 1e-6


def test_printed_tables_are_complete(paper):
    printed = paper.printed
    assert len(printed.TABLE_1) == 9
    assert len(printed.TABLE_2) == 6
    lines = [*printed.TABLE_1.values(), *printed.TABLE_2.values(), *printed.TABLE_3.values()]
    lines += [line for _, line in printed.TABLE_4.values()]
    for line in lines:
        assert len(line) == len(printed.METHODS)
        assert all(value is None or 0.7 < value <= 1.0 for value in line)
    assert printed.figure(printed.TABLE_1[0.15, 1], "ours") == 1.0
    assert np.isnan(printed.figure(printed.TABLE_1[0.15, 1], "RankBoost 5000"))


def test_a_quick_study_from_nothing(paper, data, tmp_path, capsys):
    paper.run.main(["all", "--quick", "--data", str(data), "--out", str(tmp_path)])
    assert "spambase: skipped" in capsys.readouterr().out
    for name in ("heuristic", "artificial", "uci", "reuters", "times"):
        text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert "nan" not in text
        assert len(text) > 500
    for drawn in ("figure1", "figure2", "ties", "seconds"):
        assert (tmp_path / f"{drawn}.svg").stat().st_size > 5000
        assert (tmp_path / f"{drawn}.png").stat().st_size > 5000
    rows = json.loads((tmp_path / "artificial.json").read_text())
    constant = [row for row in rows if row.get("constant")]
    assert constant  # where noise is larger than epsilon: a half by one rule, all by the other
    for row in constant:
        assert (row["half"], row["one"]) == (0.5, 1.0)
    # SoftRankBoost gets twenty rounds here, and is counted where it needs more.
    short = {row["method"] for row in rows if row.get("short")}
    assert short == {"SoftRankBoost"}
    assert "| SoftRankBoost | 4 | " in (tmp_path / "artificial.md").read_text()
    rows = json.loads((tmp_path / "times.json").read_text())
    values = {row["method"]: (row["value"], row["upper"]) for row in rows if "value" in row}
    assert [row["method"] for row in rows if row.get("cv", 0.0) > 0.0] == [
        "LP-Pair 1e-6",
        "reduction, corollary",
        "reduction, paper",
        "reduction, search",
    ]
    assert values["LP-Pair 1e-6"] == pytest.approx(values["HiGHS, all pairs"], abs=1e-5)
    assert values["reduction, corollary"] == pytest.approx(values["HiGHS, (7)"], abs=1e-5)
    before = (tmp_path / "uci.md").read_text()
    (tmp_path / "uci.md").unlink()
    paper.run.main(["uci", "--quick", "--report", "--out", str(tmp_path)])
    assert (tmp_path / "uci.md").read_text() == before


def test_what_is_not_there_is_named(paper, tmp_path):
    for command in ("uci", "reuters"):
        with pytest.raises(SystemExit, match="No data set of the study is in"):
            paper.run.main([command, "--data", str(tmp_path), "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"no .*times\.json to report"):
        paper.run.main(["times", "--report", "--out", str(tmp_path / "none")])
