"""Losses of the whole score vector: what a method asks of the scores, whatever the matrix."""

from .base import Loss
from .pair import PairLoss
from .point import PointLoss
from .reversed import ReversedLoss
from .threshold import ThresholdLoss
from .top import TopLoss

__all__ = ["Loss", "PairLoss", "PointLoss", "ReversedLoss", "ThresholdLoss", "TopLoss"]
