"""The intersection attack: what several releases about the same people leave open when they are taken together.

Each release alone may leave somebody a class of many sensitive values. Of another release the same person is in another
class, with other values; what is true of the person stands in both, and there may be only one such value.
"""

from sfumato.attack.intersect.found import Intersection, Narrowed, Rows, Seen
from sfumato.attack.intersect.measure import intersect

__all__ = ["Intersection", "Narrowed", "Rows", "Seen", "intersect"]
