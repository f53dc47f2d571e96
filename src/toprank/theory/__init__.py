"""Theory that users act on: whether TopPush is trivial, how many pairs and rows are enough.

And what the scores of a sample say of new rows, by the theorems of the papers, corrected where
they need it. Risks of distributions and their minimisers are in `papers/theory` of the repository.
"""

from typing import TYPE_CHECKING, Any

from ..methods.squared.pairs import practical_pairs
from .pair_bounds import (
    effective_dimension,
    first_moment_tail,
    generalisation_failure,
    required_pairs,
    required_samples,
    second_moment_tail,
)
from .score_bounds import (
    AboveMost,
    above_most_negatives,
    auc_margin_deviation,
    auc_margin_failure,
    log_covering_number,
    pair_hinge_bound,
    recttop_failure,
    recttop_margin_risk,
)
from .triviality import Triviality, is_trivial

__all__ = [
    "AboveMost",
    "Triviality",
    "above_most_negatives",
    "auc_margin_deviation",
    "auc_margin_failure",
    "effective_dimension",
    "first_moment_tail",
    "generalisation_failure",
    "is_trivial",
    "log_covering_number",
    "pair_hinge_bound",
    "practical_pairs",
    "recttop_failure",
    "recttop_margin_risk",
    "required_pairs",
    "required_samples",
    "second_moment_tail",
]

#: Names that moved to `papers/theory`.
_MOVED = {
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
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        lacks = f"module {__name__!r} has no attribute {name!r}"
        if name in _MOVED:
            lacks += ": it is in papers/theory of toprank's repository"
        raise AttributeError(lacks)
