"""What keeping earlier promises over a join costs, why, and what would be cheaper: words for whoever decides.

A release that withstands the join may tell much less than the policy's own algorithm would. The one thing that is tried
besides is simple enough to be acted on: the release as the policy has it, with a single column left out. The join is
checked of each of these by the verifier, on the table in memory.
"""

import pyarrow as pa

from sfumato.hierarchy.hierarchy import ROOT
from sfumato.page.wording import percent
from sfumato.release import Release
from sfumato.release.verification import promise_of
from sfumato.verifier import verify_table

_MOST_COLUMNS = 12
"""So many columns are tried at most, those whose loss would be least first."""


def describe_join_cost(own: Release, made: Release) -> str:
    """Say what a release that keeps the join costs, beside the policy's own, which breaks it; and what would cost less.

    `own` promises the join, and breaks it.
    """
    before, after = own.utility, made.utility
    worse = max(before.attributes, key=lambda name: after.attributes[name].ncp - before.attributes[name].ncp)
    most = f"most of it in '{worse}', {percent(before.attributes[worse].ncp)} to {percent(after.attributes[worse].ncp)}"
    costs = f"keeping it takes the information lost from {percent(before.ncp)} to {percent(after.ncp)}, {most}"
    return f"{costs}{describe_cheapest_column(own, after.ncp)}"


def describe_cheapest_column(own: Release, most: float = 1.0) -> str:
    """Say which column could be left out so that the policy's own release keeps the join, losing less than `most`.

    The words continue a sentence; there are none where there is one column, since nothing would be left.
    """
    if len(own.encoded.quasi) == 1:
        return ""
    found = find_cheapest_column(own, most)
    if found is None:
        return "; no single column could be left out to keep it for less"
    name, loss = found
    return f"; without '{name}' the policy's own release keeps it, with {percent(loss)} lost, that column included"


def find_cheapest_column(own: Release, most: float = 1.0) -> tuple[str, float] | None:
    """Find the column without which a release keeps the join, and what is lost then: the least, and less than `most`.

    The column that is left out counts as lost wholly.
    """
    promise, table = promise_of(own.publication), own.tables["table"].arrow
    weights = {attribute.name: attribute.weight for attribute in own.encoded.quasi}
    whole = sum(weights.values())
    losses = {
        name: own.utility.ncp + weight * (1.0 - own.utility.attributes[name].ncp) / whole
        for name, weight in weights.items()
    }
    for name in sorted(losses, key=losses.__getitem__)[:_MOST_COLUMNS]:
        if losses[name] >= most:
            break
        place = table.column_names.index(name)
        starred = table.set_column(place, name, pa.array([ROOT] * table.num_rows, pa.string()))
        if verify_table(starred, promise).satisfied:
            return name, losses[name]
    return None
