"""The [data], [algorithm] and [publish] tables of a policy: where rows come from, how a release is sought, its form."""

import codecs
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sfumato.errors import PolicyError
from sfumato.policy.database_url import DatabaseUrl, TablePlace, find_place, is_url
from sfumato.policy.section import Section, require_table

DATA_KEYS = ("source", "query", "table", "sheet", "separator", "null", "encoding")
SPECIALIZATION_KEYS = ("score", "class", "next_cut", "beneficial")
CLUSTERING_KEYS = ("clustering", "strata")
DRAWING_KEYS = ("multiple", "neighbours", "noise")
ALGORITHM_KEYS = (
    *("name", "suppression", "seed", "time_limit", "metric", "improve", "keep_together"),
    *SPECIALIZATION_KEYS,
    *CLUSTERING_KEYS,
    *DRAWING_KEYS,
)
ABOUT_KEYS = ("title", "publisher", "contact", "purpose")
"""What whoever gets a release is told of it besides: keys of [publish] that change nothing in the table."""
DENSITY_KEYS = ("density", "spread")
PUBLISH_KEYS = ("form", "format", "rows_per_file", "ranges", "numeric", "ss", *DENSITY_KEYS, "sign", "to", *ABOUT_KEYS)
TO_KEYS = ("url", "table")
APPLY_KEYS = ("suppression", "promise")

FULL_DOMAIN = ("samarati", "incognito", "optimal")
"""Algorithms that publish all values of a column at one level."""
LOCAL = ("progressive", "top-down", "bottom-up", "mondrian", "mondrian-relaxed", "microaggregation")
"""Algorithms that generalize each class by itself."""
CUTS = ("tds",)
"""Algorithms that publish one cut through the hierarchy of each column."""
UNLEVELLED = ("auto", "mondrian", "mondrian-relaxed")
"""Algorithms that choose ranges and sets for columns without levels; others publish these as the value or ``*``."""
RECODERS = ("auto", *FULL_DOMAIN, *LOCAL, *CUTS)
ALGORITHMS = (*RECODERS, "anatomy", "condensation")
CLUSTERINGS = ("mdav", "v-mdav", "mondrian")
"""How rows that are near each other are put together."""
METRICS = ("ncp", "distortion", "height", "precision", "discernibility", "average-class-size", "entropy")
SCORES = ("distortion", "discernibility", "classification", "conditional")
"""What top-down specialization goes by."""
CLASSIFYING = ("classification", "conditional")
"""The scores that need a class column."""
FORMS = ("generalized", "lossy-join", "anatomy", "synthetic", "uncertain")
DRAWN_FORMS = ("synthetic", "uncertain")
"""Forms whose values are drawn: rows that are nobody's, or the centres of densities."""
FORMATS = ("csv", "csv.gz", "parquet")
TARGETS = ("postgresql", "sqlite", "duckdb")
"""Databases that a release can be put into: those that make a table within a transaction."""
RANGES = ("partition", "boxes", "means")
NUMERIC = ("label", "bounds", "midpoint")
"""What is published of ranges of numbers: the label alone, or numbers beside it."""
DENSITY_KINDS = ("gaussian", "uniform")
"""What a record is published as: a normal density, or one that is the same everywhere in a box."""
SPREADS = ("record", "common")
"""Whether each record has the spread that it needs, or all have that of the neediest."""
_LONGEST_ABOUT = 2000
SENSITIVE_TABLES = ("together", "apart")
"""Where two-table releases have their sensitive columns: in one table, or each in its own."""
APPLIED_PROMISES = ("alone", "together")
"""What has to keep the promise where further rows are published: these by themselves as well, or all rows together."""


@dataclass(frozen=True)
class DataSource:
    r"""A table, and how to read it; without a path or a URL, the caller hands it in.

    `path` is a file, a folder or a pattern of files, and `url` a database on a server. `separator` is None where the
    reader is to find it, and `null` are the cell texts read as missing. `query` or `table` say what is read of a
    database, and `sheet` what of a workbook.

    >>> DataSource(Path("adult.csv"), separator="\t").encoding
    'utf-8'
    """

    path: Path | None = None
    separator: str | None = None
    null: tuple[str, ...] = ("",)
    encoding: str = "utf-8"
    url: DatabaseUrl | None = None
    query: str | None = None
    table: str | None = None
    sheet: str | None = None

    @property
    def place(self) -> TablePlace | None:
        """Where the table is."""
        return self.url or self.path


@dataclass(frozen=True)
class AlgorithmOptions:
    """The algorithm, the largest share of rows it may drop, and the metric it minimizes.

    The share is a fraction, so that 0.1 of ten rows is one row. Without a seed, randomness is fresh. The search ends
    after `time_limit` seconds with the best that it has found, or where it is None when it is through. `keep_together`
    says whether a person's rows with equal quasi-identifiers always land in one class. `score` is what top-down
    specialization goes by, and `class_column` the column whose values are to be told from the others, for
    `classification`; with `next_cut` it tries further cuts of a range whose best one fails, and `beneficial` leaves out
    steps that gain nothing. Microaggregation and condensation put rows together by a `clustering`, within the values of
    the columns of `strata`; condensation draws `multiple` rows for each, with the spread that so many groups have
    together which are `neighbours`, and so much `noise` besides, in standard deviations of a column.

    >>> AlgorithmOptions(suppression=Fraction("0.1")).suppression * 10
    Fraction(1, 1)
    """

    name: str = "auto"
    suppression: Fraction = Fraction(0)
    seed: int | None = None
    metric: str = "ncp"
    improve: bool = True
    keep_together: bool = True
    score: str = "distortion"
    class_column: str | None = None
    next_cut: bool = False
    beneficial: bool = False
    clustering: str | None = None
    strata: tuple[str, ...] = ()
    multiple: int = 1
    neighbours: int = 1
    noise: float = 0.0
    time_limit: float | None = None


@dataclass(frozen=True)
class PublishOptions:
    """The form of the release and the format of its files.

    `rows_per_file` is how many rows each of a table's files has, the last one apart; ``None`` is one file of all rows.
    `ss` says whether two-table releases have all sensitive columns together in one table, or each apart in its own.
    `sign` is the file of the private key that the release is signed with; it is not read before a release is made.
    `to` is the table of a database that the release is put into besides.
    `numeric` says what stands beside the label of a range of numbers: nothing, its two ends, or its middle.
    Where records are densities, `density` is their kind, and `spread` says whether each has its own.
    `about` has the keys of `ABOUT_KEYS` that were given, with their texts: they go to the manifest and the summary.

    >>> PublishOptions().split, PublishOptions("lossy-join").split
    (False, True)
    """

    form: str = "generalized"
    format: str = "csv"
    ranges: str = "partition"
    ss: str = "together"
    sign: Path | None = None
    to: "DatabaseTarget | None" = None
    numeric: str = "label"
    about: tuple[tuple[str, str], ...] = ()
    density: str = "gaussian"
    spread: str = "record"
    rows_per_file: int | None = None

    @property
    def split(self) -> bool:
        """Whether two tables are published in place of one."""
        return self.form in {"lossy-join", "anatomy"}

    @property
    def drawn(self) -> bool:
        """Whether what is published is drawn: rows, or the centres of densities."""
        return self.form in DRAWN_FORMS


@dataclass(frozen=True)
class DatabaseTarget:
    """A table of a database that a release is put into; of two tables each gets a table of its own.

    >>> DatabaseTarget(DatabaseUrl.read("sqlite:///open.db"), "visits").table_name("nss")
    'visits_nss'
    """

    url: DatabaseUrl
    table: str

    def table_name(self, file: str) -> str:
        """Name the table for a published file: as the policy says where there is one, else with the file's name."""
        return self.table if file == "table" else f"{self.table}_{file}"


@dataclass(frozen=True)
class ApplyOptions:
    """How further rows are published under the labels of a release.

    `suppression` is the largest share of them that may be dropped; where it is None, that of [algorithm] counts.
    `promise` says whether the further rows have to keep the promise by themselves, or only together with those before.

    >>> ApplyOptions().promise
    'alone'
    """

    suppression: Fraction | None = None
    promise: str = "alone"


def read_data_source(value: object, *, folder: Path) -> DataSource:
    """Read the [data] table; a relative path starts at `folder`.

    >>> read_data_source({"source": "adult.csv", "encoding": "latin-1"}, folder=Path()).encoding
    'iso8859-1'
    """
    section = Section.from_value(value, "data", DATA_KEYS)
    null, source = section.texts("null"), section.text("source")
    if source == "":
        raise section.error("source", "must be the path of a file, or the URL of a database")
    place = None if source is None else find_place(source, folder=folder, key="data.source")
    url = place if isinstance(place, DatabaseUrl) else None
    chosen = {name: section.text(name) for name in ("query", "table", "sheet")}
    for name, text in chosen.items():
        if text is not None and not text.strip():
            raise section.error(name, "must not be empty")
    if chosen["query"] is not None and chosen["table"] is not None:
        raise PolicyError("stands beside table; say one of them", key="data.query")
    if url is not None and not url.is_storage and chosen["query"] is None and chosen["table"] is None:
        raise PolicyError('is of a database; say query = "select …" or table = "…" as well', key="data.source")
    return DataSource(
        path=place if isinstance(place, Path) else None,
        separator=read_separator(section),
        null=("",) if null is None else null,
        encoding=read_encoding(section),
        url=url,
        **chosen,
    )


_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_DATABASES = (".db", ".db3", ".sqlite", ".sqlite3", ".duckdb", ".ddb")


def fitting_options(options: Mapping[str, object], place: str | TablePlace) -> dict[str, object]:
    """Leave out the keys of [data] that are of another kind of table than the one at a place.

    A query is of a database and a sheet of a workbook; where the table is another one, somebody named it instead.

    >>> fitting_options({"query": "select 1", "null": ["?"]}, "sample.csv")
    {'null': ['?']}
    >>> fitting_options({"query": "select 1"}, "postgresql://host/clinic")
    {'query': 'select 1'}
    """
    name = str(place).lower()
    fits = {
        "sheet": name.endswith(_WORKBOOKS),
        "query": is_url(name) or name.endswith(_DATABASES),
        "table": is_url(name) or name.endswith(_DATABASES),
    }
    return {key: value for key, value in options.items() if fits.get(key, True)}


def read_separator(section: Section) -> str | None:
    """Read the character between two cells, or None where the reader is to find it."""
    separator = section.text("separator")
    if separator is None or (len(separator) == 1 and separator not in '"\r\n'):
        return separator
    raise section.error("separator", 'must be one character, such as ";" or "\\t"')


def read_encoding(section: Section) -> str:
    """Read the encoding, by its usual name; UTF-8 where nothing is said."""
    encoding = section.text("encoding")
    if encoding is None:
        return "utf-8"
    try:
        "a".encode(encoding)  # unlike a look-up alone, refuses the codecs that are not of text
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise section.error("encoding", 'must be an encoding such as "utf-8" or "latin-1"') from None


def read_algorithm_options(value: object) -> AlgorithmOptions:
    """Read the [algorithm] table.

    >>> read_algorithm_options({"name": "optimal", "suppression": 0.05}).suppression
    Fraction(1, 20)
    """
    section = Section.from_value(value, "algorithm", ALGORITHM_KEYS)
    class_column = section.text("class")
    return AlgorithmOptions(
        name=section.choice("name", ALGORITHMS) or "auto",
        suppression=Fraction(str(section.number("suppression", most=1) or 0)),  # as written, not as a float
        seed=section.whole_number("seed"),
        time_limit=section.number("time_limit"),
        metric=section.choice("metric", METRICS) or "ncp",
        improve=section.flag("improve", default=True),
        keep_together=section.flag("keep_together", default=True),
        score=section.choice("score", SCORES) or ("distortion" if class_column is None else "classification"),
        class_column=class_column,
        next_cut=section.flag("next_cut", default=False),
        beneficial=section.flag("beneficial", default=False),
        clustering=section.choice("clustering", CLUSTERINGS),
        strata=_read_strata(section),
        multiple=_read_amount(section, "multiple", MOST_MULTIPLE),
        neighbours=_read_amount(section, "neighbours", MOST_NEIGHBOURS),
        noise=float(section.number("noise", most=10) or 0),
    )


def _read_strata(section: Section) -> tuple[str, ...]:
    strata = section.texts("strata") or ()
    if len(set(strata)) < len(strata):
        raise section.error("strata", "must name each column once")
    return strata


MOST_MULTIPLE = 1000
MOST_NEIGHBOURS = 100


def _read_amount(section: Section, key: str, most: int) -> int:
    amount = section.whole_number(key)
    if amount is not None and not 1 <= amount <= most:
        raise section.error(key, f"must be a whole number from 1 to {most}")
    return 1 if amount is None else amount


def read_publish_options(value: object, *, folder: Path | None = None) -> PublishOptions:
    """Read the [publish] table; a relative path starts at `folder`, or where the program runs.

    >>> options = read_publish_options({"format": "parquet"})
    >>> options.form, options.format, options.ranges, options.numeric
    ('generalized', 'parquet', 'partition', 'label')
    """
    section = Section.from_value(value, "publish", PUBLISH_KEYS)
    form = section.choice("form", FORMS) or "generalized"
    sign = section.text("sign")
    if sign == "":
        raise section.error("sign", "must be the path of a file")
    return PublishOptions(
        form=form,
        format=section.choice("format", FORMATS) or "csv",
        # Two tables publish no range, so the tightest ones may decide who is in a class with whom.
        ranges=section.choice("ranges", RANGES) or ("partition" if form == "generalized" else "boxes"),
        ss=section.choice("ss", SENSITIVE_TABLES) or "together",
        sign=None if sign is None else (folder or Path()) / sign,
        to=read_target(section.table["to"], folder=folder or Path()) if "to" in section.table else None,
        numeric=section.choice("numeric", NUMERIC) or "label",
        about=_read_about(section),
        density=section.choice("density", DENSITY_KINDS) or "gaussian",
        spread=section.choice("spread", SPREADS) or "record",
        rows_per_file=_read_rows_per_file(section),
    )


FEWEST_ROWS_PER_FILE = 1000


def _read_rows_per_file(section: Section) -> int | None:
    rows = section.whole_number("rows_per_file")
    if rows is not None and rows < FEWEST_ROWS_PER_FILE:
        raise section.error("rows_per_file", f"must be a whole number of {FEWEST_ROWS_PER_FILE:,} or more")
    return rows


def read_target(value: object, *, folder: Path) -> DatabaseTarget:
    """Read the database and the table that a release is put into.

    >>> read_target({"url": "sqlite:///open.db", "table": "visits"}, folder=Path("data")).url.file
    PosixPath('data/open.db')
    """
    example = '{ url = "postgresql://host/database", table = "visits" }'
    section = Section.from_value(require_table(value, "publish.to", example=example), "publish.to", TO_KEYS)
    texts = {name: section.text(name) for name in TO_KEYS}
    for name, text in texts.items():
        if text is None:
            raise PolicyError(f"has no {name}; write to = {example}", key="publish.to")
        if not text.strip() or len(text) > _LONGEST_NAME:
            raise PolicyError(f"must be text of 1 to {_LONGEST_NAME} characters", key=f"publish.to.{name}")
    url = DatabaseUrl.read(str(texts["url"]), folder=folder, key="publish.to.url")
    if url.kind not in TARGETS:
        raise PolicyError(
            f"{url.kind} cannot make a table within a transaction, so that a failure could leave half of one; choose "
            f"{', '.join(TARGETS[:-1])} or {TARGETS[-1]}, or load the written file yourself",
            key="publish.to.url",
        )
    return DatabaseTarget(url, str(texts["table"]))


_LONGEST_NAME = 1000


def check_target_apart(source: DataSource, target: DatabaseTarget | None) -> None:
    """Refuse to put a release into a table that its rows may come from: ``--force`` would drop it.

    >>> source = read_data_source({"source": "clinic.db", "table": "visits"}, folder=Path())
    >>> check_target_apart(source, read_target({"url": "sqlite:///clinic.db", "table": "Visits"}, folder=Path()))
    Traceback (most recent call last):
    sfumato.errors.PolicyError: publish.to.table: the rows may come from this table, which would be replaced; ...
    """
    if target is None or (target.url.file is None) != (source.path is None):
        return
    # by where they lead to: a link, or a path from the root, may be the same file
    same = source.url is not None if source.path is None else _real_path(target.url.file) == _real_path(source.path)
    words = re.findall(r"\w+", f"{source.query or source.table or target.table}".casefold())
    if same and target.table.casefold().rpartition(".")[2].strip('"') in words:
        raise PolicyError(
            "the rows may come from this table, which would be replaced; choose a name that [data] does not have",
            key="publish.to.table",
        )


def _real_path(path: Path | None) -> str:
    return "" if path is None else os.path.realpath(path)


def read_apply_options(value: object) -> ApplyOptions:
    """Read the [apply] table.

    >>> read_apply_options({"suppression": 0.1, "promise": "together"})
    ApplyOptions(suppression=Fraction(1, 10), promise='together')
    """
    section = Section.from_value(value, "apply", APPLY_KEYS)
    suppression = section.number("suppression", most=1)
    return ApplyOptions(
        suppression=None if suppression is None else Fraction(str(suppression)),  # as written, not as a float
        promise=section.choice("promise", APPLIED_PROMISES) or "alone",
    )


def _read_about(section: Section) -> tuple[tuple[str, str], ...]:
    """Read what is to be told of a release besides, each a text that is not blank and not longer than a page."""
    about = []
    for key in ABOUT_KEYS:
        text = section.text(key)
        if text is not None and not 0 < len(text.strip()) <= _LONGEST_ABOUT:
            raise section.error(key, f"must be a text of 1 to {_LONGEST_ABOUT:,} characters")
        if text is not None:
            about.append((key, text.strip()))
    return tuple(about)
