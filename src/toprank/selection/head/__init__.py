"""HeadRanker: features, losses, alphas and trees race for the head of the list."""

from .explain import Explanation
from .head_ranker import HeadRanker

__all__ = ["Explanation", "HeadRanker"]
