"""Files: models written without pickle, and files replaced whole or not at all."""

from .errors import ModelFileError
from .model import load, save

__all__ = ["ModelFileError", "load", "save"]
