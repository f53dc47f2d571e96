"""Small data sets that come with the package, and makers of synthetic ones."""

from ._load import load_german, load_mammography, load_spambase
from ._make import make_gaussian_mixture, make_noisy_linear
from ._text import make_sparse_text_like

__all__ = [
    "load_german",
    "load_mammography",
    "load_spambase",
    "make_gaussian_mixture",
    "make_noisy_linear",
    "make_sparse_text_like",
]
