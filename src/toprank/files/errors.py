"""Errors of model files, tables and data sets."""

from tokenize import TokenError

#: What NumPy raises of the header of an .npy file that is none: it reads a piece of Python.
BAD_HEADER = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    SyntaxError,
    RecursionError,
    MemoryError,
    TokenError,
)


class ModelFileError(ValueError):
    """A model that no file can hold, or a file that holds no model this version can read."""


class TableError(ValueError):
    """A table that cannot be read, or not as what it is meant to be: which file, column, row."""


class UndecidedLabelsError(TableError):
    """A table with two labels of which either may be the one to rank first."""


class DataFileError(ValueError):
    """A folder that holds no data set this version can open, or a damaged one."""


__all__ = ["BAD_HEADER", "DataFileError", "ModelFileError", "TableError", "UndecidedLabelsError"]
