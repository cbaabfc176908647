"""All that is measured of densities: who is matched with them, what they are worth, and what to look out for."""

from functools import cached_property

import numpy as np

from sfumato.core.arrays import FloatArray
from sfumato.errors import listing, quote
from sfumato.masking import MaskingFigures, measure_masking
from sfumato.page.wording import percent
from sfumato.publish.uncertain_publication import UncertainPublication
from sfumato.risk.density_linkage import DensityLinkage, measure_density_linkage
from sfumato.utility.likeness import ComparedColumn, Likeness, measure_likeness
from sfumato.utility.range_counts import RangeCounts, measure_range_counts

_WIDE = 1.0
"""Spreads above so many standard deviations of a column tell hardly anything of it."""


class UncertainAssessment:
    """The measures of densities, each worked out once, when it is first asked for."""

    def __init__(self, publication: UncertainPublication) -> None:
        self.publication = publication

    @cached_property
    def linkage(self) -> DensityLinkage:
        """How often densities are matched with their own record."""
        return measure_density_linkage(self.publication.records, self.publication.densities)

    @cached_property
    def counts(self) -> RangeCounts:
        """How far expected counts of ranges are off."""
        return measure_range_counts(self.publication.records, self.publication.densities)

    @cached_property
    def likeness(self) -> Likeness:
        """How like the true values the centres are, as if these were values."""
        records, drawn = self.publication.records, self.publication.densities
        return measure_likeness(
            [
                ComparedColumn(column.name, column.kind, column.numbers, drawn.centers[place])
                for place, column in enumerate(records.columns)
            ]
        )

    @cached_property
    def masking(self) -> MaskingFigures:
        """What masking changed before densities were made; nothing where no column is masked."""
        masked = self.publication.masked
        return MaskingFigures({}) if masked is None else measure_masking(masked)

    @property
    def spreads(self) -> FloatArray:
        """The spread of each record, in standard deviations of the columns."""
        return self.publication.densities.common

    def spread_figures(self) -> dict[str, float]:
        """Spreads in standard deviations of a column: quantiles, and the share of records that are told as they are."""
        quantiles = np.quantile(self.spreads, [0.1, 0.5, 0.9, 1.0]).tolist()
        names = ("first_decile", "median", "ninth_decile", "largest")
        return dict(zip(names, quantiles, strict=True)) | {"exact": float((self.spreads == 0).mean())}

    def lines(self) -> list[tuple[str, str]]:
        """The figures in words, a name and a figure each."""
        spreads, linkage, counts = self.spread_figures(), self.linkage, self.counts
        lines = [
            (
                "spread, in standard deviations",
                (
                    f"{spreads['median']:.3g} at the median, nine in ten below {spreads['ninth_decile']:.3g}, "
                    f"at most {spreads['largest']:.3g}"
                ),
            )
        ]
        if spreads["exact"]:
            lines.append(("told as they are, as k are equal", f"{percent(spreads['exact'])} of records"))
        lines += [
            ("matched with the own record", f"{percent(linkage.linked)} of densities by best fit"),
            ("the same, knowing all spreads", percent(linkage.informed)),
            (
                "records that fit as well as the own",
                f"{linkage.rank:,.1f} on average, {linkage.median_rank:,.0f} at the median",
            ),
            ("counts of ranges of one column", f"off by {percent(counts.one)} at the median"),
        ]
        if counts.two is not None:
            lines.append(("of two columns", f"off by {percent(counts.two)} at the median"))
        if self.likeness.correlation_error is not None:
            lines.append(("largest change of a correlation", f"{self.likeness.correlation_error:.3f}"))
        return lines

    @cached_property
    def warnings(self) -> list[str]:
        """What the data holder should know before densities leave the house, a sentence each."""
        publication, linkage = self.publication, self.linkage
        sentences = [*publication.source.warnings]
        if publication.repeated_identifiers:
            repeated = listing(list(publication.repeated_identifiers))
            sentences.append(
                f"identifiers name somebody in several rows ({repeated}), and expected anonymity counts rows: publish "
                "one row for each person"
            )
        if linkage.linked > 2 / publication.k:
            sentences.append(
                f"{percent(linkage.linked)} of densities fit their own record best, where "
                f"{percent(1 / publication.k)} would if k records fitted each alike: expected anonymity is an "
                "average; raise k, or publish generalized"
            )
        if linkage.informed > 2 * linkage.linked and linkage.informed > 2 / publication.k:
            sentences.append(
                f"who knows the spread that each true record has matches {percent(linkage.informed)} of densities with "
                'their own: write [publish] spread = "common", or raise k'
            )
        wide = float((self.spreads > _WIDE).mean())
        if wide > 0.01:
            sentences.append(
                f"{percent(wide)} of records have a spread of more than a standard deviation, and tell hardly "
                "anything: publish fewer quasi-identifiers, lower k, or leave outliers out"
            )
        for column in publication.records.columns:
            known = column.numbers[(column.codes == 0) & ~np.isnan(column.numbers)]
            values, counts = np.unique(known, return_counts=True)
            if len(values) > 1 and counts.max() > max(publication.rows / 3, publication.k):
                sentences.append(
                    f"more than a third of the rows hold one value of {quote(column.name)}, which a density smears: "
                    "name it in atoms, so that it is told as it is"
                )
        sentences += self.masking.warnings()
        if publication.policy.search.seed is not None:
            sentences.append(
                "a seed was used, so that whoever knows it can take the draw back: do not publish this release; leave "
                "the seed out"
            )
        return sentences
