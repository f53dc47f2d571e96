"""Pictures of lists, fits and comparisons, as scikit-learn's displays are made.

matplotlib is imported when something is drawn, not before.
"""

from .convergence import ConvergenceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .gains import GainsDisplay
from .leaderboard import LeaderboardDisplay
from .path import PathDisplay
from .score import ScoreDisplay
from .top_curve import TopCurveDisplay
from .why import WhyDisplay

__all__ = [
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "GainsDisplay",
    "LeaderboardDisplay",
    "PathDisplay",
    "ScoreDisplay",
    "TopCurveDisplay",
    "WhyDisplay",
]
