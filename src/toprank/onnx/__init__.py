"""ONNX: rankers and their pipelines for other programs, in double precision; the extra `onnx`."""

from .register import register
from .write import export, to_onnx

__all__ = ["export", "register", "to_onnx"]
