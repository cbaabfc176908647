"""What could not be made use of when people were looked up, in sentences."""

from collections.abc import Iterator

from sfumato.core.numbers import read_decimal
from sfumato.hierarchy.base import ROOT
from sfumato.hierarchy.range_labels import read_range
from sfumato.matching.fits import Fits
from sfumato.matching.labels import Side, unexplained


def not_told(fits: Fits) -> Iterator[str]:
    """Columns whose labels do not tell what they stand for, all or some; they may be anybody's."""
    release = fits.release
    where = f"of {release.name}"
    for name in fits.unlike:
        yield f"Column '{name}' {where} was left out: its labels do not tell what values they stand for."
    for name in fits.by:
        label = unexplained(Side(release.quasi[name].texts, release.entry(name)))
        if label is not None:
            what = f"has labels that it does not explain, such as {label!r}: they may be any value"
            yield f"Column '{name}' {where} {what}."
    if not fits.by:
        yield f"No column {where} is known, so that all its rows may be anybody's."


def by_text(fits: Fits) -> Iterator[str]:
    """Columns with labels that look as if they stood for several values, and were compared by their text."""
    for name in fits.by:
        side = Side(fits.release.quasi[name].texts, fits.release.entry(name))
        if side.coarse:
            how = "so that other values fit all its labels: a policy says what they stand for"
            yield f"Column '{name}' of {fits.release.name} tells no value exactly, {how} (--policy)."
            continue
        label = next((one for one in side.labels if one is not None and _is_wide(one)), None)
        if side.kind == "values" and not side.entry.keys() & {"form", "covers"} and label is not None:
            how = "were compared by their text: a policy says what they stand for"
            yield f"Column '{name}' of {fits.release.name} has labels such as {label!r}, which {how} (--policy)."


def _is_wide(label: str) -> bool:
    """Whether a label reads as a range, a masked text or a set.

    >>> [_is_wide(label) for label in ("[20, 30]", "435*", "{Bern, Thun}", "20-29", "37", "*", "1999-05-01", "nurse")]
    [True, True, True, True, False, False, False, False]
    """
    if label == ROOT or read_decimal(label) is not None:
        return False
    try:
        read_range(label)
    except ValueError:
        return label.endswith(ROOT) or (label.startswith("{") and label.endswith("}"))
    return True
