"""Small data sets that come with the package, and makers of synthetic ones."""

from toprank.datasets._load import load_german, load_mammography, load_spambase
from toprank.datasets._make import make_gaussian_mixture, make_noisy_linear
from toprank.datasets._text import make_sparse_text_like

__all__ = [
    "load_german",
    "load_mammography",
    "load_spambase",
    "make_gaussian_mixture",
    "make_noisy_linear",
    "make_sparse_text_like",
]
