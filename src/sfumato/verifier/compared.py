"""A sensitive column ready to be compared: its counts per class beside what is known of the whole table."""

from dataclasses import dataclass

from sfumato.verifier.counts import Counts
from sfumato.verifier.promise import Needs


@dataclass(frozen=True)
class Compared:
    """A sensitive column: its counts per class, and what is known of the whole table."""

    counts: Counts
    column: str
    pairs: str
    needs: Needs
    whole: str
    limit: float

    @property
    def joined(self) -> str:
        """The pairs with the whole table's line of the same value; classes with a value from nowhere left out."""
        strange = f"SELECT id FROM {self.pairs} p ANTI JOIN {self.whole} w ON w.v IS NOT DISTINCT FROM p.v"
        return (
            f"(SELECT p.id, p.n, p.r, p.r / p.n AS p, w.* FROM {self.pairs} p "
            f"JOIN {self.whole} w ON w.v IS NOT DISTINCT FROM p.v WHERE p.id NOT IN ({strange}))"
        )
