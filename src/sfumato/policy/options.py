"""The [data], [algorithm] and [publish] tables of a policy: where rows come from, how a release is sought, its form."""

import codecs
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sfumato.errors import PolicyError
from sfumato.policy.section import Section

DATA_KEYS = ("source", "separator", "null", "encoding")
LATER_DATA_KEYS = ("query",)
ALGORITHM_KEYS = ("name", "suppression", "seed", "metric", "improve", "keep_together", "score", "class")
ABOUT_KEYS = ("title", "publisher", "contact", "purpose")
"""What whoever gets a release is told of it besides: keys of [publish] that change nothing in the table."""
PUBLISH_KEYS = ("form", "format", "ranges", "ss", "sign", *ABOUT_KEYS)

FULL_DOMAIN = ("samarati", "incognito", "optimal")
"""Algorithms that publish all values of a column at one level."""
LOCAL = ("progressive", "top-down", "bottom-up", "mondrian", "mondrian-relaxed")
"""Algorithms that generalize each class by itself."""
CUTS = ("tds",)
"""Algorithms that publish one cut through the hierarchy of each column."""
UNLEVELLED = ("auto", "mondrian", "mondrian-relaxed")
"""Algorithms that take columns without levels: ranges and sets."""
RECODERS = ("auto", *FULL_DOMAIN, *LOCAL, *CUTS)
ALGORITHMS = (*RECODERS, "anatomy")
LATER_ALGORITHMS = ("microaggregation", "condensation")
METRICS = ("ncp", "distortion", "height", "precision", "discernibility", "average-class-size", "entropy")
SCORES = ("distortion", "discernibility", "classification", "conditional")
"""What top-down specialization goes by."""
CLASSIFYING = ("classification", "conditional")
"""The scores that need a class column."""
FORMS = ("generalized", "lossy-join", "anatomy")
LATER_FORMS = ("synthetic",)
FORMATS = ("csv", "parquet")
RANGES = ("partition", "boxes", "means")
_LONGEST_ABOUT = 2000
SENSITIVE_TABLES = ("together", "apart")
"""Where two-table releases have their sensitive columns: in one table, or each in its own."""


@dataclass(frozen=True)
class DataSource:
    r"""A file of rows, and how to read it; without a path, the caller hands the table in.

    `separator` is None where the reader is to find it, and `null` are the cell texts read as missing.

    >>> DataSource(Path("adult.csv"), separator="\t").encoding
    'utf-8'
    """

    path: Path | None = None
    separator: str | None = None
    null: tuple[str, ...] = ("",)
    encoding: str = "utf-8"


@dataclass(frozen=True)
class AlgorithmOptions:
    """The algorithm, the largest share of rows it may drop, and the metric it minimizes.

    The share is a fraction, so that 0.1 of ten rows is one row. Without a seed, randomness is fresh. `keep_together`
    says whether a person's rows with equal quasi-identifiers always land in one class. `score` is what top-down
    specialization goes by, and `class_column` the column whose values are to be told from the others, for
    `classification`.

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


@dataclass(frozen=True)
class PublishOptions:
    """The form of the release and the format of its files.

    `ss` says whether two-table releases have all sensitive columns together in one table, or each apart in its own.
    `sign` is the file of the private key that the release is signed with; it is not read before a release is made.
    `about` has the keys of `ABOUT_KEYS` that were given, with their texts: they go to the manifest and the summary.

    >>> PublishOptions().split, PublishOptions("lossy-join").split
    (False, True)
    """

    form: str = "generalized"
    format: str = "csv"
    ranges: str = "partition"
    ss: str = "together"
    sign: Path | None = None
    about: tuple[tuple[str, str], ...] = ()

    @property
    def split(self) -> bool:
        """Whether two tables are published in place of one."""
        return self.form in {"lossy-join", "anatomy"}


def read_data_source(value: object, *, folder: Path) -> DataSource:
    """Read the [data] table; a relative path starts at `folder`.

    >>> read_data_source({"source": "adult.csv", "encoding": "latin-1"}, folder=Path()).encoding
    'iso8859-1'
    """
    section = Section.from_value(value, "data", DATA_KEYS, later=LATER_DATA_KEYS)
    null, source = section.texts("null"), section.text("source")
    if source is not None and "://" in source:
        raise PolicyError("database URLs are not in this version; give the path of a file", key="data.source")
    if source == "":
        raise section.error("source", "must be the path of a file")
    return DataSource(
        path=None if source is None else folder / source,
        separator=read_separator(section),
        null=("",) if null is None else null,
        encoding=read_encoding(section),
    )


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
        name=section.choice("name", ALGORITHMS, later=LATER_ALGORITHMS) or "auto",
        suppression=Fraction(str(section.number("suppression", most=1) or 0)),  # as written, not as a float
        seed=section.whole_number("seed"),
        metric=section.choice("metric", METRICS) or "ncp",
        improve=section.flag("improve", default=True),
        keep_together=section.flag("keep_together", default=True),
        score=section.choice("score", SCORES) or ("distortion" if class_column is None else "classification"),
        class_column=class_column,
    )


def read_publish_options(value: object, *, folder: Path | None = None) -> PublishOptions:
    """Read the [publish] table; a relative path starts at `folder`, or where the program runs.

    >>> read_publish_options({"format": "parquet"})
    PublishOptions(form='generalized', format='parquet', ranges='partition', ss='together', sign=None, about=())
    """
    section = Section.from_value(value, "publish", PUBLISH_KEYS)
    form = section.choice("form", FORMS, later=LATER_FORMS) or "generalized"
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
        about=_read_about(section),
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
