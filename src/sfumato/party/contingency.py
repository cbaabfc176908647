"""A contingency table over the rows of all parties: how many people have which values, and nobody's own counts.

The values of the columns are public, or found by a secure union first, so that every party has the same cells in the
same order. Each counts its own rows, and the counts are added: by a secure sum, or, with a least count, as shares of
which only the large ones are opened (`gated_sums`), so that nobody learns a small cell. No marginal is given, since a
withheld cell would follow from it. A second task over fewer columns gives marginals, though, and so does what a reader
knows from elsewhere: what is withheld is so in one table, and not in several. Who wants no cell ever to be worked out
asks for the whole table or nothing (``whole = true``): then nothing is opened where a cell is too small.

Adversary: semi-honest. The counts are additive, so that n - 1 of n parties learn those of the last from the result.
Beyond it all parties learn which cells are large enough, where a least count is asked for; the two of `gated_sums`
would learn the others if they colluded. The sums are those of Bonawitz et al. 2017, or shares that are compared (Garay
et al. 2007).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PolicyError, RunAborted
from sfumato.party.agreed_values import agree_on_values
from sfumato.party.gated_sums import open_large_sums, read_min_count
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.public_domains import HeldValues, ValueList, read_columns, read_domains, stated_domains
from sfumato.party.secure_sum import check_counts, secure_count
from sfumato.policy.section import Section

_MOST_COLUMNS = 4
_MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class ContingencyTask(PartyTask):
    """Count the rows of all parties by the values of one to four columns: a line per cell, None where it is withheld.

    `min_count`, where it is not 0, is the least count that is told; `whole` tells all of the table or nothing.
    """

    kind: ClassVar[str] = "contingency"
    keys: ClassVar[tuple[str, ...]] = ("columns", "values", "min_count", "whole", "most_items")
    result_to: tuple[str, ...]
    domains: tuple[ValueList, ...]
    min_count: int = 0
    whole: bool = False
    most_items: int | None = None

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        del parties
        columns = read_columns(section, most=_MOST_COLUMNS)
        if "count" in columns:
            raise PolicyError(
                "a column named count would stand beside the counts; rename it", key=section.path("columns")
            )
        domains = tuple(domain for domain in read_domains(section, columns) if isinstance(domain, ValueList))
        known = [len(domain.values) for domain in domains if domain.values is not None]
        if math.prod(known) > _MOST_CELLS:
            raise PolicyError(
                f"these values make {math.prod(known):,} cells, and the most are {_MOST_CELLS:,}; leave out a column",
                key=section.path("columns"),
            )
        least, whole = read_min_count(section), section.flag("whole", default=False)
        if whole and not least:
            raise PolicyError("goes with min_count, which says which cells are too small", key=section.path("whole"))
        return cls(result_to, domains, least, whole, section.whole_number("most_items"))

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what the counts protect from whom."""
        learned = [stated_domains(self.domains, parties, self.most_items)]
        if self.min_count:
            one, other = parties[:2]
            learned.append(
                f"All parties learn which cells count at least {self.min_count}. {one} and {other} hold the counts "
                "between them, and would learn the withheld ones if they colluded."
            )
            learned.append(
                "Nothing protects a withheld cell from being worked out with marginals from elsewhere, or from another "
                "task over some of these columns."
                + ("" if self.whole else " whole = true tells the table only if no cell is withheld.")
            )
        return ProtocolStatement(
            SEMI_HONEST,
            "they learn the last party's counts of the cells that are told, since the result less their own is that.",
            " ".join(filter(None, learned)) or "Nothing.",
            "additive secret sharing, and the comparison of shares by Garay, Schoenmakers and Villegas, PKC 2007"
            if self.min_count
            else "secure sum by pairwise masks (Bonawitz et al., CCS 2017)",
        )

    def prepare(self, me: str, table: PartyTable) -> tuple[HeldValues, ...]:
        """Take the columns; a value that the task does not have is refused here, and nobody else hears of it."""
        del me
        return tuple(domain.hold(table) for domain in self.domains)

    def run(self, session: PartySession, prepared: Sequence[HeldValues]) -> Any:
        """Count, and add up what all parties counted."""
        values = agree_on_values(session, self.domains, prepared, step="contingency", most_items=self.most_items)
        shape = tuple(map(len, values))
        cells = math.prod(shape)
        if cells > _MOST_CELLS:
            raise RunAborted(
                f"the values of all parties make {cells:,} cells, and the most are {_MOST_CELLS:,}; leave out a column"
            )
        codes = [held.codes_among(known) for held, known in zip(prepared, values, strict=True)]
        counts = np.bincount(np.ravel_multi_index(codes, shape), minlength=cells) if cells else np.zeros(0, np.int64)
        shown, total = np.ones(cells, dtype=bool), None
        if not self.min_count:
            total = secure_count(session, counts, step="contingency", to=self.result_to)
        elif self.whole:
            shown, total = self._open_whole(session, counts)
        else:
            shown, opened = open_large_sums(
                session, counts, counts[:, None], least=self.min_count, step="contingency", to=self.result_to
            )
            if opened is not None:
                check_counts(opened[:, 0], np.maximum(counts[shown], self.min_count))
                total = _spread(opened[:, 0], shown)
        if total is None:
            return None
        names = [domain.column for domain in self.domains]
        places = zip(*(axis.tolist() for axis in np.unravel_index(np.arange(cells), shape)), strict=True)
        return [
            {name: known[code] for name, known, code in zip(names, values, place, strict=True)}
            | {"count": count if told else None}
            for place, count, told in zip(places, total.tolist(), shown.tolist(), strict=True)
        ]

    def _open_whole(
        self, session: PartySession, counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64] | None]:
        """Open every count if each is large enough, and none otherwise."""
        large, _ = open_large_sums(
            session, counts, np.zeros((len(counts), 0), dtype=np.int64), least=self.min_count, step="contingency", to=()
        )
        if not large.all():
            return np.zeros(len(counts), dtype=bool), (np.zeros_like(counts) if session.me in self.result_to else None)
        return large, secure_count(session, counts, step="contingency/whole", to=self.result_to)


def _spread(opened: NDArray[np.int64], shown: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Put what was opened into its places, and 0 into the others."""
    total = np.zeros(len(shown), dtype=np.int64)
    total[shown] = opened
    return total
