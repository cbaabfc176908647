"""A publication: what is published of a table, with the table, the policy and the recoding that it came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sfumato.encode import EncodedTable
from sfumato.masking import MaskedTable
from sfumato.policy import Policy
from sfumato.policy.column_masks import ColumnMasks
from sfumato.publish.extension import Extension
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.written_table import WrittenTable
from sfumato.recode import Recoding
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.previous import LinkedReleases


class RowsElsewhere(Protocol):
    """The rows of a publication where they are not in memory: an engine has them, and writes them."""

    @property
    def memory(self) -> int:
        """How many bytes may be used besides."""
        ...

    def write(self, name: str, path: Path) -> WrittenTable:
        """Write the table of this name, under the path with the ending of its format."""
        ...

    def under(self, policy: Policy) -> "RowsElsewhere":
        """The same rows, to be written as another policy says."""
        ...

    def frame_folder(self) -> Path | None:
        """A new folder for files that a frame is read from; nothing where who has the rows has no frames."""
        ...

    def read_frame(self, path: Path) -> Any:
        """A frame of the rows of written files."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Publication:
    """Published tables that nobody has verified yet, and all that they came from.

    `tables` are the published tables by the name of their file. `seconds` says how long each step took.
    `repeated_identifiers` are columns of identifiers that name somebody in several rows, with the rows for each value.
    `linked_releases` are the earlier releases, where a requirement is about the join with them. `extension` says which
    releases it adds rows to, where its labels are theirs. `masked` is the table whose columns are masked, which all
    but `source` was made of; `source` has the true values. `rows_elsewhere` is there where an engine has the rows, and
    `tables` have counted lines in place of them.
    """

    policy: Policy
    source: Table
    encoded: EncodedTable
    recoding: Recoding
    tables: Mapping[str, PublishedTable]
    input_digest: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    repeated_identifiers: Mapping[str, float] = field(default_factory=dict)
    linked_releases: "LinkedReleases | None" = None
    extension: Extension | None = None
    masked: MaskedTable | None = None
    rows_elsewhere: "RowsElsewhere | None" = None

    def __repr__(self) -> str:
        """In one line, and without a row: what is printed or logged may go anywhere."""
        classes, algorithm = len(self.recoding.classes), self.recoding.algorithm
        return f"<Publication of {self.rows:,} rows in {classes:,} classes by {algorithm}>"

    @property
    def rows(self) -> int:
        """Published rows."""
        return next(iter(self.tables.values())).rows

    @property
    def input_rows(self) -> int:
        """Rows that came in, those included that no hierarchy knows."""
        return self.encoded.rows + (self.extension.set_aside if self.extension else 0)

    @property
    def suppressed(self) -> int:
        """Rows that are not published."""
        return self.recoding.suppressed + (self.extension.set_aside if self.extension else 0)

    @property
    def masks(self) -> dict[str, ColumnMasks]:
        """The masks of published columns, in the order of the policy; nothing where no column is masked."""
        return {column.name: column.masks for column in self.policy.masked}

    @property
    def split(self) -> bool:
        """Whether two tables are published in place of one."""
        return self.policy.publish.split

    @property
    def why_suppressed(self) -> str | None:
        """Why rows are not published, in words; nothing where all are."""
        if not self.suppressed:
            return None
        if self.extension is not None:
            return f"of the further rows, {'; '.join(self.extension.left_out.sentences())}"
        if self.recoding.algorithm == "anatomy":
            return "rows of sensitive values that are more frequent than the buckets allow"
        if self.recoding.local:
            return "rows that kept the others from a requirement, or cost them more than they tell"
        return "rows of classes that did not meet every requirement"

    @property
    def protected_unit(self) -> str:
        """What is protected, and what k counts: a row, or a person where a column names persons."""
        return "row" if self.encoded.individual is None else "person"

    @property
    def why_rows_part(self) -> str | None:
        """Why rows of a person with equal quasi-identifiers may be in several classes, and the way out, in words."""
        if self.policy.individual is None:
            return None
        if self.policy.publish.form == "anatomy":
            return 'anatomy deals a person\'s rows out one by one: [publish] form = "lossy-join" keeps them together'
        if not self.policy.search.keep_together:
            return (
                "keep_together = false lets equal rows of a person go different ways: leave it out, or ask for linked_k"
            )
        return None
