"""How a release is sought and what it looks like: [algorithm] and [publish] of a policy."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.policy.section import Section

FULL_DOMAIN = ("samarati", "incognito", "optimal")
LOCAL = ("progressive", "top-down", "mondrian", "mondrian-relaxed")
UNLEVELLED = ("auto", "mondrian", "mondrian-relaxed")
ALGORITHMS = ("auto", *FULL_DOMAIN, *LOCAL)
LATER_ALGORITHMS = (
    "bottom-up",
    "microaggregation",
    "tds",
    "anatomy",
    "condensation",
)
METRICS = ("ncp", "distortion", "height", "precision", "discernibility", "average-class-size", "entropy")
FORMS = ("generalized",)
LATER_FORMS = ("lossy-join", "anatomy", "synthetic")
FORMATS = ("csv", "parquet")
RANGES = ("partition", "boxes", "means")

SEARCH_KEYS = ("name", "suppression", "seed", "metric", "improve")
LATER_SEARCH_KEYS = ("score", "class")
PUBLISH_KEYS = ("form", "format", "ranges")


@dataclass(frozen=True)
class Search:
    """The algorithm, the largest share of rows it may drop, and the metric it minimizes.

    The share is a fraction, so that 0.1 of ten rows is one row. Without a seed, randomness is fresh.

    >>> Search(suppression=Fraction("0.1")).suppression * 10
    Fraction(1, 1)
    """

    name: str = "auto"
    suppression: Fraction = Fraction(0)
    seed: int | None = None
    metric: str = "ncp"
    improve: bool = True


@dataclass(frozen=True)
class Publish:
    """The form of the release and the format of its files.

    >>> Publish().format
    'csv'
    """

    form: str = "generalized"
    format: str = "csv"
    ranges: str = "partition"


def read_search(value: object) -> Search:
    """The [algorithm] table.

    >>> read_search({"name": "optimal", "suppression": 0.05}).suppression
    Fraction(1, 20)
    """
    section = Section.of(value, "algorithm", SEARCH_KEYS, later=LATER_SEARCH_KEYS)
    return Search(
        name=section.choice("name", ALGORITHMS, later=LATER_ALGORITHMS) or "auto",
        suppression=Fraction(str(section.number("suppression", most=1) or 0)),  # as written, not as a float
        seed=section.whole("seed"),
        metric=section.choice("metric", METRICS) or "ncp",
        improve=section.flag("improve", default=True),
    )


def read_publish(value: object) -> Publish:
    """The [publish] table.

    >>> read_publish({"format": "parquet"})
    Publish(form='generalized', format='parquet', ranges='partition')
    """
    section = Section.of(value, "publish", PUBLISH_KEYS)
    return Publish(
        form=section.choice("form", FORMS, later=LATER_FORMS) or "generalized",
        format=section.choice("format", FORMATS) or "csv",
        ranges=section.choice("ranges", RANGES) or "partition",
    )
