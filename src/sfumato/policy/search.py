"""How a release is sought and what it looks like: [algorithm] and [publish] of a policy."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.policy.section import Section

FULL_DOMAIN = ("samarati", "incognito", "optimal")
LOCAL = ("progressive", "top-down", "bottom-up", "mondrian", "mondrian-relaxed")
UNLEVELLED = ("auto", "mondrian", "mondrian-relaxed")
CUTS = ("tds",)
RECODERS = ("auto", *FULL_DOMAIN, *LOCAL, *CUTS)
ALGORITHMS = (*RECODERS, "anatomy")
LATER_ALGORITHMS = ("microaggregation", "condensation")
SCORES = ("distortion", "discernibility", "classification", "conditional")
CLASSIFYING = ("classification", "conditional")
METRICS = ("ncp", "distortion", "height", "precision", "discernibility", "average-class-size", "entropy")
FORMS = ("generalized", "lossy-join", "anatomy")
LATER_FORMS = ("synthetic",)
TOGETHER = ("together", "apart")
FORMATS = ("csv", "parquet")
RANGES = ("partition", "boxes", "means")

SEARCH_KEYS = ("name", "suppression", "seed", "metric", "improve", "keep_together", "score", "class")
PUBLISH_KEYS = ("form", "format", "ranges", "ss")


@dataclass(frozen=True)
class Search:
    """The algorithm, the largest share of rows it may drop, and the metric it minimizes.

    The share is a fraction, so that 0.1 of ten rows is one row. Without a seed, randomness is fresh. `together` says
    whether a person's rows with equal quasi-identifiers always land in one class. `score` is what top-down
    specialization goes by, and `label` the column whose values are to be told from the others, for `classification`.

    >>> Search(suppression=Fraction("0.1")).suppression * 10
    Fraction(1, 1)
    """

    name: str = "auto"
    suppression: Fraction = Fraction(0)
    seed: int | None = None
    metric: str = "ncp"
    improve: bool = True
    together: bool = True
    score: str = "distortion"
    label: str | None = None


@dataclass(frozen=True)
class Publish:
    """The form of the release and the format of its files.

    `ss` says whether two-table releases have all sensitive columns together in one table, or each apart in its own.

    >>> Publish().split, Publish("lossy-join").split
    (False, True)
    """

    form: str = "generalized"
    format: str = "csv"
    ranges: str = "partition"
    ss: str = "together"

    @property
    def split(self) -> bool:
        """Whether two tables are published in place of one."""
        return self.form in {"lossy-join", "anatomy"}


def read_search(value: object) -> Search:
    """The [algorithm] table.

    >>> read_search({"name": "optimal", "suppression": 0.05}).suppression
    Fraction(1, 20)
    """
    section = Section.of(value, "algorithm", SEARCH_KEYS)
    label = section.text("class")
    return Search(
        name=section.choice("name", ALGORITHMS, later=LATER_ALGORITHMS) or "auto",
        suppression=Fraction(str(section.number("suppression", most=1) or 0)),  # as written, not as a float
        seed=section.whole("seed"),
        metric=section.choice("metric", METRICS) or "ncp",
        improve=section.flag("improve", default=True),
        together=section.flag("keep_together", default=True),
        score=section.choice("score", SCORES) or ("distortion" if label is None else "classification"),
        label=label,
    )


def read_publish(value: object) -> Publish:
    """The [publish] table.

    >>> read_publish({"format": "parquet"})
    Publish(form='generalized', format='parquet', ranges='partition', ss='together')
    """
    section = Section.of(value, "publish", PUBLISH_KEYS)
    form = section.choice("form", FORMS, later=LATER_FORMS) or "generalized"
    return Publish(
        form=form,
        format=section.choice("format", FORMATS) or "csv",
        # two tables show no range, so that the tightest ones may decide who stands together
        ranges=section.choice("ranges", RANGES) or ("partition" if form == "generalized" else "boxes"),
        ss=section.choice("ss", TOGETHER) or "together",
    )
