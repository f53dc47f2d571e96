"""Files: models written without pickle, data sets larger than memory, files replaced whole."""

from .converting import convert
from .errors import DataFileError, ModelFileError
from .mapped import DataSet, open
from .model import load, save
from .trusted import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "DataFileError",
    "DataSet",
    "ModelFileError",
    "convert",
    "load",
    "open",
    "save",
]
