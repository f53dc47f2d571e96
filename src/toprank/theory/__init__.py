"""What the best scores are, in theory: risks of distributions and their minimisers.

A. K. Menon, The risk of trivial solutions in bipartite top ranking, Machine Learning 2019: why
the optimum of TopPush is often the same score for every row, and what to do about it.

And how many pairs, and how many rows, are enough for the pairwise square loss; what the scores of
a sample say of new rows, by the theorems of the papers, mended where they need it.
"""

from ..methods.squared.pairs import practical_pairs
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
from .margin_bounds import (
    auc_margin_deviation,
    auc_margin_failure,
    log_covering_number,
    recttop_failure,
    recttop_margin_risk,
)
from .optimal import OptimalOrder, OptimalScores
from .pair_bounds import (
    effective_dimension,
    first_moment_tail,
    required_pairs,
    second_moment_tail,
)
from .point_bounds import pair_hinge_bound
from .population import LinearScorer, population_minimiser
from .risks import (
    auc_risk,
    balanced_risk,
    population_auc,
    ptop_risk,
    recttop_risk,
    reverse_recttop_risk,
)
from .sample_bounds import generalisation_failure, required_samples
from .top_bounds import AboveMost, above_most_negatives
from .triviality import Triviality, is_trivial

__all__ = [
    "AboveMost",
    "Distribution",
    "LinearScorer",
    "OptimalOrder",
    "OptimalScores",
    "Triviality",
    "above_most_negatives",
    "auc_margin_deviation",
    "auc_margin_failure",
    "auc_risk",
    "balanced_link",
    "balanced_risk",
    "bayes_auc",
    "bayes_balanced",
    "bayes_ptop",
    "bayes_recttop",
    "bayes_reverse_recttop",
    "effective_dimension",
    "first_moment_tail",
    "generalisation_failure",
    "is_trivial",
    "link",
    "log_covering_number",
    "pair_hinge_bound",
    "population_auc",
    "population_minimiser",
    "practical_pairs",
    "ptop_app_risk",
    "ptop_risk",
    "recttop_app_risk",
    "recttop_failure",
    "recttop_margin_risk",
    "recttop_risk",
    "required_pairs",
    "required_samples",
    "reverse_recttop_risk",
    "second_moment_tail",
]
