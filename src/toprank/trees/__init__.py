"""Fitted ensembles of trees as plain arrays: scored by the compiled core, saved without pickle."""

from .convert import from_model
from .ensemble import TreeEnsemble

__all__ = ["TreeEnsemble", "from_model"]
