"""Homogeneity, similarity and skewness (Machanavajjhala 2006, Li 2007): what the bag of a class tells by itself."""

from sfumato.attack.homogeneity.disclosure import Disclosure, Figure, Gain, disclosed
from sfumato.attack.homogeneity.found import Homogeneity, Homogeneous, Skewed, Skewness, Telling
from sfumato.attack.homogeneity.measure import THRESHOLD, allowed, homogeneity, skewness
from sfumato.attack.homogeneity.told import Bags, Told, told_by, told_in, told_of

__all__ = [
    "THRESHOLD",
    "Bags",
    "Disclosure",
    "Figure",
    "Gain",
    "Homogeneity",
    "Homogeneous",
    "Skewed",
    "Skewness",
    "Telling",
    "Told",
    "allowed",
    "disclosed",
    "homogeneity",
    "skewness",
    "told_by",
    "told_in",
    "told_of",
]
