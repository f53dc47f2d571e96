"""What scikit-learn's own checks ask for and do not get, and why."""

from __future__ import annotations

import sklearn
from sklearn.utils.fixes import parse_version

#: Why the checks of weights fail with an old scikit-learn; empty with a newer one.
LABELS_SWAPPED = (
    "scikit-learn before 1.7 may swap the labels of the repeated rows in this check"
    if parse_version(sklearn.__version__) < parse_version("1.7")
    else ""
)


def no_weights_as_repeats(reason: str) -> dict[str, str]:
    """The checks that a weight of two is a row that is there twice, with why they fail, if any."""
    name = "check_sample_weight_equivalence_on_{}_data"
    return {name.format(kind): reason for kind in ("dense", "sparse")} if reason else {}
