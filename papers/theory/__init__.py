"""Risks of distributions, and the scores that minimise them.

A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning 2019: the
optimum of TopPush is often the same score for every row, and what to do about it.
"""

from .approximations import ptop_app_risk, recttop_app_risk
from .bayes import (
    bayes_auc,
    bayes_balanced,
    bayes_ptop,
    bayes_recttop,
    bayes_reverse_recttop,
)
from .distribution import Distribution
from .margins import balanced_link, link
from .optimal import OptimalOrder, OptimalScores
from .population import LinearScorer, population_minimiser
from .risks import (
    auc_risk,
    balanced_risk,
    population_auc,
    ptop_risk,
    recttop_risk,
    reverse_recttop_risk,
)

__all__ = [
    "Distribution",
    "LinearScorer",
    "OptimalOrder",
    "OptimalScores",
    "auc_risk",
    "balanced_link",
    "balanced_risk",
    "bayes_auc",
    "bayes_balanced",
    "bayes_ptop",
    "bayes_recttop",
    "bayes_reverse_recttop",
    "link",
    "population_auc",
    "population_minimiser",
    "ptop_app_risk",
    "ptop_risk",
    "recttop_app_risk",
    "recttop_risk",
    "reverse_recttop_risk",
]
