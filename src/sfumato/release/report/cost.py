"""What the publication cost: in all, and column by column."""

from typing import TYPE_CHECKING

from sfumato.encode import Attribute
from sfumato.release.report.markup import Markup, join, name, note, section, table, tag
from sfumato.release.report.svg import bar
from sfumato.release.report.words import percent, plural
from sfumato.utility import Utility

if TYPE_CHECKING:
    from sfumato.release.release import Release


def cost(release: "Release") -> Markup:
    """Measures of the whole release, then a bar for each quasi-identifier."""
    how = note("Losses run from 0% (as it came) to 100% (nothing left). A suppressed row counts as lost entirely.")
    return section("What it cost", how, _total(release.utility), _columns(release))


def _total(utility: Utility) -> Markup:
    lines = [
        ("Information lost (NCP)", "how much of its domain a label covers", percent(utility.ncp)),
        ("Distortion ratio", "levels climbed, of all there are", percent(utility.distortion_ratio)),
        ("Precision", "one minus the height climbed, per column", percent(utility.precision)),
        ("Entropy lost", "bits of the columns that are gone", percent(utility.entropy)),
        ("Discernibility", "class sizes squared, summed", f"{utility.discernibility:,}"),
        ("Average class size", "rows", f"{utility.average_class_size:,.1f}"),
        ("Suppressed cells", "show nothing; suppressed rows included", f"{utility.suppressed_cells:,}"),
    ]
    return table(("", ""), [(join([title, tag("small", said)]), figure) for title, said, figure in lines], "totals")


def _columns(release: "Release") -> Markup:
    lines = [_column(release, attribute) for attribute in release.encoded.quasi]
    title = tag("h3", "Loss per column")
    return tag("figure", title, table(("Column", "Lost (NCP)", "", "Empty cells"), lines, "losses"))


def _column(release: "Release", attribute: Attribute) -> tuple[object, ...]:
    loss = release.utility.attributes[attribute.name]
    said = tag("small", f"{_level(release, attribute)}, {_labels(release, attribute)}")
    return (join([name(attribute.name), said]), percent(loss.ncp), bar(loss.ncp), f"{loss.suppressed_cells:,}")


def _level(release: "Release", attribute: Attribute) -> str:
    """Where the labels stand in the hierarchy: at one level, or at several."""
    height, level = attribute.hierarchy.height, release.recoding.labels[attribute.name].level
    if level is not None:
        return f"level {level} of {height}"
    climbed = release.utility.attributes[attribute.name].distortion * height
    return f"level {climbed:.1f} of {height} on average"


def _labels(release: "Release", attribute: Attribute) -> str:
    """How many values became how many labels: published cells list those that occur, and no other."""
    used = len(release.published.columns[attribute.name].values)
    return f"{plural(attribute.column.width, 'value')} → {plural(used, 'label')}"
