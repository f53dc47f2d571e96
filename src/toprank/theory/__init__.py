"""What the best scores are, in theory: risks of distributions and their minimisers.

A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning 2019: why
the optimum of TopPush is often the same score for every row, and what to do about it.
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
from .links import balanced_link, link
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
from .triviality import Triviality, is_trivial

__all__ = [
    "Distribution",
    "LinearScorer",
    "OptimalOrder",
    "OptimalScores",
    "Triviality",
    "auc_risk",
    "balanced_link",
    "balanced_risk",
    "bayes_auc",
    "bayes_balanced",
    "bayes_ptop",
    "bayes_recttop",
    "bayes_reverse_recttop",
    "is_trivial",
    "link",
    "population_auc",
    "population_minimiser",
    "ptop_app_risk",
    "ptop_risk",
    "recttop_app_risk",
    "recttop_risk",
    "reverse_recttop_risk",
]
