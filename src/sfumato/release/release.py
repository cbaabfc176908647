"""Release: a publication that the verifier has passed, or will before anybody sees it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.encode import EncodedTable
from sfumato.errors import InputError, listing, quote
from sfumato.hierarchy import Intervals, Ranges
from sfumato.masking import MaskingFigures
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import chance, keys, percent, plural
from sfumato.policy import Policy, Role
from sfumato.publish.extension import LeftOut
from sfumato.publish.numeric_columns import label_intervals
from sfumato.publish.publication import Publication
from sfumato.publish.published_table import PublishedTable, table_layout
from sfumato.publish.signing_key import SigningKey, choose_signing_key
from sfumato.recode import Recoding
from sfumato.release.folder import Stage
from sfumato.release.verification import verify_publication
from sfumato.release.warnings import release_warnings
from sfumato.release.write_release import write_release
from sfumato.report.assessment import Assessment
from sfumato.risk import PersonRisk, ProsecutorRisk
from sfumato.split import Tie
from sfumato.table import Table
from sfumato.utility import Utility
from sfumato.verifier import Verdict

if TYPE_CHECKING:
    from sfumato.attack.all_attacks import Attacks
    from sfumato.report.report_figures import ReportFigures


class Release(Shown):
    """What is published of a table, and the account of it.

    `table`, or `nss` and `ss` where the form is of two tables, are of the kind that came in. Nobody gets to see them
    before the verifier has passed them: it looks at the tables in memory when they are first asked for, unless it has
    spoken already, and at the files when a release is saved. `publication` holds the published tables with the table,
    policy and recoding that they came from; `seconds` says how long each step took. `mishaps` are what went wrong after
    its folder had appeared, a sentence each: none of it takes the release back. `folder` is where it was saved last.
    """

    def __init__(self, publication: Publication, verdict: Verdict | None = None) -> None:
        self.publication = publication
        self.assessment = Assessment(publication)
        self.seconds = dict(publication.seconds)
        self.mishaps: list[str] = []
        self.folder: Path | None = None
        self._stages: list[Stage] = []
        self._frames: Path | None = None
        self._verdict = verdict
        self._attacks: Attacks | None = None

    def __repr__(self) -> str:
        """In one line, and without a row: what is printed or logged may go anywhere."""
        return f"<Release of {self.rows:,} rows in {len(self.recoding.classes):,} classes by {self.recoding.algorithm}>"

    def display(self) -> Display:
        """Show what was promised, what holds and what it cost: figures, and no row."""
        findings = [
            (one["model"], keys(one["required"]), keys(one["achieved"]), "yes" if one["satisfied"] else "no")
            for one in self.privacy
        ]
        costs = [(name, percent(part.ncp), f"{part.labels:,}") for name, part in self.utility.attributes.items()]
        title = f"release of {self.rows:,} rows in {len(self.recoding.classes):,} classes by {self.recoding.algorithm}"
        tables = [
            FigureTable(("promise", "asked", "holds", "met"), findings),
            FigureTable(("column", "lost (NCP)", "labels"), [*costs, ("in total", percent(self.utility.ncp), "")]),
        ]
        dropped = [f"{plural(self.suppressed, 'row is', 'rows are')} not published"] if self.suppressed else []
        return Display(title, tables, [*dropped, f"highest chance of a row being found: {chance(self.risk.highest)}"])

    @cached_property
    def table(self) -> Any:
        """The published table, as the kind that came in; a release of two tables has `nss` and `ss`."""
        return self._native("table")

    @cached_property
    def nss(self) -> Any:
        """The quasi-identifiers with their classes, of a release of two tables."""
        return self._native("nss")

    @cached_property
    def ss(self) -> Any:
        """The sensitive values with their classes; by column, where each column has a table of its own."""
        if "ss" in self.tables or not self.policy.publish.split:
            return self._native("ss")
        layout = table_layout(self.policy, self.source.arrow.column_names)
        return {names[0]: self._native(file) for file, names in layout.items() if file != "nss"}

    @property
    def synthetic(self) -> Any:
        """The rows of a release of drawn rows, which is a `DrawnRelease`; this one has rows of people."""
        return self._native("synthetic")

    @property
    def uncertain(self) -> Any:
        """The records of a release of densities, which is an `UncertainRelease`; this one has rows of people."""
        return self._native("uncertain")

    def intervals(self, column: str) -> Any:
        """The ranges of a column of numbers as a pandas Series of `pandas.Interval`, in the order of `table`.

        Ends that are open are infinite, and a missing value is missing. Other columns than quasi-identifiers with
        intervals or ranges have none.
        """
        rules = self.policy.columns.get(column)
        if rules is None or rules.role is not Role.QUASI or not isinstance(rules.hierarchy, Intervals | Ranges):
            numbers = [one.name for one in self.policy.quasi if isinstance(one.hierarchy, Intervals | Ranges)]
            has = f"it has them of {listing(numbers)}" if numbers else "it has none of any column"
            raise InputError(f"the release has no ranges of numbers of {quote(column)}; {has}")
        if self.policy.publish.split:
            raise InputError("a release of two tables has numbers as they are, and no ranges")
        self._verify()
        return label_intervals(self.tables["table"], column, whole=rules.hierarchy.is_whole)

    @property
    def verdict(self) -> Verdict:
        """What the verifier found in the published tables."""
        return self._verify()

    def _native(self, file: str) -> Any:
        if file not in self.tables:
            has = "nss and ss" if self.policy.publish.split else "table"
            raise InputError(f"a release of the form {self.policy.publish.form} has no {file}; it has {has}")
        if self.publication.rows_elsewhere is not None:
            return self._read_elsewhere(file)
        self._verify()
        return self.tables[file].native()

    def _read_elsewhere(self, file: str) -> Any:
        """Give a frame of the files that the engine writes: they are verified, and are what the frame is read from."""
        rows = self.publication.rows_elsewhere
        folder = None if rows is None else rows.frame_folder()
        if rows is None or folder is None:
            raise InputError("the rows of this release are in no frame; save it, and read its files")
        if self._frames is None:
            policy = replace(self.policy, publish=replace(self.policy.publish, format="parquet", to=None))
            publication = replace(self.publication, policy=policy, rows_elsewhere=rows.under(policy))
            self._verdict, self._attacks = write_release(
                Assessment(publication), folder, dict(self.seconds), before=lambda _: None
            )
            self._frames = folder
        found = [*self._frames.glob(f"public/{file}.parquet"), self._frames / "public" / file]
        return rows.read_frame(found[0])

    def _verify(self) -> Verdict:
        """Let the verifier look at the tables, unless it has spoken; raise where it does not pass them."""
        if self._verdict is None:
            self._verdict = verify_publication(self.publication)
        return self._verdict

    @property
    def privacy(self) -> list[dict[str, Any]]:
        """Each requirement with what holds, as the verifier found it."""
        return [finding.as_json() for finding in self.verdict.privacy]

    @property
    def utility(self) -> Utility:
        """What it cost."""
        return self.assessment.utility

    @property
    def masked(self) -> MaskingFigures:
        """What masking changed in each masked column, and what of the noise can be taken off; false where none is."""
        return self.assessment.masking

    @property
    def ties(self) -> dict[str, Tie]:
        """Of two tables: how much of each sensitive column's tie to the rows is left; nothing for one table."""
        return self.assessment.ties

    @property
    def risk(self) -> ProsecutorRisk:
        """The re-identification risk that is left."""
        return self.assessment.risk

    @property
    def persons(self) -> PersonRisk | None:
        """The risk by person, measured with the policy's largest k or 5; ``None`` where no column names persons."""
        return self.assessment.persons

    @property
    def attacks(self) -> "Attacks":
        """What adversaries can do with it, tried with little effort."""
        return self._attacks or self.assessment.attacks

    @property
    def figures(self) -> "ReportFigures":
        """What its columns look like beside those that came in, for the report."""
        return self.assessment.figures

    @cached_property
    def warnings(self) -> list[str]:
        """What the data holder should know before it leaves the house, a sentence each."""
        return release_warnings(self.publication, self.persons, self.masked)

    @property
    def is_out(self) -> bool:
        """Whether its folder has appeared, however `save` ended; only what certainly did not appear is not out."""
        return any(stage.is_out for stage in self._stages)

    @property
    def rows(self) -> int:
        """Published rows."""
        return self.publication.rows

    @property
    def suppressed(self) -> int:
        """Rows that are not published."""
        return self.publication.suppressed

    @property
    def left_out(self) -> LeftOut:
        """Further rows that are not published, by reason; none where the release adds rows to no other."""
        extension = self.publication.extension
        return LeftOut() if extension is None else extension.left_out

    @property
    def levels(self) -> Mapping[str, int] | None:
        """The level of each quasi-identifier, where the algorithm is a full-domain one."""
        return self.recoding.levels

    @property
    def policy(self) -> Policy:
        """The policy that it was made under."""
        return self.publication.policy

    @property
    def source(self) -> Table:
        """The table that came in."""
        return self.publication.source

    @property
    def encoded(self) -> EncodedTable:
        """The table that came in, as integers."""
        return self.publication.encoded

    @property
    def recoding(self) -> Recoding:
        """The labels and the class of every row, and which rows are suppressed."""
        return self.publication.recoding

    @property
    def tables(self) -> Mapping[str, PublishedTable]:
        """The published tables by the name of their file."""
        return self.publication.tables

    @property
    def repeats(self) -> Mapping[str, float]:
        """Identifiers that name somebody in several rows, with the rows for each value."""
        return self.publication.repeated_identifiers

    @property
    def input_digest(self) -> str | None:
        """SHA-256 of the file that the rows came from; none where they did not come from a file."""
        return self.publication.input_digest

    @property
    def signed_by(self) -> str | None:
        """The fingerprint of the key that it was signed with when it was saved; ``None`` where it was not."""
        return None if self._verdict is None else self._verdict.signed_by

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        before: Callable[[Path], object] | None = None,
        sign: str | Path | SigningKey | None = None,
    ) -> Path:
        """Write the release folder: whole and verified, or not at all.

        `before` is called with the complete folder before it appears under its name, and may still refuse it. What goes
        wrong once it has appeared is not raised: it is added to `mishaps`. `sign` is a private key, or its file, to
        sign it with, in place of the policy's ``[publish] sign``.
        """
        extension = self.publication.extension
        if extension is not None and any(release.public is None for release in extension.releases):
            raise InputError("the release that it adds rows to has no folder yet; save that, and apply it again")
        target, key = Path(folder), choose_signing_key(self.policy, sign)
        self._stages = []

        def look_at(stage: Stage) -> None:
            if before is not None:
                before(stage.path)
            self._stages.append(stage)

        self._verdict, self._attacks = write_release(
            self.assessment, target, self.seconds, force=force, before=look_at, key=key
        )
        self.mishaps += [f"the release is out, but {mishap}" for stage in self._stages for mishap in stage.mishaps]
        self.folder = target
        return target
