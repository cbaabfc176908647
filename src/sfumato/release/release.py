"""Release: a verified publication, in memory or in a folder."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.encode import EncodedTable
from sfumato.errors import InputError, NotVerified
from sfumato.policy import Policy
from sfumato.recode import Recoding
from sfumato.release import manifest, previous
from sfumato.release.audit import audit
from sfumato.release.concluding import conclude, measure_all, write_json
from sfumato.release.folder import staged
from sfumato.release.key_file import check_apart
from sfumato.release.promised import promise
from sfumato.release.published import Published
from sfumato.release.tables import class_id, layout
from sfumato.release.timing import timed
from sfumato.release.warnings import warnings
from sfumato.risk import DEFAULT_K, PersonRisk, ProsecutorRisk, measure_person_risk, measure_prosecutor_risk, required_k
from sfumato.split import Tie, measure_ties, tables_from_recoding
from sfumato.table import Table
from sfumato.utility import Utility, measure
from sfumato.verifier import Verdict, verify, verify_accounts, verify_table, verify_tables

if TYPE_CHECKING:
    from sfumato.previous import LinkedReleases
    from sfumato.release.attacks import Attacks
    from sfumato.release.seen.figures import Figures


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """What is published of a table, and the account of it.

    `table`, or `nss` and `ss` where the form is of two tables, are of the kind that came in. Nobody gets to see them
    before the verifier has passed them. `tables` are all of them by the name of their file. `repeats` are identifiers
    that name somebody in several rows, with the rows for each value. `star` has the earlier releases, where a
    requirement is about the join with them.
    """

    policy: Policy
    source: Table
    encoded: EncodedTable
    recoding: Recoding
    tables: Mapping[str, Published]
    input_digest: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    repeats: Mapping[str, float] = field(default_factory=dict)
    star: "LinkedReleases | None" = None

    def __repr__(self) -> str:
        """In one line, and without a row: what is printed or logged may go anywhere."""
        return f"<Release of {self.rows:,} rows in {len(self.recoding.classes):,} classes by {self.recoding.algorithm}>"

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
        apart = layout(self.policy, self.source.arrow.column_names)
        return {names[0]: self._native(file) for file, names in apart.items() if file != "nss"}

    @cached_property
    def verdict(self) -> Verdict:
        """What the verifier found in the published tables."""
        asked = promise(self.encoded, self.policy, self.recoding, self.star)
        first, *others = (table.arrow for table in self.tables.values())
        if not others:
            return _passed(verify_table(first, asked))
        return _passed(verify_tables(first, others, asked, class_id(self.policy)))

    def _native(self, file: str) -> Any:
        if file not in self.tables:
            has = "nss and ss" if self.policy.publish.split else "table"
            raise InputError(f"a release of the form {self.policy.publish.form} has no {file}; it has {has}")
        self.verdict  # noqa: B018 - the verifier speaks first, or raises
        return self.tables[file].native()

    @property
    def privacy(self) -> list[dict[str, Any]]:
        """Each requirement with what holds, as the verifier found it."""
        return [finding.as_json() for finding in self.verdict.privacy]

    @cached_property
    def utility(self) -> Utility:
        """What it cost."""
        return measure(self.encoded, self.recoding)

    @cached_property
    def ties(self) -> dict[str, Tie]:
        """Of two tables: how much of each sensitive column's tie to the rows is left; nothing for one table."""
        return measure_ties(tables_from_recoding(self.encoded, self.recoding).bags) if self.policy.publish.split else {}

    @cached_property
    def risk(self) -> ProsecutorRisk:
        """The re-identification risk that is left."""
        return measure_prosecutor_risk(self.recoding.classes)

    @cached_property
    def persons(self) -> PersonRisk | None:
        """The risk by person, measured with the policy's largest k or 5; ``None`` where no column names persons."""
        if self.recoding.classes.individuals is None:
            return None
        return measure_person_risk(self.recoding.classes, required_k(self.policy.privacy) or DEFAULT_K)

    @cached_property
    def attacks(self) -> "Attacks":
        """What adversaries can do with it, tried with little effort."""
        from sfumato.release.attacks import attacked  # noqa: PLC0415 - not needed before a release is written

        return attacked(self)

    @cached_property
    def figures(self) -> "Figures":
        """What its columns look like beside those that came in, for the report."""
        from sfumato.release.seen.figures import figures_of  # noqa: PLC0415 - not needed before a release is written

        return figures_of(self)

    @cached_property
    def warnings(self) -> list[str]:
        """What the data holder should know before it leaves the house, a sentence each."""
        return warnings(self)

    @property
    def rows(self) -> int:
        """Published rows."""
        return next(iter(self.tables.values())).rows

    @property
    def suppressed(self) -> int:
        """Rows that are not published."""
        return self.recoding.suppressed

    @property
    def levels(self) -> Mapping[str, int] | None:
        """The level of each quasi-identifier, where the algorithm is a full-domain one."""
        return self.recoding.levels

    def save(self, folder: str | Path, *, force: bool = False, before: Callable[[Path], object] | None = None) -> Path:
        """Write the release folder: whole and verified, or not at all.

        `before` is called with the complete folder before it appears under its name, and may still refuse it.
        """
        target = Path(folder)
        check_apart(self.policy, target)
        with staged(target, force=force) as stage:
            self._write(stage)
            if before is not None:
                before(stage)
        return target

    def _write(self, stage: Path) -> None:
        """Table and accounts, the verdict on them, and the accounts again with the verdict's figures.

        Attacks are tried and figures worked out by the way: writing and verifying leave a processor idle.
        """
        with ThreadPoolExecutor(1) as pool:
            self._written(stage, pool.submit(measure_all, self))

    def _written(self, stage: Path, measured: Future[Any]) -> None:
        public, private = stage / "public", stage / "private"
        public.mkdir()
        private.mkdir(mode=0o700)
        with timed(self.seconds, "write"):
            files = {file: self._write_table(table, public / file) for file, table in self.tables.items()}
            account = manifest.draft(self.tables, self.recoding, self.policy, files)
            account |= previous.public(self.star, self.recoding)
            record = audit(
                self.encoded, self.recoding, self.policy, utility=self.utility, input_digest=self.input_digest
            )
            record |= previous.private(self.star)
            write_json(public / "manifest.json", account)
            write_json(private / "audit.json", record)
        with timed(self.seconds, "verify"):
            self.__dict__["verdict"] = _passed(verify(stage))
        with timed(self.seconds, "write"):
            measured.result()
            conclude(self, stage, account, record)
        _passed(verify_accounts(stage, self.verdict))

    def _write_table(self, table: Published, path: Path) -> Path:
        if self.policy.publish.format == "parquet":
            from sfumato.release.parquet_file import write_parquet  # noqa: PLC0415 - only for Parquet

            write_parquet(table, path := path.with_name(f"{path.name}.parquet"))
            return path
        from sfumato.release.csv_file import write_csv  # noqa: PLC0415 - only for CSV

        write_csv(table, path := path.with_name(f"{path.name}.csv"), null=manifest.written_null(self.policy))
        return path


def _passed(verdict: Verdict) -> Verdict:
    """A verdict that is good, or a refusal: this is the gate."""
    if not verdict.satisfied:
        raise NotVerified(
            f"the verifier does not pass the release, so nothing was written: {'; '.join(verdict.complaints)}"
        )
    return verdict
