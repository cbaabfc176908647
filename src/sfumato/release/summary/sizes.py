"""How many rows stand in classes of which size."""

from sfumato.page.bars import bar
from sfumato.page.markup import Markup, note, section, table
from sfumato.page.words import percent
from sfumato.release.seen.sizes import binned, bins
from sfumato.release.summary.groups import Groups

ROWS = "A class is the rows that nothing in their quasi-identifiers tells apart, or that have one class number."
PEOPLE = " Its size is the number of people in it, by pseudonym."


def sizes(groups: Groups) -> Markup:
    """One histogram over bins."""
    found = binned(groups.classes)
    full = float(found.shares.max())
    lines = [
        (label, percent(share), bar(share / full)) for label, share in zip(bins(), found.shares.tolist(), strict=True)
    ][: found.used]
    how = note(ROWS + (PEOPLE if groups.people is not None else ""))
    return section("Class sizes", how, table((f"Size, in {groups.by}", "Share of rows", ""), lines, "shares"))
