"""Versions of packages that cannot do together what either can do with another."""

from __future__ import annotations

import polars
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

#: scikit-learn before 1.9 asks a frame for its names by `__dataframe__`, which polars 2 dropped.
names_of_polars = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9")
    and parse_version(polars.__version__) >= parse_version("2"),
    reason="scikit-learn before 1.9 cannot read the names of the columns of a polars 2 frame",
)
