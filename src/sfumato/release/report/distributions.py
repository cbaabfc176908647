"""Each published column, before and after, in the same bins."""

from typing import TYPE_CHECKING

import numpy as np

from sfumato.page.charts import columns
from sfumato.page.markup import Markup, name, note, paragraph, section, some, tag
from sfumato.release.seen.column import Seen

if TYPE_CHECKING:
    from sfumato.release.release import Release

SPREAD = (
    "Shares of the rows that came in. A row that is published under a label which covers several bins counts in each "
    "by the share of the label's values that lie there: as for a reader who knows no more than the label. Flat bars "
    "are what generalization leaves of a column."
)
EXACT = "Shares of the rows that came in. No value is changed."
GONE = "not published"


def distributions(release: "Release", seen: list[Seen]) -> Markup:
    """A chart for each column, as many as a page can take."""
    how = note(EXACT if release.policy.publish.split else SPREAD)
    charts = tag("div", *[_chart(release, one) for one in seen], class_="charts")
    return section("Columns, before and after", how, charts, *_left(release, seen))


def _chart(release: "Release", one: Seen) -> Markup:
    rows = release.encoded.rows
    names, came, told = list(one.bins.names), one.came / rows, one.published / rows
    if release.suppressed:
        names, came, told = [*names, GONE], np.append(came, 0.0), np.append(told, release.suppressed / rows)
    role = tag("small", _role(release, one.name))
    drawn = columns(names, came.tolist(), told.tolist(), title=f"{one.name}, before and after")
    return tag("figure", tag("h3", name(one.name), role), drawn)


def _role(release: "Release", column: str) -> str:
    return {"quasi": "quasi-identifier"}.get(role := str(release.policy.columns[column].role), role)


def _left(release: "Release", seen: list[Seen]) -> list[Markup]:
    """The columns that have no chart, by name."""
    shown = {one.name for one in seen}
    every = [*release.encoded.names, *release.encoded.sensitive, *release.encoded.plain]
    left = [one for one in every if one not in shown]
    return [paragraph("Not shown, so that the page has an end: ", some(left), ".")] if left else []
