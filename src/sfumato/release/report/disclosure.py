"""What the classes of a release tell of its sensitive columns; the measures are those of the homogeneity attack."""

from typing import TYPE_CHECKING

from sfumato.attack.homogeneity import ClassMeasure, Disclosure, Gain, measure_disclosure
from sfumato.attack.sensitive_columns import sensitive_columns_from_recoding

if TYPE_CHECKING:
    from sfumato.release.release import Release

__all__ = ["ClassMeasure", "Disclosure", "Gain", "disclosures", "measure_disclosure"]


def disclosures(release: "Release") -> dict[str, Disclosure]:
    """The measures of every sensitive column, in the policy's order."""
    told = sensitive_columns_from_recoding(release.encoded, release.recoding, release.policy)
    return {name: measure_disclosure(one.bag, one.sizes) for name, one in told.items()}
