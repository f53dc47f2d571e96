"""The compiled core, in the best form this machine can run."""

from contextlib import suppress
from types import ModuleType

from . import _baseline

_best: ModuleType = _baseline
if _baseline.has_x86_64_v3():
    with suppress(ImportError):  # not an x86 build, or one for the sanitizers
        from . import _v3 as _best

ActiveSet = _best.ActiveSet
CombinedDescent = _best.CombinedDescent
DualDescent = _best.DualDescent
ExponentialPairs = _best.ExponentialPairs
Matrix = _best.Matrix
PairDescent = _best.PairDescent
PairSampler = _best.PairSampler
PairScan = _best.PairScan
StumpTable = _best.StumpTable
group_moments = _best.group_moments
pair_moments = _best.pair_moments
project_balanced = _best.project_balanced

__all__ = [
    "ActiveSet",
    "CombinedDescent",
    "DualDescent",
    "ExponentialPairs",
    "Matrix",
    "PairDescent",
    "PairSampler",
    "PairScan",
    "StumpTable",
    "group_moments",
    "pair_moments",
    "project_balanced",
]
