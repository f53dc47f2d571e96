"""Rows on a cluster of Dask: the plain estimators fit and score them.

``TopPush().fit(ddf[features], ddf["fraud"])`` takes collections of Dask as they are, and leaves an
ordinary estimator; its `decision_function` of a collection is lazy. Here is what else there is:
`design` converts rows once for several fits, `top` is the head of a list, `evaluate` all metrics
of it, `options` sets the client and how patient a fit is.
"""

from .fitting import rows_of as rows_of
from .rows import design
from .scoring import evaluate, top
from .scoring import lazily as lazily
from .scoring import scored as scored
from .settings import DistributedFitError, options

__all__ = ["DistributedFitError", "design", "evaluate", "options", "top"]
