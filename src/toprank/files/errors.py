"""What is wrong with a model file."""


class ModelFileError(ValueError):
    """A model that no file can hold, or a file that holds no model this version can read."""


__all__ = ["ModelFileError"]
