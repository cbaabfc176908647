"""What the classes of a release tell of its sensitive columns; the measures are those of the homogeneity attack."""

from typing import TYPE_CHECKING

from sfumato.attack.homogeneity import Disclosure, Figure, Gain, disclosed, told_of

if TYPE_CHECKING:
    from sfumato.release.release import Release

__all__ = ["Disclosure", "Figure", "Gain", "disclosed", "disclosures"]


def disclosures(release: "Release") -> dict[str, Disclosure]:
    """The measures of every sensitive column, in the policy's order."""
    told = told_of(release.encoded, release.recoding, release.policy)
    return {name: disclosed(one.bag, one.sizes) for name, one in told.items()}
