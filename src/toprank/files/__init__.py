"""Files: models written without pickle, data sets larger than memory, files replaced whole."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .converting import convert
    from .errors import DataFileError, ModelFileError
    from .mapped import DataSet, open_dataset
    from .mapped import open as open  # deprecated, so not in __all__
    from .model import load, save

    TRUSTED_TYPES: list[str]

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

# Names are imported when they are first used: the command line looks at names of tables before
# it imports scikit-learn.
if not TYPE_CHECKING:
    _HOMES = {
        "DataFileError": "errors",
        "DataSet": "mapped",
        "ModelFileError": "errors",
        "convert": "converting",
        "load": "model",
        "open": "mapped",
        "open_dataset": "mapped",
        "save": "model",
    }

    def __getattr__(name: str) -> Any:
        if name == "TRUSTED_TYPES":
            found = globals()[name] = import_module(".classes", __name__).trusted_types()
            return found
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
