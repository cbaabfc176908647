"""Which tables a release has, and what stands in each: one, or NSS and SS with the class of each line.

The class numbers are drawn at random and each table is shuffled by itself, so that nothing but the class ties a line of
one to a line of the other.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.core.arrays import narrow_codes
from sfumato.core.arrow import arrow_numbers
from sfumato.policy import Policy, Role
from sfumato.release.cells import Cells
from sfumato.release.published import Published, Publisher

_SAFE = re.compile(r"[A-Za-z0-9_-]{1,100}")

TOGETHER = (
    "The sensitive columns stand together in one table: whoever knows one of these values of a person can find the "
    "lines of the person's class that hold it, and read the others there. No requirement limits that. Apart, each "
    'column in a table of its own, nothing ties them, and how they go together is lost: [publish] ss = "apart".'
)
"""What one table of several sensitive columns reveals."""


def layout(policy: Policy, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns of each table, by the name of its file; of the source's columns, in their order."""
    if not policy.publish.split:
        return {"table": list(names)}
    sensitive = [name for name in names if policy.columns[name].role is Role.SENSITIVE]
    found = {"nss": [name for name in names if name not in sensitive]}
    if policy.publish.ss == "together" or len(sensitive) == 1:
        return {**found, "ss": sensitive}
    files = _file_names(sensitive)
    return {**found, **{files[name]: [name] for name in sensitive}}


def class_id(policy: Policy) -> str:
    """The name of the column of class numbers, which no column of the table has."""
    name = "class_id"
    while name in policy.columns:
        name += "_"
    return name


def reveals(policy: Policy) -> str | None:
    """What the choice to have sensitive columns together in one table reveals, where there are several."""
    together = policy.publish.split and policy.publish.ss == "together" and len(policy.sensitive) > 1
    return TOGETHER if together else None


def publish(publisher: Publisher) -> dict[str, Published]:
    """The tables of a release, by the name of their file."""
    parts = layout(publisher.policy, publisher.table.arrow.column_names)
    found = {file: publisher.published(names, place) for place, (file, names) in enumerate(parts.items())}
    if not publisher.policy.publish.split:
        return found
    return _numbered(found, publisher)


def _numbered(tables: Mapping[str, Published], publisher: Publisher) -> dict[str, Published]:
    """Each table with the class of each line: last in NSS, first in SS, as the paper has it."""
    owner, classes = publisher.recoding.class_of, len(publisher.recoding.classes)
    ids = arrow_numbers(publisher.drawn.randomness.permutation(classes) + 1)
    name, codes = class_id(publisher.policy), narrow_codes(np.maximum(owner, 0), classes)
    return {
        file: table.adding(name, Cells(codes.take(table.order), ids), first=file != "nss")
        for file, table in tables.items()
    }


def _file_names(columns: Sequence[str]) -> dict[str, str]:
    """A file name for each column: its own where that is safe and no other's in another case, else its number."""
    lower = [name.lower() for name in columns]
    safe = {name for name in columns if _SAFE.fullmatch(name) and lower.count(name.lower()) == 1 and not name.isdigit()}
    return {name: f"ss-{name if name in safe else place}" for place, name in enumerate(columns, start=1)}
