"""Features that let a linear score bend, and tables made into numbers: scikit-learn transformers.

On tables they lift the head of a list more than any loss does. `HeadRanker` chooses among them;
each can also be a step of a `Pipeline` of its own.
"""

from .bins_and_pairs import BinsAndPairs
from .dates import DateParts
from .kernel_columns import KernelColumns
from .squash import Squash
from .table import table_pipeline

__all__ = ["BinsAndPairs", "DateParts", "KernelColumns", "Squash", "table_pipeline"]
