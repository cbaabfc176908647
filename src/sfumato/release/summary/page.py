"""The page that whoever gets a release may read first.

It is made of the manifest and of the columns as they are published. No row that is not published, no original value, no
seed and no loss can be in it, because none of them is handed in; whoever has the public files can make it again.
"""

from collections.abc import Mapping
from typing import Any

from sfumato.page.document import document
from sfumato.page.markup import Markup, facts, note, paragraph, section, tag
from sfumato.page.words import percent, plural
from sfumato.release.cells import Cells
from sfumato.release.summary.columns import columns
from sfumato.release.summary.dictionary import dictionary
from sfumato.release.summary.groups import Groups, groups_of
from sfumato.release.summary.limits import limits
from sfumato.release.summary.promise import promise
from sfumato.release.summary.sizes import sizes

Manifest = Mapping[str, Any]
Columns = Mapping[str, Cells | Any]

PUBLIC = "Made from manifest.json and the published tables alone; whoever has these files can work it out again."


def summary(manifest: Manifest, tables: Mapping[str, Columns]) -> str:
    """The page of a release with this manifest; `tables` are its columns, by the names of the files."""
    groups = groups_of(manifest, tables)
    return document(
        "About this release",
        _opening(manifest, groups),
        promise(manifest),
        _what(manifest, groups),
        sizes(groups),
        columns(manifest, tables),
        dictionary(manifest),
        limits(manifest),
        tag("footer", f"sfumato {manifest['sfumato']}. {PUBLIC}"),
    )


def _opening(manifest: Manifest, groups: Groups) -> Markup:
    title = tag("h1", "About this release", tag("small", f"Published {manifest['published']}"))
    kept = all(finding["satisfied"] for finding in manifest["privacy"])
    fewest = plural(groups.smallest, "row") if groups.by == "rows" else plural(groups.smallest, "person", "people")
    figures = [
        ("✓ kept" if kept else "✗ not kept", "promise, as verified"),
        (f"{manifest['rows']:,}", "rows"),
        (f"{manifest['classes']:,}", "classes"),
        (fewest, "in the smallest class"),
    ]
    items = [tag("li", tag("b", figure), tag("span", said)) for figure, said in figures]
    return tag("header", title, note(PUBLIC), tag("ul", *items, class_="glance"))


def _what(manifest: Manifest, groups: Groups) -> Markup:
    """Files, rows and how they came about."""
    files = manifest["files"]
    lines: list[tuple[object, object]] = [
        ("Files", ", ".join(files)),
        ("Rows", f"{manifest['rows']:,}, in {plural(manifest['classes'], 'class', 'classes')}"),
        *([("People", f"{groups.people:,}, each under a pseudonym")] if groups.people is not None else []),
        ("Form", manifest["form"]),
        ("Algorithm", manifest["algorithm"]),
        ("Left out", _left_out(manifest)),
        *([("Earlier", ", ".join(one["name"] for one in manifest["previous"]))] if "previous" in manifest else []),
    ]
    remark = [paragraph(manifest["remark"])] if "remark" in manifest else []
    return section("What is published", facts(lines), *remark)


def _left_out(manifest: Manifest) -> str:
    limit = float(manifest["suppression_limit"])
    return f"up to {percent(limit)} of the rows may have been" if limit else "no row"
