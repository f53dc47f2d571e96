"""The compiled core, in the best form this machine can run.

The environment variable TOPRANK_INSTRUCTIONS=plain asks for the form that every machine can run.
"""

import os
from contextlib import suppress
from types import ModuleType

from . import _baseline

_best: ModuleType = _baseline
if _baseline.has_x86_64_v3() and os.environ.get("TOPRANK_INSTRUCTIONS") != "plain":
    with suppress(ImportError):  # not an x86 build, or one for the sanitizers
        from . import _v3 as _best

#: For which instructions it was built.
level = "plain instructions" if _best is _baseline else "AVX2 and FMA"
compiler = _best.compiler()
ActiveSet = _best.ActiveSet
BufferedDescent = _best.BufferedDescent
CombinedDescent = _best.CombinedDescent
DualDescent = _best.DualDescent
ExponentialPairs = _best.ExponentialPairs
Matrix = _best.Matrix
MomentDescent = _best.MomentDescent
PairDescent = _best.PairDescent
PairSampler = _best.PairSampler
PairRanks = _best.PairRanks
PairScan = _best.PairScan
PairSteps = _best.PairSteps
StumpTable = _best.StumpTable
Trees = _best.Trees
group_moments = _best.group_moments
highest_rows = _best.highest_rows
moment_depth = _best.moment_depth
pair_moments = _best.pair_moments
ProximalDescent = _best.ProximalDescent
project_balanced = _best.project_balanced
row_losses_along = _best.row_losses_along
row_sides = _best.row_sides
row_sums = _best.row_sums
row_terms = _best.row_terms
rows_of_places = _best.rows_of_places
span_minimum = _best.span_minimum
svmlight_rows = _best.svmlight_rows
thin_rows = _best.thin_rows
urn_crossing = _best.urn_crossing
urn_quantiles = _best.urn_quantiles
WideDescent = _best.WideDescent

__all__ = [
    "ActiveSet",
    "BufferedDescent",
    "CombinedDescent",
    "DualDescent",
    "ExponentialPairs",
    "Matrix",
    "MomentDescent",
    "PairDescent",
    "PairRanks",
    "PairSampler",
    "PairScan",
    "PairSteps",
    "ProximalDescent",
    "StumpTable",
    "Trees",
    "WideDescent",
    "compiler",
    "group_moments",
    "highest_rows",
    "level",
    "moment_depth",
    "pair_moments",
    "project_balanced",
    "row_losses_along",
    "row_sides",
    "row_sums",
    "row_terms",
    "rows_of_places",
    "span_minimum",
    "svmlight_rows",
    "thin_rows",
    "urn_crossing",
    "urn_quantiles",
]
