"""All that is measured of drawn rows: how like the original they are, how near to it, and what to look out for."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from sfumato.condense.half_draw import HalfDraw, draw_from_half
from sfumato.condense.mixed_columns import UNTOLD
from sfumato.errors import listing, quote
from sfumato.masking import MaskingFigures, measure_masking
from sfumato.page.wording import percent, plural
from sfumato.policy import Role
from sfumato.publish.drawn_publication import DrawnPublication
from sfumato.risk.closest_rows import ClosestRows, measure_closest_rows
from sfumato.utility.learned_classes import learn_classes
from sfumato.utility.likeness import ComparedColumn, Likeness, compare_values, measure_likeness

_MUCH_UNTOLD = 0.05
"""A column of which a larger share of cells is not told as it was draws a warning."""


class DrawnAssessment:
    """The measures of drawn rows, each worked out once, when it is first asked for."""

    def __init__(self, publication: DrawnPublication) -> None:
        self.publication = publication

    @cached_property
    def compared(self) -> list[ComparedColumn]:
        """Each column before and after."""
        publication, after = self.publication, self.publication.table.arrow
        return [
            compare_values(
                column.name,
                publication.original.arrow.column(column.name),
                after.column(column.name),
                column.kind,
                publication.policy.columns[column.name],
            )
            for column in publication.mixed.columns
        ]

    @cached_property
    def likeness(self) -> Likeness:
        """How like the original the drawn rows are, and what classifiers learn from them."""
        found, learned = measure_likeness(self.compared), learn_classes(self.publication.mixed, self.half)
        return replace(found, learned=learned.classes, unlearned=learned.reason)

    @cached_property
    def masking(self) -> MaskingFigures:
        """What masking changed before rows were drawn; nothing where no column is masked."""
        masked = self.publication.masked
        return MaskingFigures({}) if masked is None else measure_masking(masked)

    @cached_property
    def half(self) -> HalfDraw | None:
        """Rows drawn from half of the table, beside both halves; none where there are too few rows."""
        publication = self.publication
        return draw_from_half(publication.mixed, publication.k, publication.policy.search)

    @cached_property
    def closest(self) -> ClosestRows | None:
        """How near drawn rows are to those they come from, against others."""
        return None if self.half is None else measure_closest_rows(self.half)

    def likeness_lines(self) -> list[tuple[str, str]]:
        """The figures in words, a name and a figure each."""
        lines = self.likeness.lines()
        if self.closest is not None:
            lines.append(("nearest original, against a hold-out", f"{self.closest.ratio:.2f}"))
        return lines

    @cached_property
    def warnings(self) -> list[str]:
        """What the data holder should know before the rows leave the house, a sentence each."""
        publication = self.publication
        sentences = [*publication.source.warnings]
        if publication.repeated_identifiers:
            repeated = listing(list(publication.repeated_identifiers))
            sentences.append(
                f"identifiers name somebody in several rows ({repeated}), and k counts rows: give the column that "
                "names "
                'persons role = "individual", so that it counts people'
            )
        if dominated := self._count_dominated():
            sentences.append(
                f"in {plural(dominated, 'group')} one person has more than half of the rows, and so most of what is "
                "drawn from: k counts persons, and means count rows; take one row of each person, or a mean of them"
            )
        for column in publication.mixed.columns:
            untold = float((column.codes == UNTOLD).mean())
            label = column.labels[column.width - 1].as_py() if column.generalized else None
            if untold > _MUCH_UNTOLD or (column.generalized and column.width == 1 and label == "*"):
                share = percent(untold) if untold else "all"
                way = 'role "quasi" and a hierarchy' if column.role is Role.PLAIN else "a hierarchy"
                sentences.append(
                    f"in column {quote(column.name)}, {share} of the cells hold a value that fewer than "
                    f"{publication.k:,} {publication.protected_unit} share, and are told less exactly: give it {way} "
                    "(one of dates, with their format, where it holds dates not written as 2024-12-31), or say that it "
                    "is an identifier"
                )
        sentences += self.masking.warnings()
        closest = self.closest
        if closest is not None and closest.near:
            sentences.append(
                f"drawn rows are nearer to the rows they come from than to others ({closest.ratio:.2f} of the distance "
                "to a hold-out): raise k or neighbours, or add noise"
            )
        if publication.policy.search.seed is not None:
            sentences.append(
                "a seed was used, so that whoever knows it can tell which group a row was drawn for: do not publish "
                "this release; leave the seed out"
            )
        return sentences

    def _count_dominated(self) -> int:
        """Count the groups in which one person has more than half of the rows."""
        persons, condensed = self.publication.mixed.persons, self.publication.condensed
        if persons is None:
            return 0
        width = int(persons.max(initial=0)) + 1
        pairs, rows = np.unique(condensed.members * width + persons, return_counts=True)
        return len(np.unique((pairs // width)[2 * rows > condensed.sizes[pairs // width]]))

    @cached_property
    def sizes(self) -> str:
        """The sizes of the groups, in words."""
        sizes = self.publication.condensed.persons
        groups = f"{plural(len(sizes), 'group')} of {int(sizes.min()):,} to {int(sizes.max()):,}"
        return f"{groups}, {np.mean(sizes):,.1f} on average"
