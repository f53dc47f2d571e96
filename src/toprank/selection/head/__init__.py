"""HeadRanker: features, losses, alphas and trees race for the head of the list."""

from .explanation import Explanation
from .head_ranker import HeadRanker

__all__ = ["Explanation", "HeadRanker"]
