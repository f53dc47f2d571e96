"""Files: models written without pickle, and files replaced whole or not at all."""

from .errors import ModelFileError
from .model import load, save
from .trusted import TRUSTED_TYPES

__all__ = ["TRUSTED_TYPES", "ModelFileError", "load", "save"]
