"""What labels tell besides what they say, where the algorithm chose ranges or sets itself; in plain words.

Fixed levels come from the policy, and a label of theirs is the same whatever rows there are. Ranges and sets are made
from the rows of a class, so their form decides what they tell of these.
"""

from dataclasses import dataclass

from sfumato.hierarchy import Ranges, Sets
from sfumato.policy import Policy
from sfumato.recode import Recoding

RANGES = {
    "partition": (
        "Ranges begin and end at cut points that were chosen once for the whole column, without regard to its lowest "
        "and its highest record: where the cuts lie tells roughly how the values of the table are spread, and not "
        "which values the rows of a class hold. A value that many rows share may stand by itself."
    ),
    "boxes": (
        "A range runs from the lowest to the highest value in its class: both ends are values that rows of the class "
        "hold, so the extremes of every class are published exactly."
    ),
    "means": (
        "A number is the mean of the values in its class, and may be the value of no row: whoever knows all values of "
        "a class but one can work out the last, and whoever knows a few is surer of the rest."
    ),
}
"""What each form of `[publish] ranges` tells."""

SETS = "A set lists the values that occur in its class, and no others: each is the value of at least one row there."


@dataclass(frozen=True)
class Telling:
    """Columns that are published as ranges of a form, or as sets, and what that tells."""

    form: str
    columns: tuple[str, ...]
    reveals: str


def tellings(recoding: Recoding, policy: Policy) -> list[Telling]:
    """Of the columns without levels that were recoded locally; full-domain recodings and two tables have none."""
    if recoding.levels is not None or recoding.group is not None:
        return []
    form = policy.publish.ranges
    ranges = tuple(column.name for column in policy.quasi if isinstance(column.hierarchy, Ranges))
    sets = tuple(column.name for column in policy.quasi if isinstance(column.hierarchy, Sets))
    found = [Telling(form, ranges, RANGES[form]), Telling("sets", sets, SETS)]
    return [telling for telling in found if telling.columns]
