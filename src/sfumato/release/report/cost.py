"""What the publication cost: in all, and column by column."""

from typing import TYPE_CHECKING

import numpy as np

from sfumato.encode import QuasiIdentifier
from sfumato.page.bars import bar
from sfumato.page.markup import Markup, facts, html, join, name, note, section, table, tag
from sfumato.page.words import label, percent, plural
from sfumato.recode import Recoding
from sfumato.utility import Utility

if TYPE_CHECKING:
    from sfumato.release.release import Release

_SHOWN = 3
"""So many of the labels that stand in most rows are shown."""


def cost(release: "Release") -> Markup:
    """Measures of the whole release, then a bar for each quasi-identifier."""
    how = note("Losses run from 0% (as it came) to 100% (nothing left). A suppressed row counts as lost entirely.")
    return section("What it cost", how, _total(release.utility), _columns(release), _told(release))


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


def _column(release: "Release", attribute: QuasiIdentifier) -> tuple[object, ...]:
    loss, said = release.utility.attributes[attribute.name], tag("small", _words(release, attribute))
    return (join([name(attribute.name), said]), percent(loss.ncp), bar(loss.ncp), f"{loss.suppressed_cells:,}")


def _words(release: "Release", attribute: QuasiIdentifier) -> str:
    """How values became labels: at one level, or each class with its own."""
    loss = release.utility.attributes[attribute.name]
    labels = f"{plural(attribute.column.width, 'value')} → {plural(loss.labels, 'label')}"
    if release.levels is not None:
        return f"level {release.levels[attribute.name]} of {attribute.hierarchy.height}, {labels}"
    return f"{labels}, {percent(loss.exact_cells / release.rows)} of cells exact"


def _told(release: "Release") -> Markup:
    """The usual labels of each column that has labels of several levels; nothing where levels say it all."""
    if release.levels is not None:
        return html("")
    columns = [(name(column), _usual(release.recoding, column)) for column in release.encoded.names]
    lines = [(column, ", ".join(labels) or "as it came") for column, labels in columns]
    how = note("Labels of generalized cells, those of most rows first, with their share of the published rows.")
    return tag("figure", tag("h3", "What columns are told as"), how, facts(lines))


def _usual(recoding: Recoding, column: str) -> list[str]:
    """The labels that most generalized cells have, each with its share of the published rows."""
    labels = recoding.labels[column]
    codes = labels.codes if recoding.published is None else labels.codes[recoding.published]
    rows = np.bincount(codes, minlength=len(labels.texts)) * (labels.climbed > 0)
    order = np.argsort(-rows, kind="stable")[:_SHOWN]
    return [f"{label(labels.texts[i])} ({percent(rows[i] / len(codes))})" for i in order if rows[i]]
