"""All that is measured of a publication: what it cost, who can be found, and what adversaries learn."""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from sfumato.masking import MaskingFigures, measure_masking
from sfumato.publish.publication import Publication
from sfumato.risk import DEFAULT_K, PersonRisk, ProsecutorRisk, measure_person_risk, measure_prosecutor_risk, required_k
from sfumato.split import Tie, measure_ties, tables_from_recoding
from sfumato.utility import Utility, measure
from sfumato.utility.aggregation_error import measure_aggregation

if TYPE_CHECKING:
    from sfumato.attack.all_attacks import Attacks
    from sfumato.report.report_figures import ReportFigures


class Assessment:
    """The measures of a publication, each worked out once, when it is first asked for."""

    def __init__(self, publication: Publication) -> None:
        self.publication = publication

    @cached_property
    def utility(self) -> Utility:
        """What it cost."""
        encoded, recoding = self.publication.encoded, self.publication.recoding
        aggregation = measure_aggregation(encoded, recoding, self.publication.policy)
        return replace(measure(encoded, recoding), aggregation=aggregation)

    @cached_property
    def masking(self) -> MaskingFigures:
        """What masking changed, and what of the noise can be taken off; nothing where no column is masked."""
        masked = self.publication.masked
        return MaskingFigures({}) if masked is None else measure_masking(masked)

    @cached_property
    def ties(self) -> dict[str, Tie]:
        """Of two tables: how much of each sensitive column's tie to the rows is left; nothing for one table."""
        if not self.publication.split:
            return {}
        return measure_ties(tables_from_recoding(self.publication.encoded, self.publication.recoding).bags)

    @cached_property
    def risk(self) -> ProsecutorRisk:
        """The re-identification risk that is left."""
        return measure_prosecutor_risk(self.publication.recoding.classes)

    @cached_property
    def persons(self) -> PersonRisk | None:
        """The risk by person, measured with the policy's largest k or 5; ``None`` where no column names persons."""
        classes = self.publication.recoding.classes
        if classes.individuals is None:
            return None
        return measure_person_risk(classes, required_k(self.publication.policy.privacy) or DEFAULT_K)

    @cached_property
    def attacks(self) -> "Attacks":
        """What adversaries can do with it, tried with little effort."""
        from sfumato.attack.all_attacks import try_all_attacks  # noqa: PLC0415 - not before a release is written

        return try_all_attacks(self.publication)

    @cached_property
    def figures(self) -> "ReportFigures":
        """What its columns look like beside those that came in."""
        from sfumato.report.report_figures import measure_figures  # noqa: PLC0415 - not before a release is written

        return measure_figures(self.publication)
