"""Files: models written without pickle, data sets larger than memory, files replaced whole."""

from .converting import convert
from .errors import DataFileError, ModelFileError
from .mapped import DataSet, open_dataset
from .model import load, save
from .renamed import open as open  # deprecated, so not in __all__
from .trusted import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "DataFileError",
    "DataSet",
    "ModelFileError",
    "convert",
    "load",
    "open_dataset",
    "save",
]
