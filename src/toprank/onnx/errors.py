"""The error of models without a form in ONNX."""


class NotExportable(ValueError):
    """A model, or a part of it, that has no form in ONNX."""


__all__ = ["NotExportable"]
