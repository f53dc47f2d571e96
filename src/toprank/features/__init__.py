"""Transformers for scikit-learn pipelines: bins, kernels, scaling, and tables made into numbers.

On tables, features improve the top of a list more than any loss does. `HeadRanker` chooses among
them. Each transformer can also be a step of a `Pipeline`.
"""

from .bins_and_pairs import BinsAndPairs
from .case_control_bins import CaseControlBins
from .dates import DateParts
from .kernel_columns import KernelColumns
from .squash import Squash
from .table import table_pipeline

__all__ = [
    "BinsAndPairs",
    "CaseControlBins",
    "DateParts",
    "KernelColumns",
    "Squash",
    "table_pipeline",
]
