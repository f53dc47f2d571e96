"""Bounds of a list against reference cases, properties, enumeration and simulated lists."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.exceptions import GuaranteeWarning
from toprank.guarantees import HeadBound, one_row_each
from truth.guarantees import guarantee_arrays, guarantee_case

HEAD = guarantee_case("head")
RNG = np.random.default_rng(0)
Y = RNG.random(600) < 0.2
SCORES = RNG.normal(size=600) + 2 * Y
NEW = np.concatenate([RNG.normal(size=160), RNG.normal(size=40) + 2])


@pytest.mark.filterwarnings("ignore::toprank.exceptions.GuaranteeWarning")
@pytest.mark.parametrize("case", HEAD, ids=[case["name"] for case in HEAD])
def test_the_reference_cases(case):
    y, scores, new = guarantee_arrays(case["name"], "y", "scores", "new")
    statement = HeadBound(**case["params"]).fit(y, scores).of(new)
    for name in ("order", "lower", "false_upper", "upper", "left_upper"):
        (expected,) = guarantee_arrays(case["name"], name)
        found = statement.order if name == "order" else getattr(statement, name)()
        assert found.tolist() == expected.tolist(), name
    (recall,) = guarantee_arrays(case["name"], "recall_lower")
    np.testing.assert_allclose(statement.recall_lower(), recall, rtol=0, atol=1e-9)
    for k, expected in case["lower_at"].items():
        assert statement.lower_at(int(k)) == expected
    assert statement.min_k == case["min_k"]
    for share, length in case["select_precision"].items():
        assert len(statement.select(precision=float(share)).rows) == length
    for fdr, length in case["select_fdr"].items():
        assert len(statement.select(fdr=float(fdr)).rows) == length


@pytest.mark.parametrize("assume", ["negatives", "rows"])
def test_only_the_order_of_the_scores_counts(assume):
    bound = HeadBound(assume=assume)
    plain = bound.fit(Y, SCORES).of(NEW)
    bent = bound.fit(Y, np.exp(SCORES)).of(np.exp(NEW))
    mixed = np.random.default_rng(1).permutation(len(Y))
    shuffled = bound.fit(Y[mixed], SCORES[mixed]).of(NEW)
    for other in (bent, shuffled):
        assert (plain.lower() == other.lower()).all()
        assert (plain.order == other.order).all()
    steps = np.diff(plain.lower(), prepend=0)
    assert set(steps) <= {0, 1}


def test_positives_do_not_count_where_nothing_is_assumed_of_them():
    plain = HeadBound().fit(Y, SCORES).of(NEW)
    other = HeadBound().fit(Y, np.where(Y, -5.0, SCORES)).of(NEW)
    assert (plain.lower() == other.lower()).all()
    assert plain.lower(40) > 0
    rows = HeadBound(assume="rows")
    moved = rows.fit(Y, np.where(Y, -5.0, SCORES)).of(NEW)
    assert (rows.fit(Y, SCORES).of(NEW).upper() != moved.upper()).any()


@pytest.mark.parametrize("assume", ["negatives", "rows"])
@pytest.mark.parametrize("ties", [False, True])
def test_promises_are_kept(assume, ties):
    """200 lists; at 95 % fewer than 91 % kept would come once in a thousand."""
    rng, kept, at, above, left, recall = np.random.default_rng(5), 0, 0, 0, 0, 0
    for _ in range(200):
        y, hidden = rng.random(300) < 0.1, rng.random(200) < 0.1
        scores, new = (rng.normal(size=len(part)) + 2 * part for part in (y, hidden))
        if ties:
            scores, new = np.round(scores), np.round(new)
        statement = HeadBound(assume=assume).fit(y, scores).of(new)
        # The worst order of equal scores: negatives first.
        order = np.lexsort((hidden, -new)) if ties else statement.order
        truth = np.cumsum(hidden[order])
        kept += bool((truth >= statement.lower()).all())
        at += bool(truth[29] >= statement.lower_at(30))
        if assume == "rows" and not ties:
            above += bool((truth <= statement.upper()).all())
            left += bool((hidden.sum() - truth <= statement.left_upper()).all())
            recall += bool((truth / hidden.sum() >= statement.recall_lower()).all())
    assert kept >= 182
    assert at >= 182
    if assume == "rows" and not ties:
        assert min(above, left, recall) >= 182


def test_one_fixed_k_never_fails_more_often_than_it_may():
    """Every placement of two positives among five new rows and four calibration negatives."""
    n0, m0, delta = 4, 3, 0.2
    for slots in combinations(range(n0 + m0 + 2), 2):  # of the positives in the pooled order
        failed = np.zeros(m0 + 2)
        total = 0
        for chosen in combinations(range(n0 + m0), n0):
            rest = [place for place in range(n0 + m0 + 2) if place not in slots]
            scores = -np.arange(n0 + m0 + 2.0)
            calibration = [rest[c] for c in chosen]
            new = np.array([p for p in range(n0 + m0 + 2) if p not in calibration])
            labels = np.isin(new, slots)
            bound = HeadBound(confidence=1 - delta).fit(np.zeros(n0), scores[calibration])
            statement = bound.of(scores[new])
            truth = np.cumsum(labels[statement.order])
            failed += [truth[k - 1] < statement.lower_at(k) for k in range(1, m0 + 3)]
            total += 1
        assert (failed <= delta * total + 1e-9).all()


def test_drift_breaks_the_promise_and_the_check_says_so():
    rng, broken, told = np.random.default_rng(2), 0, 0
    for _ in range(60):
        y, hidden = rng.random(2000) < 0.05, rng.random(1000) < 0.05
        scores, new = (rng.normal(size=len(part)) + 2 * part for part in (y, hidden))
        statement = HeadBound().fit(y, scores).of(new + 0.4)
        broken += bool((np.cumsum(hidden[statement.order]) < statement.lower()).any())
        told += statement.check(warn=False) < 0.01
    assert broken > 50
    assert told > 50
    with pytest.warns(GuaranteeWarning, match="differ from those of the calibration rows"):
        statement.check()


def test_the_tighter_promise_breaks_where_positives_become_rarer():
    rng, broken, kept = np.random.default_rng(3), 0, 0
    for _ in range(40):
        y, hidden = rng.random(2000) < 0.05, rng.random(1000) < 0.01
        scores, new = (rng.normal(size=len(part)) + 2.5 * part for part in (y, hidden))
        for assume in ("rows", "negatives"):
            statement = HeadBound(assume=assume).fit(y, scores).of(new)
            holds = (np.cumsum(hidden[statement.order]) >= statement.lower()).all()
            if assume == "rows":
                broken += not holds
            else:
                kept += holds
    assert broken > 35
    assert kept >= 36


def test_random_ties_need_their_own_order():
    new = np.round(NEW)
    bound = HeadBound(ties="random", random_state=0).fit(Y, np.round(SCORES))
    one, again = bound.of(new), bound.of(new)
    assert (one.order == again.order).all()
    worst = HeadBound().fit(Y, np.round(SCORES)).of(new)
    assert (np.diff(new[one.order]) <= 0).all()
    assert one.lower().sum() >= worst.lower().sum()


def test_a_known_largest_k_makes_the_head_tighter():
    free, known = (HeadBound(k_max=k).fit(Y, SCORES).of(NEW) for k in (None, 20))
    assert known.lower(20) >= free.lower(20)
    assert known.min_k < free.min_k


def test_gamma_allows_for_more_negatives():
    plain, careful = (HeadBound(gamma=g).fit(Y, SCORES).of(NEW) for g in (1.0, 1.5))
    assert (careful.lower() <= plain.lower()).all()
    assert careful.lower(40) < plain.lower(40)
    assert careful.lower_at(40) < plain.lower_at(40)


def test_weights_thin_the_rows():
    """Negatives that were drawn with probability one or a quarter, by their score."""
    rng, kept, ignored = np.random.default_rng(4), 0, 0
    for _ in range(60):
        s = rng.normal(size=4000)
        drawn = rng.random(4000) < np.where(s > 0.5, 0.25, 1.0)
        scores, weight = s[drawn], np.where(s > 0.5, 4.0, 1.0)[drawn] / 4.0
        new = rng.normal(size=500)
        y = np.zeros(len(scores))
        with_weights = HeadBound(random_state=0).fit(y, scores, sample_weight=weight).of(new)
        kept += not with_weights.lower().any()
        ignored += not HeadBound().fit(y, scores).of(new).lower().any()
    assert kept >= 54
    assert ignored < 10


def test_weights_that_are_equal_among_negatives_change_nothing():
    plain = HeadBound().fit(Y, SCORES).of(NEW)
    for ours, theirs in ((0.2, 0.7), (0.5, 2.5), (0.0, 1.0)):
        weighted = HeadBound().fit(Y, SCORES, sample_weight=np.where(Y, ours, theirs)).of(NEW)
        assert (plain.lower() == weighted.lower()).all()


def cross_validated(folds=5):
    fold = np.arange(len(Y)) % folds
    shift = np.linspace(0, 1, folds)  # models of other scales
    return (
        fold,
        SCORES * (1 + shift)[fold] + shift[fold],
        NEW * (1 + shift)[:, None] + shift[:, None],
    )


def test_by_folds_every_row_is_held_against_its_own_model():
    fold, scores, new = cross_validated()
    statement = HeadBound().fit(Y, scores, fold=fold).of(new)
    plain = HeadBound().fit(Y, SCORES).of(NEW)
    assert (statement.lower() == plain.lower()).all()
    assert statement.exact is False
    assert statement.text(40).startswith("Approximately: at least")
    assert statement.check(warn=False) > 0.0
    assert statement.lower_at(40) == plain.lower_at(40)


def test_out_of_fold_scores_against_one_model_are_refused():
    fold, scores, _ = cross_validated()
    with pytest.raises(ValueError, match=r"CV\+"):
        HeadBound().fit(Y, scores, fold=fold).of(NEW)


def test_the_text_says_what_is_promised():
    statement = HeadBound().fit(Y, SCORES).of(NEW)
    negatives, sure = int((~Y).sum()), statement.lower(40)
    assert statement.text(40) == (
        f"At least {sure} of these 40 are positive (95 %, for whichever k you pick), "
        f"if today's negatives score like the {negatives} calibration negatives."
    )
    rows = HeadBound(assume="rows", confidence=0.995).fit(Y, SCORES).of(NEW)
    assert "(99.5 %," in rows.text(40)
    assert "rows are like the 600 calibration rows." in rows.text(40)
    first = int(np.flatnonzero(statement.lower())[0]) + 1
    with pytest.warns(GuaranteeWarning, match="the least k is"):
        statement.select(1)
    enough = len(NEW) * 19  # the first of all is a new row by 1 in 20
    assert statement.text(1) == (
        f"Nothing is promised of this row (95 %, by {negatives} calibration negatives): "
        f"the shortest head with a promise has {first} rows; so short a head takes more than "
        f"{enough:,.0f}."
    )
    assert statement.text(first).startswith(f"At least 1 of these {first} is positive")
    hopeless = HeadBound().fit(Y, SCORES).of(np.full(100, SCORES.min() - 1.0))
    assert hopeless.text(50) == (
        f"Nothing is promised of these 50 (95 %, by {negatives} calibration negatives): "
        "nor of any other head of this list."
    )


def test_selections():
    statement = HeadBound().fit(Y, SCORES).of(NEW)
    first = statement.select(30)
    assert (first.rows == statement.order[:30]).all()
    assert first.lower == statement.lower(30)
    assert first.text == statement.text(30)
    pure = statement.select(precision=0.5)
    assert pure.lower >= 0.5 * len(pure.rows)
    some = statement.select(fdr=0.2)
    assert "on average over lists. Of this one: at least" in some.text
    none = statement.select(fdr=1e-6)
    assert len(none.rows) == 0
    assert "fewer than" in none.text
    assert len(statement.select(precision=0.999).rows) == 0
    for wrong in ({}, {"k": 3, "fdr": 0.1}, {"precision": 0.5, "fdr": 0.1}):
        with pytest.raises(ValueError, match="one of k, precision and fdr"):
            statement.select(**wrong)


def test_false_discoveries_are_rare_on_average():
    rng, false = np.random.default_rng(6), []
    for _ in range(150):
        y, hidden = rng.random(500) < 0.1, rng.random(300) < 0.1
        scores, new = (rng.normal(size=len(part)) + 2.5 * part for part in (y, hidden))
        chosen = HeadBound().fit(y, scores).of(new).select(fdr=0.3).rows
        false.append(np.mean(~hidden[chosen]) if len(chosen) else 0.0)
    assert 0.15 < np.mean(false) < 0.3


def test_to_frame_holds_the_bounds():
    pytest.importorskip("pandas")
    frame = HeadBound(assume="rows").fit(Y, SCORES).of(NEW).to_frame()
    assert list(frame.columns[:6]) == [
        "k",
        "row",
        "score",
        "lower",
        "precision_lower",
        "false_upper",
    ]
    assert (frame["upper"] >= frame["lower"]).all()
    np.testing.assert_allclose(frame["precision_lower"], frame["lower"] / frame["k"])
    assert "upper" not in HeadBound().fit(Y, SCORES).of(NEW).to_frame()


def test_bounds_that_cannot_be_are_trivial_and_say_so():
    statement = HeadBound().fit(Y, SCORES).of(NEW)
    with pytest.warns(GuaranteeWarning, match='assume="rows"'):
        assert statement.upper(7) == 7
    with pytest.warns(GuaranteeWarning, match="recall"):
        assert statement.recall_lower(7) == 0.0
    with pytest.warns(GuaranteeWarning, match="left"):
        assert statement.left_upper(7) == len(NEW) - 7


def test_without_negatives_nothing_is_promised():
    with pytest.warns(GuaranteeWarning, match="no negative"):
        bound = HeadBound().fit(np.ones(5), np.arange(5.0))
    assert not bound.of(NEW).lower().any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": "high"}, "confidence"),
        ({"assume": "all"}, "assume"),
        ({"ties": "best"}, "ties"),
        ({"k_max": 0}, "k_max"),
        ({"gamma": 0.5}, "gamma"),
        ({"gamma": 2.0, "assume": "rows"}, "gamma"),
        ({"refine": "yes"}, "refine"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        HeadBound(**parameters)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": SCORES[:-1]}, "599 rows"),
        ({"scores": np.where(np.arange(600) == 7, np.nan, SCORES)}, "NaN at row 7"),
        ({"sample_weight": np.arange(600.0) % 4}, "Copies of a row"),
        ({"sample_weight": -np.ones(600)}, "sample_weight"),
        ({"fold": np.zeros(600, dtype=int)}, "one fold only"),
        ({"fold": np.zeros(5, dtype=int)}, "fold has 5 rows"),
        ({"fold": np.linspace(0, 1, 600)}, "number the folds"),
        ({"y": np.arange(600) % 3}, "two labels"),
    ],
)
def test_wrong_calibration_rows(arguments, message):
    with pytest.raises(ValueError, match=message):
        HeadBound().fit(**({"y": Y, "scores": SCORES} | arguments))


def test_wrong_lists():
    bound = HeadBound()
    with pytest.raises(ValueError, match="fit first"):
        bound.of(NEW)
    bound.fit(Y, SCORES)
    with pytest.raises(ValueError, match="empty"):
        bound.of([])
    with pytest.raises(ValueError, match="NaN at row 1"):
        bound.of([0.0, np.nan])
    with pytest.raises(ValueError, match="by the models of folds need"):
        bound.of(NEW[None])
    statement = bound.of(NEW)
    for k in (0, 201, 2.5):
        with pytest.raises(ValueError, match="k must be"):
            statement.lower(k)
    with pytest.raises(ValueError, match="confidence"):
        bound.of(NEW, confidence=2)


def test_labels_with_names():
    names = np.where(Y, "fraud", "ok")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = HeadBound().fit(names, SCORES, pos_label="fraud").of(NEW)
    assert (named.lower() == HeadBound().fit(Y, SCORES).of(NEW).lower()).all()


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=1, max_size=30),
    st.lists(st.integers(-6, 6), min_size=1, max_size=20),
    st.sampled_from(["negatives", "rows"]),
)
def test_bounds_are_consistent(calibration, new, assume):
    y, scores = map(np.array, zip(*calibration, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        statement = HeadBound(assume=assume).fit(y, scores).of(np.array(new, dtype=float))
        lower, upper = statement.lower(), statement.upper()
        k = np.arange(1, len(new) + 1)
        assert (lower >= 0).all()
        assert (lower <= k).all()
        assert (lower <= upper).all()
        assert (lower <= k - statement.false_upper()).all() or assume == "rows"
        assert not lower[: statement.min_k - 1].any() or assume == "rows"
        assert ((statement.recall_lower() >= 0) & (statement.recall_lower() <= 1)).all()


def test_one_row_of_each_group():
    groups = np.repeat(np.arange(50), 4)
    rows = one_row_each(groups, random_state=0)
    assert (groups[rows] == np.arange(50)).all()
    assert len(set(rows % 4)) == 4
