"""What a HeadRanker promises: by calibration rows, by its folds, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import toprank
from toprank import HeadRanker
from toprank.guarantees import HeadBound

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1800, 3))
Y = np.where(RNG.random(1800) < 1 / (1 + np.exp(3.5 - 3 * X[:, 0])), "fraud", "ok")
TRAIN, CALIBRATION, NEW = slice(0, 500), slice(500, 1300), slice(1300, 1800)


@pytest.fixture(scope="module")
def ranker():
    return HeadRanker(candidates="fast", cv=3, random_state=0, pos_label="fraud").fit(
        X[TRAIN], Y[TRAIN]
    )


def test_by_calibration_rows_it_is_the_bound_of_the_scores(ranker):
    calibrated = pickle.loads(pickle.dumps(ranker)).calibrate(X[CALIBRATION], Y[CALIBRATION])
    found = calibrated.promise(X[NEW], 40)
    scores = calibrated.decision_function(X[CALIBRATION])
    bound = HeadBound().fit(Y[CALIBRATION] == "fraud", scores)
    plain = bound.of(calibrated.decision_function(X[NEW]))
    assert found.lower == plain.lower(40)
    assert (found.rows == calibrated.select(X[NEW], 40)).all()
    assert 0 < found.lower <= np.sum(Y[NEW][found.rows] == "fraud")
    assert found.text.startswith("At least")
    surer = calibrated.promise(X[NEW], 40, confidence=0.999)
    assert surer.lower < found.lower
    again = calibrated.fit(X[TRAIN], Y[TRAIN])  # its calibration was of another fit
    assert again.promise(X[NEW], 40).text.startswith("Approximately")


def test_without_calibration_rows_it_goes_by_the_folds(ranker):
    found = ranker.promise(X[NEW], 40)
    assert found.text.startswith("Approximately: at least")
    assert 0 < found.lower <= np.sum(Y[NEW][found.rows] == "fraud")
    assert ranker.statement(X[NEW]).n_negatives == np.sum(Y[TRAIN] == "ok")
    assert not ranker.statement(X[NEW]).exact


def test_selection_by_purity_and_by_errors(ranker):
    pure = ranker.select(X[NEW], precision=0.5)
    assert len(pure) == len(ranker.promise(X[NEW], precision=0.5).rows)
    assert len(ranker.select(X[NEW], fdr=0.3)) >= len(ranker.select(X[NEW], fdr=0.05))
    assert len(ranker.select(X[NEW])) == np.sum(ranker.predict(X[NEW]) == "fraud")
    with pytest.raises(ValueError, match="one of k, precision and fdr"):
        ranker.select(X[NEW], 40, fdr=0.2)
    with pytest.raises(ValueError, match="confidence"):
        ranker.promise(X[NEW], 40, confidence=2)


def test_the_rows_of_the_fit_are_refused(ranker):
    mixed = RNG.permutation(500)
    with pytest.raises(ValueError, match="rows of the fit"):
        ranker.calibrate(X[TRAIN][mixed], Y[TRAIN][mixed])
    with pytest.raises(ValueError, match="one for each row"):
        ranker.calibrate(X[CALIBRATION], Y[TRAIN])
    with pytest.raises(ValueError, match=r'y\[0\] is "maybe".* "ok" and "fraud" only'):
        ranker.calibrate(X[CALIBRATION], np.full(800, "maybe"))


def test_a_calibrated_ranker_can_be_saved(ranker, tmp_path):
    calibrated = pickle.loads(pickle.dumps(ranker)).calibrate(X[CALIBRATION], Y[CALIBRATION])
    toprank.save(calibrated, tmp_path / "model")
    loaded = toprank.load(tmp_path / "model")
    assert loaded.promise(X[NEW], 40).text == calibrated.promise(X[NEW], 40).text


def test_sparse_rows_are_known_again():
    rows = sparse.csr_array(np.where(np.abs(X[TRAIN]) > 0.5, X[TRAIN], 0.0))
    ranker = HeadRanker(candidates="fast", cv=3, random_state=0, pos_label="fraud")
    ranker.fit(rows, Y[TRAIN])
    with pytest.raises(ValueError, match="rows of the fit"):
        ranker.calibrate(rows, Y[TRAIN])
    assert ranker.promise(rows[:200], 30).lower >= 0


def test_rows_without_weight_are_no_calibration_rows():
    weight = np.ones(500)
    weight[:200] = 0.0
    made = HeadRanker(candidates="fast", cv=3, random_state=0, pos_label="fraud")
    some = made.fit(X[TRAIN], Y[TRAIN], sample_weight=weight).promise(X[NEW], 40)
    count = np.sum((Y[TRAIN] == "ok") & (weight > 0))
    assert f"the {count} calibration negatives" in some.text
    weight[200:300] = 0.5
    made.fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    with pytest.raises(ValueError, match="different weights"):
        made.promise(X[NEW], 40)
    made.calibrate(X[CALIBRATION], Y[CALIBRATION]).promise(X[NEW], 40)
