"""Pictures of a list: what is drawn is what counting gives."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import HeadRanker, LogisticRank
from toprank.guarantees import HeadBound
from toprank.metrics import precision_at_k, recall_at_k
from toprank.plots import GainsDisplay, ScoreDisplay, TopCurveDisplay
from toprank.plots.base import MOST_POINTS

RNG = np.random.default_rng(0)
N = 60
Y = RNG.random(N) < 0.3
#: Rounded, so that some tie.
SCORES = np.round(RNG.normal(size=N) + 1.5 * Y, 1)


def hits(y: Any, scores: Any, k: int) -> float:
    """Expected positives among the first k, by counting: full ties above, a share of the last."""
    last = np.sort(scores)[::-1][k - 1]
    above, tied = scores > last, scores == last
    return float(y[above].sum() + (k - above.sum()) * y[tied].mean())


def test_the_top_curve_is_the_precision_of_every_head() -> None:
    display = TopCurveDisplay.from_predictions(Y, SCORES, name="ours")
    k, precision = display.line_.get_data()
    assert k.tolist() == list(range(1, N + 1))
    assert len(np.unique(SCORES)) < N
    np.testing.assert_allclose(precision, [hits(Y, SCORES, i) / i for i in range(1, N + 1)])
    assert display.base_line_.get_ydata()[0] == pytest.approx(Y.mean())
    assert display.ax_.get_xscale() == "log"
    assert display.line_.get_label() == "ours"


@pytest.mark.parametrize("n", [1, 2, 12])
def test_a_short_list_is_drawn_too(n: int) -> None:
    display = TopCurveDisplay.from_predictions(np.arange(n) % 2 == 0, -np.arange(n))
    display.figure_.canvas.draw()
    assert display.line_.get_xdata().tolist() == list(range(1, n + 1))
    low, high = display.ax_.get_xlim()
    assert low == 1 < high


def test_a_long_list_is_thinned_to_true_points() -> None:
    y, scores = RNG.random(9000) < 0.05, RNG.normal(size=9000)
    top = TopCurveDisplay.from_predictions(y, scores)
    k, precision = top.line_.get_data()
    assert len(k) <= MOST_POINTS
    assert (k[0], k[-1]) == (1, 9000)
    for place in (0, 10, len(k) // 2, -1):
        assert precision[place] == pytest.approx(precision_at_k(y, scores, int(k[place])))
    x, found = GainsDisplay.from_predictions(y, scores).line_.get_data()
    assert len(x) <= MOST_POINTS
    assert (x[0], x[-1], found[-1]) == (0, 1, 1)
    for place in (5, len(x) // 2):
        assert found[place] == pytest.approx(recall_at_k(y, scores, round(9000 * x[place])))


def test_weights_count_as_rows() -> None:
    weight = RNG.integers(0, 3, size=N)
    weighted = TopCurveDisplay.from_predictions(Y, SCORES, sample_weight=weight)
    copies = TopCurveDisplay.from_predictions(np.repeat(Y, weight), np.repeat(SCORES, weight))
    np.testing.assert_allclose(weighted.line_.get_xydata(), copies.line_.get_xydata())
    weighted, copies = (
        GainsDisplay.from_predictions(Y, SCORES, sample_weight=weight),
        GainsDisplay.from_predictions(np.repeat(Y, weight), np.repeat(SCORES, weight)),
    )
    np.testing.assert_allclose(weighted.line_.get_xydata(), copies.line_.get_xydata())


@pytest.mark.parametrize("assume", ["negatives", "rows"])
def test_the_band_is_what_the_statement_says(assume: str) -> None:
    y = RNG.random(900) < 0.3
    bound = HeadBound(assume=assume).fit(y, RNG.normal(size=900) + 3 * y)
    hidden = RNG.random(200) < 0.3
    scores = RNG.normal(size=200) + 3 * hidden
    statement = bound.of(scores)
    k = np.arange(1, 201)
    for display in (
        TopCurveDisplay.from_predictions(hidden, scores, statement=statement),
        TopCurveDisplay.from_statement(statement),
    ):
        np.testing.assert_allclose(display.lower_.get_ydata(), statement.lower() / k)
        assert display.lower.max() > 0.5
        corners = display.band_.get_paths()[0].vertices
        if assume == "rows":
            np.testing.assert_allclose(display.upper, statement.upper() / k)
            assert corners[:, 1].max() == pytest.approx(display.upper.max())
        else:
            assert display.upper is None
            assert (corners[:, 1].min(), corners[:, 1].max()) == (0, display.lower.max())
    assert display.line_ is None
    assert display.base_line_ is None


def test_a_statement_of_another_list_is_refused() -> None:
    bound = HeadBound().fit(Y, SCORES)
    with pytest.raises(ValueError, match="a list of 59 rows, and these are 60"):
        TopCurveDisplay.from_predictions(Y, SCORES, statement=bound.of(SCORES[1:]))
    with pytest.raises(ValueError, match="other scores"):
        TopCurveDisplay.from_predictions(Y, SCORES, statement=bound.of(-SCORES))
    with pytest.raises(ValueError, match="leave sample_weight out"):
        TopCurveDisplay.from_predictions(
            Y, SCORES, statement=bound.of(SCORES), sample_weight=np.ones(N)
        )


def test_gains_run_from_nothing_to_all() -> None:
    display = GainsDisplay.from_predictions(Y, SCORES)
    x, found = display.line_.get_data()
    ends = np.flatnonzero(np.diff(np.sort(SCORES)[::-1])) + 1  # between two ties: whole rows
    np.testing.assert_allclose(x, [0, *ends / N, 1])
    np.testing.assert_allclose(
        found, [0, *(hits(Y, SCORES, k) / Y.sum() for k in ends), 1], atol=1e-12
    )
    assert display.random_line_.get_xydata().tolist() == [[0, 0], [1, 1]]
    np.testing.assert_allclose(
        display.perfect_line_.get_xydata(), [[0, 0], [Y.mean(), 1], [1, 1]], atol=1e-12
    )
    with pytest.raises(ValueError, match="no positive row"):
        GainsDisplay.from_predictions(np.zeros(N, dtype=bool), SCORES)


def test_histograms_hold_every_row() -> None:
    display = ScoreDisplay.from_predictions(Y, SCORES, bins=7, k=9)
    for drawn, side in ((display.positives_, Y), (display.negatives_, ~Y)):
        values, edges, _ = drawn.get_data()
        assert len(values) == 7
        for bar, (low, high) in enumerate(pairwise(edges)):
            inside = [low <= s < high or (bar == 6 and s == high) for s in SCORES[side]]
            assert values[bar] == pytest.approx(np.mean(inside))
    assert display.found == pytest.approx(hits(Y, SCORES, 9))
    ordered = np.sort(SCORES)[::-1]
    assert display.cut_line_.get_xdata()[0] == pytest.approx((ordered[8] + ordered[9]) / 2)


def test_scores_far_out_do_not_squeeze_the_others() -> None:
    scores = np.append(RNG.normal(size=999), 1e6)
    display = ScoreDisplay.from_predictions(np.arange(1000) % 2 == 1, scores, k=1000)
    assert display.beyond
    assert display.edges[-1] < 10
    assert display.positives.sum() == display.negatives.sum() == 500
    assert "beyond" in display.ax_.get_xlabel()
    assert display.edges[0] <= display.cut_line_.get_xdata()[0] <= display.edges[-1]
    same = ScoreDisplay.from_predictions([0, 1, 1], [2.0, 2.0, 2.0])
    assert same.positives.sum() == 2
    assert same.edges[0] < 2 < same.edges[-1]


DISPLAYS = [TopCurveDisplay, GainsDisplay, ScoreDisplay]


@pytest.mark.parametrize("display", DISPLAYS)
def test_an_estimator_is_its_scores(display: Any) -> None:
    X = np.column_stack([SCORES, RNG.normal(size=N)])
    labels = np.where(Y, "bad", "good")
    model = make_pipeline(StandardScaler(), LogisticRank(pos_label="bad", random_state=0))
    model.fit(X, labels)
    by_model = display.from_estimator(model, X, labels)
    by_scores = display.from_predictions(Y, model.decision_function(X), name="LogisticRank")
    assert by_model.name == "LogisticRank"
    for name, value in vars(by_scores).items():
        if isinstance(value, np.ndarray | float | str):
            np.testing.assert_array_equal(getattr(by_model, name), value)
    theirs = LogisticRegression().fit(X, labels)  # sorts the labels: "good" is its second
    turned = display.from_estimator(theirs, X, labels, pos_label="bad")
    straight = display.from_predictions(Y, -theirs.decision_function(X))
    key = {"TopCurveDisplay": "precision", "GainsDisplay": "share_of_positives"}
    key = key.get(display.__name__, "positives")
    np.testing.assert_allclose(getattr(turned, key), getattr(straight, key))


@pytest.mark.parametrize("display", DISPLAYS)
def test_wrong_input_is_a_sentence(display: Any) -> None:
    X = SCORES[:, np.newaxis]
    with pytest.raises(ValueError, match="must be a fitted classifier"):
        display.from_estimator(LogisticRank(), X, Y)
    ranker = LogisticRank(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="has 60 rows but y_true has 59"):
        display.from_estimator(ranker, X, Y[1:])
    with pytest.raises(ValueError, match="has 59 rows but y_true has 60"):
        display.from_predictions(Y, SCORES[1:])
    with pytest.raises(ValueError, match="y is 2 at row 0"):
        display.from_estimator(ranker, X, Y + 2)
    with pytest.raises(ValueError, match="NaN"):
        display.from_predictions(Y, np.full(N, np.nan))


def test_bad_numbers_are_named() -> None:
    with pytest.raises(ValueError, match="k=61 exceeds"):
        ScoreDisplay.from_predictions(Y, SCORES, k=61)
    with pytest.raises(ValueError, match="bins must be"):
        ScoreDisplay.from_predictions(Y, SCORES, bins=1)
    with pytest.raises(ValueError, match="scores is inf at row 3"):
        ScoreDisplay.from_predictions(Y, np.where(np.arange(N) == 3, np.inf, SCORES))
    with pytest.raises(ValueError, match="less than one row"):
        TopCurveDisplay.from_predictions(Y, SCORES, sample_weight=np.full(N, 1e-3))


@pytest.mark.parametrize("display", [TopCurveDisplay, GainsDisplay])
@pytest.mark.parametrize(
    ("capacity", "list_size", "rows"), [(7, None, 7), (0.1, None, 6), (5, 20, 15), (100, 400, 15)]
)
def test_a_line_marks_the_capacity_of_the_ranker(
    display: Any, capacity: float, list_size: int | None, rows: int
) -> None:
    X = np.column_stack([SCORES, RNG.normal(size=N)])
    ranker = HeadRanker(
        candidates="linear", capacity=capacity, list_size=list_size, cv=2, random_state=0
    ).fit(X, Y)
    at = rows / N if display is GainsDisplay else rows
    drawn = display.from_estimator(make_pipeline(StandardScaler(), ranker).fit(X, Y), X, Y)
    assert drawn.capacity_line_.get_xdata() == [at, at]
    assert drawn.capacity_line_.get_label() == f"capacity: {rows} rows"
    given = display.from_predictions(Y, SCORES, capacity=rows)
    assert given.capacity_line_.get_xdata() == [at, at]
    again = display.from_predictions(Y, SCORES, capacity=rows, ax=given.ax_)
    assert again.capacity_line_.get_label() == "_nolegend_"
    assert display.from_predictions(Y, SCORES).capacity_line_ is None


@pytest.mark.parametrize("display", [TopCurveDisplay, GainsDisplay])
def test_a_capacity_beyond_a_short_list_is_its_end(display: Any) -> None:
    X = np.column_stack([SCORES, RNG.normal(size=N)])
    ranker = HeadRanker(candidates="linear", capacity=50, cv=2, random_state=0).fit(X, Y)
    few = np.r_[np.flatnonzero(Y)[:2], np.flatnonzero(~Y)[:3]]
    drawn = display.from_estimator(ranker, X[few], Y[few])
    assert drawn.capacity_line_.get_label() == "capacity: 5 rows"
    with pytest.raises(ValueError, match="capacity=61 exceeds the 60 rows of the list"):
        display.from_predictions(Y, SCORES, capacity=61)
    with pytest.raises(ValueError, match=r"^capacity: .*got 0\.$"):
        display.from_predictions(Y, SCORES, capacity=0)
