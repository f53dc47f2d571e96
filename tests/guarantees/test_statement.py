"""Statements in numbers and words: against enumeration, fractions and counts by hand."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product
from math import ceil, prod

import numpy as np
import pytest
from scipy import stats

from toprank.exceptions import GuaranteeWarning, PositiveLabelWarning
from toprank.guarantees import HeadBound
from toprank.guarantees.bounds import aligned_mean, envelope, spread_lower, spread_upper

RNG = np.random.default_rng(0)
Y = RNG.random(600) < 0.2
SCORES = RNG.normal(size=600) + 2 * Y
NEW = np.concatenate([RNG.normal(size=160), RNG.normal(size=40) + 2])
NEGATIVES = int((~Y).sum())


@pytest.fixture
def statement():
    return HeadBound().fit(Y, SCORES).of(NEW)


def test_shares_are_counts_over_k(statement):
    for k in (1, 40, 200):
        assert statement.precision_lower(k) == statement.lower(k) / k
        assert statement.false_upper(k) == k - statement.lower(k)
    with pytest.raises(ValueError, match="k must be at most 200"):
        statement.lower(201)


def test_how_a_statement_shows_itself(statement):
    sure = statement.lower(100)
    assert repr(statement) == f"<HeadStatement of 200 rows: at least {sure} of the first 100>"
    best = np.sort(NEW)[::-1]
    for rows in (20, 40):  # where the last row of the half adds one
        short = HeadBound().fit(Y, SCORES).of(best[:rows])
        assert f"at least {short.lower(rows // 2)} of the first {rows // 2}>" in repr(short)
        assert short.lower(rows // 2) > short.lower(rows // 2 - 1)
    one = HeadBound().fit(Y, SCORES).of(NEW[:1])
    assert repr(one) == "<HeadStatement of 1 rows: at least 0 of the first 1>"
    assert repr(HeadBound(confidence=0.9)) == "HeadBound(confidence=0.9, assume='negatives')"


def test_the_purest_head_is_the_longest_one(statement):
    lower = statement.lower()
    for k in np.flatnonzero(lower)[::7] + 1:
        share = Fraction(int(lower[k - 1]), int(k))
        good = [j for j in range(1, 201) if Fraction(int(lower[j - 1]), j) >= share]
        assert len(statement.select(precision=float(share)).rows) == good[-1]
    none = HeadBound().fit(Y, SCORES).of(NEW - 9.0).select(precision=0.5)
    assert (len(none.rows), none.lower) == (0, 0)


def test_the_rule_of_benjamini_and_hochberg_at_equality():
    """Four calibration rows: p of a row above all is 1/5, which is 3/5 of a third."""
    bound = HeadBound().fit(np.zeros(4), np.arange(4.0))
    statement = bound.of([9.0, -1.0, -2.0])
    assert len(statement.select(fdr=0.6).rows) == 1
    assert len(statement.select(fdr=0.59).rows) == 0
    assert len(bound.of([9.0, 8.0, 7.0]).select(fdr=0.2).rows) == 3


@pytest.mark.filterwarnings("ignore::toprank.exceptions.GuaranteeWarning")
def test_what_a_selection_by_errors_says(statement):
    assert statement.select(fdr=0.2).text.startswith("At most 20 % of such selections are negative")
    share = Fraction(1, 1000)
    least = next(k for k in range(1, 10**4) if Fraction(200, NEGATIVES + 1) <= share * k)
    none = statement.select(fdr=0.001)
    assert f"no selection of fewer than {least:,} ever can." in none.text
    assert (len(none.rows), none.lower) == (0, 0)


@pytest.mark.parametrize("assume", ["negatives", "rows"])
def test_how_many_calibration_rows_would_do(assume):
    """For one k: the first k of all items are of the list with probability delta at the most."""
    n, k = 50, 3
    statement = HeadBound(assume=assume).fit(np.arange(20) % 2, np.arange(20.0)).of(np.arange(n))
    given = 20 if assume == "rows" else 10
    with pytest.warns(GuaranteeWarning, match=f"{given} calibration {assume}") as told:
        statement.select(k)
    enough = int(str(told[0].message).split("About ")[1].split()[0].replace(",", ""))
    assert statement.text(k).endswith(f"takes more than {enough:,}.")
    chance = lambda rows: prod(Fraction(n - i, rows + n - i) for i in range(k))  # noqa: E731
    assert chance(enough) <= Fraction(1, 20)
    assert chance(int(0.9 * enough)) > Fraction(1, 20)


def test_no_word_where_something_can_be_promised(statement):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert statement.text(statement.min_k)
        assert statement.check() > 0.01
    assert statement.lower(statement.min_k - 1) == 0
    with pytest.warns(GuaranteeWarning, match="the least k is"):
        statement.select(statement.min_k - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "; so short a head takes more than" in statement.text(statement.min_k - 1)


def test_a_list_that_is_poor_is_not_blamed_on_the_calibration_rows():
    statement = HeadBound().fit(Y, SCORES).of(NEW - 9.0)
    assert not statement.lower().any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert statement.text(statement.min_k).startswith("Nothing is promised of these")
    with pytest.warns(GuaranteeWarning, match="the least k is"):
        statement.select(statement.min_k - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "; so short a head takes more than" in statement.text(statement.min_k - 1)


def test_a_warning_of_drift_begins_below_one_in_a_hundred(statement):
    for p, told in ((0.01, 0), (0.0099, 1)):
        statement._drift = lambda p=p: p
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert statement.check() == p
        assert len(seen) == told


def test_a_selection_is_asked_for_in_one_way(statement):
    for asked, told in (({}, "none of them"), ({"k": 3, "fdr": 0.1}, "k and fdr")):
        with pytest.raises(ValueError, match=f"Pass one of k, precision and fdr, got {told}"):
            statement.select(**asked)


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5])
def test_shares_outside_of_zero_and_one_are_refused(statement, share):
    bound = HeadBound().fit(Y, SCORES)
    for name, refused in (
        ("confidence", lambda: bound.of(NEW, confidence=share)),
        ("confidence", lambda: HeadBound(confidence=share)),
        ("precision", lambda: statement.select(precision=share)),
        ("fdr", lambda: statement.select(fdr=share)),
    ):
        with pytest.raises(ValueError, match=name):
            refused()


@pytest.mark.parametrize("labels", [(0, 2), (-1, 2)])
def test_labels_of_other_numbers_do_not_say_which_is_positive(labels):
    with pytest.warns(PositiveLabelWarning):
        found = HeadBound().fit(np.where(Y, *labels[::-1]), SCORES).of(NEW)
    assert found.n_negatives == NEGATIVES
    for plain in (-1, 0):  # these do, even where no other is there
        assert HeadBound().fit(np.full(4, plain), SCORES[:4]).of(NEW).n_negatives == 4
    with pytest.raises(ValueError, match="which label is positive cannot be told"):
        HeadBound().fit(np.full(4, 2), SCORES[:4])


@pytest.mark.parametrize("weights", [(1.0, 2.0), (1.0, 3.0), (2.0, 3.0)])
def test_counts_of_rows_are_refused_as_weights(weights):
    with pytest.raises(ValueError, match="whole numbers"):
        HeadBound().fit(Y, SCORES, sample_weight=np.where(Y, *weights))
    for other in ((0.0, weights[1]), (weights[1], weights[1])):
        HeadBound().fit(Y, SCORES, sample_weight=np.where(Y, *other))


def test_one_row_that_is_surely_positive_is_all_of_them():
    statement = HeadBound(assume="rows").fit(np.zeros(400), np.arange(400.0)).of([1e3])
    assert (statement.lower(1), statement.left_upper(1), statement.recall_lower(1)) == (1, 0, 1.0)


def test_what_is_surely_positive_is_no_negative():
    """The rest, to the next tenth of the list, is all that the urn of negatives may hold."""
    calibration, k, met = RNG.normal(size=300), np.arange(1, 201), set()
    for sure in range(200):
        new = np.sort(np.append(RNG.normal(size=200 - sure), RNG.normal(50.0, size=sure)))[::-1]
        found = HeadBound().fit(np.zeros(300), calibration).of(new).false_upper()
        negatives = 200 - int((k - found).max())
        tenth = 20 * ceil(negatives / 20)
        bound = envelope(300, tenth, 0.05, upper=True, last=151)
        assert (found <= bound((calibration >= new[:, None]).sum(axis=1))).all()
        met.add(tenth)
    assert met == set(range(20, 201, 20))


def test_a_promise_is_not_called_impossible():
    """Rows that are all far above the calibration rows leave few that may be negative."""
    calibration = RNG.normal(size=400)
    for refine in (True, False):
        statement = HeadBound(refine=refine).fit(np.zeros(400), calibration).of(np.full(100, 9.0))
        first = int(np.flatnonzero(statement.lower())[0]) + 1
        assert first < statement.min_k if refine else first == statement.min_k
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert statement.text(first).startswith("At least 1 of")
    rows = HeadBound(assume="rows").fit(np.zeros(400), calibration).of(np.full(100, 9.0))
    assert int(np.flatnonzero(rows.lower())[0]) + 1 == rows.min_k


def test_the_error_of_one_k_is_shared_out():
    """The counts of an urn are beta-binomial: half of the error for each way, a tenth of one half
    for how many of the list are negative."""
    statement = HeadBound(assume="rows", confidence=0.8).fit(Y, SCORES).of(NEW)
    above = lambda c, n, m, level: stats.betabinom.ppf(1 - level, m, c + 1, n - c)  # noqa: E731
    for k in (5, 20, 40, 80, 120):
        last = np.sort(NEW)[-k]
        negatives = above(NEGATIVES, 600, 200, 0.05 * 0.2)
        false = above((SCORES[~Y] >= last).sum(), NEGATIVES, int(negatives), 0.45 * 0.2)
        c = (SCORES[Y] > last).sum() - 1
        true = stats.betabinom.ppf(0.5 * 0.2, 200, c + 1, 600 - c) if c >= 0 else 0
        assert statement.lower_at(k) == max(0, k - false, min(true, k))


def test_two_calibration_rows_say_something():
    """That all ten come before the second of two has a chance of 1/6 only."""
    bound = HeadBound(confidence=0.5, refine=False).fit([0, 0], [0.0, 1.0])
    assert bound.of(np.linspace(0.2, 0.8, 10)).lower(10) > 0


def test_bounds_of_all_k_follow_from_those_of_single_k():
    """Every list of six rows that is within the bounds, counted out."""
    k = np.arange(1, 7)
    lists = np.cumsum(list(product([0, 1], repeat=6)), axis=1)
    for _ in range(40):
        low = np.minimum(RNG.integers(-2, 7, 6), k)
        high = np.maximum(RNG.integers(0, 9, 6), 0)
        above = lists[(lists >= low).all(axis=1)]
        below = lists[(lists <= high).all(axis=1)]
        assert (spread_lower(low) == above.min(axis=0)).all()
        assert (spread_upper(high) == below.max(axis=0)).all()


def test_scores_of_several_models_are_brought_to_one_scale():
    new = RNG.normal(size=(3, 20)) * [[1.0], [100.0], [1e-3]] + [[0.0], [5.0], [-2.0]]
    np.testing.assert_allclose(aligned_mean(new), stats.zscore(new, axis=1).mean(axis=0))
    for constant in (0.0, 0.1, -7.0):  # a model that tells nothing has no say
        with_it = aligned_mean(np.vstack([new, np.full(20, constant)]))
        np.testing.assert_allclose(with_it, aligned_mean(new) * 3 / 4, atol=1e-12)
    infinite = aligned_mean(np.array([[np.inf, 0.0, 1.0, -np.inf], [3.0, 2.0, 1.0, 0.0]]))
    assert np.isfinite(infinite).all()
    assert infinite.argmax() == 0
    assert infinite.argmin() == 3
    both = aligned_mean(np.array([[np.inf, 0.0, -np.inf]]))  # as far above as below
    np.testing.assert_allclose(both, stats.zscore([1.0, 0.0, -1.0]), atol=1e-15)


def folded(shift=0.0):
    fold = np.arange(600) % 4
    return HeadBound().fit(Y, SCORES, fold=fold), np.vstack([NEW + shift] * 4), fold


def test_drift_by_folds_is_that_of_the_worst_fold():
    bound, new, fold = folded(0.15)
    p = [stats.ks_2samp(SCORES[fold == j], new[j], method="asymp").pvalue for j in range(4)]
    assert 4 * min(p) < 0.9
    assert bound.of(new).check(warn=False) == pytest.approx(4 * min(p))
    same = HeadBound().fit(Y, SCORES, fold=fold).of(np.vstack([SCORES] * 4))
    assert same.check() == 1.0


def test_folds_that_do_not_fit_are_refused():
    bound, new, fold = folded()
    for wrong in (new[:3], new[None], np.vstack([new, new[:1]])):
        with pytest.raises(ValueError, match=r"CV\+.*shape \(4, N\)"):
            bound.of(wrong)
    with pytest.raises(ValueError, match="fold is for"):
        HeadBound(assume="rows").fit(Y, SCORES, fold=fold)
    with pytest.raises(ValueError, match="number the folds"):
        HeadBound().fit(Y, SCORES, fold=fold - 1)


@pytest.mark.parametrize("assume", ["negatives", "rows"])
def test_rows_that_weights_leave_in(assume):
    """Positives are thinned only where something is assumed of them; no weight, no row."""
    weight = np.where(Y, 0.5, 1.0)
    weight[::10] = 0.0
    bound = HeadBound(assume=assume, random_state=0).fit(Y, SCORES, sample_weight=weight)
    statement = bound.of(NEW)
    there = int((weight[Y] > 0).sum())
    assert statement.n_negatives == int((weight[~Y] > 0).sum())
    if assume == "rows":
        assert abs(statement.n_positives - there / 2) < 4 * (there / 4) ** 0.5
    else:
        assert statement.n_positives == there
    with pytest.warns(GuaranteeWarning, match="no negative"):
        none = HeadBound().fit(Y, SCORES, sample_weight=np.where(Y, 0.5, 0.0)).of(NEW)
    assert (none.n_negatives, none.n_positives) == (0, int(Y.sum()))


def test_a_largest_k_beyond_the_list_is_the_whole_list():
    whole, beyond = (HeadBound(k_max=k).fit(Y, SCORES).of(NEW) for k in (200, 1000))
    assert (whole.lower() == beyond.lower()).all()
    bound = envelope(NEGATIVES, 200, 0.05, upper=True, last=NEGATIVES - 1)
    assert whole.min_k == beyond.min_k == int(bound(0)) + 1
    for assume in ("negatives", "rows"):  # one calibration row: half of its places is all
        assert HeadBound(assume=assume).fit([0], [0.0]).of([1.0, 2.0]).lower().tolist() == [0, 0]
