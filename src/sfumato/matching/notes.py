"""What could not be made use of when people were looked up, in sentences."""

from collections.abc import Iterator

from sfumato.labels.covered_values import looks_generalized
from sfumato.labels.label_overlap import DescribedLabels, find_unexplained
from sfumato.matching.fits import Fits


def not_told(fits: Fits) -> Iterator[str]:
    """Columns whose labels do not tell what they stand for, all or some; they may be anybody's."""
    release = fits.release
    where = f"of {release.name}"
    for name in fits.unlike:
        yield f"Column '{name}' {where} was left out: its labels do not tell what values they stand for."
    for name in fits.by:
        label = find_unexplained(DescribedLabels(release.quasi[name].texts, release.entry(name)))
        if label is not None:
            what = f"has labels that it does not explain, such as {label!r}: they may be any value"
            yield f"Column '{name}' {where} {what}."
    if not fits.by:
        yield f"No column {where} is known, so that all its rows may be anybody's."


def by_text(fits: Fits) -> Iterator[str]:
    """Columns with labels that look as if they stood for several values, and were compared by their text."""
    for name in fits.by:
        side = DescribedLabels(fits.release.quasi[name].texts, fits.release.entry(name))
        if side.coarse:
            how = "so that other values fit all its labels: a policy says what they stand for"
            yield f"Column '{name}' of {fits.release.name} tells no value exactly, {how} (--policy)."
            continue
        label = next((one for one in side.labels if one is not None and looks_generalized(one)), None)
        if side.kind == "values" and not side.entry.keys() & {"form", "covers"} and label is not None:
            how = "were compared by their text: a policy says what they stand for"
            yield f"Column '{name}' of {fits.release.name} has labels such as {label!r}, which {how} (--policy)."
