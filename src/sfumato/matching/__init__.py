"""Matching: whom of the people that somebody knows the lines of a release may be about.

A person is known by values, a release shows labels. They fit where the value lies under the label, column by column.
"""

from sfumato.matching.fits import Fits, Pairs
from sfumato.matching.people import People, people_known, people_released
from sfumato.matching.released import Released, promised_k
from sfumato.matching.shown import Shown
from sfumato.matching.sources import file_shown, memory_shown, read_released, read_shown

__all__ = [
    "Fits",
    "Pairs",
    "People",
    "Released",
    "Shown",
    "file_shown",
    "memory_shown",
    "people_known",
    "people_released",
    "promised_k",
    "read_released",
    "read_shown",
]
