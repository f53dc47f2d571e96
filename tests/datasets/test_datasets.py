"""Bundled data against their known figures, makers against the law they claim to draw from."""

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from toprank import datasets
from toprank.datasets import (
    load_german,
    load_mammography,
    load_spambase,
    make_gaussian_mixture,
    make_noisy_linear,
    make_sparse_text_like,
)

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LOADERS = {
    "spambase": (load_spambase, (4601, 57), 1813),
    "german": (load_german, (1000, 24), 300),
    "mammography": (load_mammography, (11183, 6), 260),
}
MAKERS = [make_gaussian_mixture, make_noisy_linear, make_sparse_text_like]
BY_NAME = pytest.mark.parametrize("name", LOADERS)


def as_arrays(X: Any) -> tuple[Any, ...]:
    """Return the arrays that hold X, dense or CSR."""
    return (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)


def assert_same(first: Any, second: Any) -> None:
    """Insist that two pairs (X, y) are equal to the last bit."""
    for one, other in zip(as_arrays(first[0]), as_arrays(second[0]), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(first[1], second[1])


def test_public_names_are_sorted_and_exist() -> None:
    assert datasets.__all__ == sorted(datasets.__all__)
    assert all(callable(getattr(datasets, name)) for name in datasets.__all__)


# Loaders


@BY_NAME
def test_loader_has_the_known_shape_and_positives(name: str) -> None:
    load, shape, n_positive = LOADERS[name]
    bunch = load()
    assert bunch.data.shape == shape
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert np.isfinite(bunch.data).all()
    assert bunch.target.dtype == np.int64
    assert np.bincount(bunch.target).tolist() == [shape[0] - n_positive, n_positive]
    assert len(set(bunch.feature_names)) == shape[1]
    assert len(bunch.target_names) == 2
    assert bunch.frame is None


@BY_NAME
def test_loader_equals_the_source(name: str) -> None:
    path = SHARED_DATA / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    with np.load(path) as source:
        X, y = source["X"], source["y"]
    data, target = LOADERS[name][0](return_X_y=True)
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(target, 1 - y if name == "german" else y)


@BY_NAME
def test_description_and_docstring_state_the_facts(name: str) -> None:
    load, shape, n_positive = LOADERS[name]
    licence = "BSD 2-Clause" if name == "mammography" else "CC BY 4.0"
    for words in (load().DESCR, str(load.__doc__)):
        assert all(str(number) in words for number in (*shape, n_positive))
        assert "Source:" in words
        assert "Licence:" in words
        assert licence in words


def test_spambase_names_sit_on_their_columns() -> None:
    bunch = load_spambase()
    highest = dict(zip(bunch.feature_names, bunch.data.max(axis=0).tolist(), strict=True))
    published = {
        "word_freq_make": 4.54,
        "word_freq_george": 33.33,
        "word_freq_conference": 10.0,
        "char_freq_;": 4.385,
        "char_freq_!": 32.478,
        "char_freq_#": 19.829,
        "capital_run_length_average": 1102.5,
        "capital_run_length_total": 15841.0,
    }
    assert {key: highest[key] for key in published} == published


@BY_NAME
def test_as_frame_holds_the_same_values(name: str) -> None:
    pd = pytest.importorskip("pandas")
    load, shape, _ = LOADERS[name]
    plain, framed = load(), load(as_frame=True)
    assert isinstance(framed.data, pd.DataFrame)
    assert framed.target.name == "target"
    assert list(framed.data.columns) == plain.feature_names
    assert framed.frame.shape == (shape[0], shape[1] + 1)
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    np.testing.assert_array_equal(framed.target.to_numpy(), plain.target)
    X, y = load(return_X_y=True, as_frame=True)
    pd.testing.assert_frame_equal(X, framed.data)
    pd.testing.assert_series_equal(y, framed.target)


def test_missing_pandas_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_pandas(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match="pip install pandas"):
        load_german(as_frame=True)
    assert load_german().data.shape == (1000, 24)


def test_what_a_caller_changes_is_not_seen_by_the_next() -> None:
    first = load_spambase()
    first.data[:] = 0
    first.feature_names.clear()
    second = load_spambase()
    assert second.data.any()
    assert len(second.feature_names) == 57


# All makers


@pytest.mark.parametrize("make", MAKERS)
def test_seed_decides_the_data(make: Any) -> None:
    first, again, other = (make(200, 300, random_state=seed) for seed in (5, 5, 6))
    assert_same(first, again)
    assert not np.array_equal(as_arrays(first[0])[0], as_arrays(other[0])[0])
    assert first[1].dtype == np.int64
    assert np.unique(first[1]).tolist() == [0, 1]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("generator", [np.random.RandomState, np.random.default_rng])
def test_generators_repeat_and_advance(make: Any, generator: Any) -> None:
    source = generator(3)
    first, second = make(50, 200, random_state=source), make(50, 200, random_state=source)
    assert_same(first, make(50, 200, random_state=generator(3)))
    assert not np.array_equal(as_arrays(first[0])[0], as_arrays(second[0])[0])


@pytest.mark.parametrize("make", MAKERS)
def test_no_seed_gives_fresh_data(make: Any) -> None:
    first, second = make(50, 200), make(50, 200)
    assert not np.array_equal(as_arrays(first[0])[0], as_arrays(second[0])[0])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_samples", 0),
        ("n_samples", 10.0),
        ("n_features", -1),
        ("n_features", True),
        ("positive_fraction", 0.0),
        ("positive_fraction", 1),
        ("positive_fraction", float("nan")),
        ("random_state", -1),
        ("random_state", "seed"),
    ],
)
def test_bad_parameters_are_named(make: Any, parameter: str, value: Any) -> None:
    with pytest.raises(ValueError, match=parameter):
        make(**{parameter: value})


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (make_gaussian_mixture, {"n_components": 0}),
        (make_gaussian_mixture, {"separation": -1.0}),
        (make_gaussian_mixture, {"sigma": float("inf")}),
        (make_gaussian_mixture, {"weights": [0.5, 0.5]}),
        (make_gaussian_mixture, {"weights": [1.5, -0.5], "n_components": 2}),
        (make_gaussian_mixture, {"weights": [0.5, 0.4], "n_components": 2}),
        (make_gaussian_mixture, {"positive_fraction": 0.01, "n_samples": 10}),
        (make_noisy_linear, {"flip": -0.1}),
        (make_noisy_linear, {"flip": 0.6}),
        (make_noisy_linear, {"positive_fraction": 0.99, "n_samples": 10}),
        (make_sparse_text_like, {"words_per_row": 0}),
        (make_sparse_text_like, {"words_per_row": 11, "n_features": 10}),
        (make_sparse_text_like, {"topic_words": -1}),
        (make_sparse_text_like, {"topic_words": 100, "n_features": 100, "words_per_row": 10}),
        (make_sparse_text_like, {"topic_rate": 1.5}),
        (make_sparse_text_like, {"topic_noise": 0.7}),
        (make_sparse_text_like, {"dtype": np.int64}),
        (make_sparse_text_like, {"index_dtype": np.int16}),
        (make_sparse_text_like, {"index_dtype": np.int32, "n_samples": 2**31}),
    ],
)
def test_bad_own_parameters_are_named(make: Any, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(parameters))):
        make(**parameters)


# Gaussian mixture


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_mixture_centres_lie_in_their_cubes(n_components: int) -> None:
    _, _, centers = make_gaussian_mixture(
        n_components=n_components, n_features=400, separation=3, return_centers=True, random_state=0
    )
    assert centers.shape == (2, n_components, 400)
    assert -3 <= centers[0].min() < -2.8
    assert centers[0].max() <= 0 <= centers[1].min()
    assert 2.8 < centers[1].max() <= 3
    assert centers.mean(axis=(1, 2)) == pytest.approx([-1.5, 1.5], abs=0.2)


def test_mixture_rows_follow_centres_weights_and_sigma() -> None:
    X, y, centers = make_gaussian_mixture(
        20_000,
        5,
        n_components=2,
        positive_fraction=0.3,
        separation=50.0,
        sigma=2.0,
        weights=[0.8, 0.2],
        return_centers=True,
        random_state=1,
    )
    assert y.sum() == 6000
    assert 0.25 < y[:10_000].mean() < 0.35
    for label in (0, 1):
        rows = X[y == label]
        distance = np.linalg.norm(rows[:, np.newaxis] - centers[label], axis=2)
        nearest = distance.argmin(axis=1)
        assert np.mean(nearest == 1) == pytest.approx(0.2, abs=0.02)
        for component in (0, 1):
            residual = rows[nearest == component] - centers[label, component]
            assert residual.mean(axis=0) == pytest.approx(np.zeros(5), abs=0.25)
            assert np.cov(residual.T) == pytest.approx(4.0 * np.eye(5), abs=0.5)


def test_mixture_auc_is_that_of_two_gaussians() -> None:
    X, y, centers = make_gaussian_mixture(20_000, sigma=2.0, return_centers=True, random_state=2)
    gap = centers[1, 0] - centers[0, 0]
    expected = norm.cdf(np.linalg.norm(gap) / (2.0 * np.sqrt(2.0)))
    assert roc_auc_score(y, X @ gap) == pytest.approx(expected, abs=0.01)


# Noisy linear


@pytest.mark.parametrize("flip", [0.0, 0.1, 0.5])
def test_exactly_the_share_flip_of_labels_is_flipped(flip: float) -> None:
    X, y, coef = make_noisy_linear(
        2000, flip=flip, positive_fraction=0.2, return_coef=True, random_state=0
    )
    score = X @ coef
    clean = score > np.sort(score)[-401]
    assert clean.sum() == 400
    assert np.sum(clean != y) == round(flip * 2000)
    assert np.mean(clean[clean] != y[clean]) == pytest.approx(flip, abs=0.06)
    assert np.linalg.norm(coef) == pytest.approx(1.0)


def test_noisy_linear_rows_are_standard_and_do_not_depend_on_flip() -> None:
    X, y = make_noisy_linear(20_000, 4, flip=0.0, random_state=4)
    assert X.mean(axis=0) == pytest.approx(np.zeros(4), abs=0.04)
    assert np.cov(X.T) == pytest.approx(np.eye(4), abs=0.05)
    assert y.sum() == 10_000
    np.testing.assert_array_equal(X, make_noisy_linear(20_000, 4, flip=0.3, random_state=4)[0])
