"""Files: models written without pickle, data sets larger than memory, files replaced whole."""

from .converting import convert
from .errors import DataFileError, ModelFileError
from .mapped import DataSet, open
from .model import load, save

__all__ = ["DataFileError", "DataSet", "ModelFileError", "convert", "load", "open", "save"]
