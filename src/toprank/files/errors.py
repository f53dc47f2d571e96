"""What is wrong with a file."""


class ModelFileError(ValueError):
    """A model that no file can hold, or a file that holds no model this version can read."""


class TableError(ValueError):
    """A table that cannot be read, or not as what it is meant to be: which file, column, row."""


__all__ = ["ModelFileError", "TableError"]
