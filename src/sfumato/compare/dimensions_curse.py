"""The curse of dimensionality: how risk and loss grow as quasi-identifiers are added one by one.

`dimensions` publishes with one quasi-identifier, with two and so on, and measures each; `dimensions_page` and
`dimensions_drawing` show risk, loss and time over their number.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.compare.comparison import EncodingCache, RunFigures, Watch, measure_run
from sfumato.compare.interruption import run_until_stopped
from sfumato.compare.settings import RunConfiguration, change_document, find_settings, plan_runs
from sfumato.encode import EncodedTable, QuasiIdentifier, count_distinct_tuples
from sfumato.errors import InputError, PolicyError, SfumatoError, quote
from sfumato.page.charts import ChartAxis, Series, lines, standalone
from sfumato.page.html import Markup, document, facts, join, name, note, paragraph, section, table, tag
from sfumato.page.wording import percent, plural
from sfumato.policy import Policy, load
from sfumato.recode.frequency_sets import FrequencyCounter
from sfumato.risk import ProsecutorRisk, measure_prosecutor_risk, required_k
from sfumato.settled_policy import settle_policy

_ORDERS = ("given", "distinction")


@dataclass(frozen=True)
class DimensionRelease:
    """What one requirement came to over so many quasi-identifiers: its figures, or the reason why there are none.

    `cube` is the share of each column's range that a cube of k of the rows covers, were they spread evenly;
    of the persons, where a column names them.
    """

    k: int | None
    cube: float | None
    figures: RunFigures | None = None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"k": self.k, "cube": self.cube} | (self.figures.as_json() if self.figures else {"reason": self.reason})


@dataclass(frozen=True)
class DimensionLevel:
    """The first `number` quasi-identifiers, the last of which is `column`: the raw risk, and what releases cost."""

    number: int
    column: str
    raw: ProsecutorRisk
    releases: tuple[DimensionRelease, ...]

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        releases = [release.as_json() for release in self.releases]
        return {"dimensions": self.number, "added": self.column, "raw": asdict(self.raw), "releases": releases}


@dataclass(frozen=True)
class Dimensions:
    """All levels that were done of those `planned`; `stopped` says that somebody stopped it."""

    levels: tuple[DimensionLevel, ...]
    planned: int
    rows: int
    algorithm: str
    order: str
    stopped: bool = False

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self) | {"private": True, "levels": [level.as_json() for level in self.levels]}


def dimensions(
    policy: "str | Path | Mapping[str, Any] | Policy",
    data: Any = None,
    *,
    k: Sequence[int] | None = None,
    algorithm: str | None = None,
    order: str = "given",
    watch: Watch | None = None,
) -> Dimensions:
    """Publish with one quasi-identifier, with two and so on, the others left out, and measure each.

    `order` adds them as they are ``given``, or by ``distinction``: the column with the most different values first.
    `k` is tried in place of that of the policy's requirements. A KeyboardInterrupt ends it early: what was done until
    then is returned, and `stopped` is set.
    """
    if order not in _ORDERS:
        raise InputError(f"the order {quote(order)} is not known; choose {' or '.join(_ORDERS)}")
    rules = load(policy).replace(source=data if isinstance(data, str | Path) else None, algorithm=algorithm)
    rules = settle_policy(rules, rules.source.path if data is None or isinstance(data, str | Path) else data)
    runs = plan_runs(rules, [rules.search.name], find_settings(rules, {"k": list(k)} if k else {}))
    for run in runs:
        if run.policy is None:
            raise PolicyError(run.reason)
    cache = EncodingCache.from_data(data, rules)
    encoded = cache.encoded(rules)
    by_name = {attribute.name: attribute for attribute in encoded.quasi}
    quasi = [by_name[column.name] for column in rules.quasi]
    if order == "distinction":
        quasi.sort(key=lambda attribute: -attribute.column.width)
    levels, stopped = run_until_stopped(
        _levels(runs, cache, encoded, quasi, watch),
        sure=lambda level: all(release.figures for release in level.releases),
    )
    return Dimensions(tuple(levels), len(quasi), encoded.rows, rules.search.name, order, stopped)


def cube_share(k: int, rows: int, number: int) -> float:
    """Compute the share F of each range that a cube with k of the rows covers in so many dimensions.

    With rows that are spread evenly, F ** number = k / rows.

    >>> cube_share(5, 50000, 1), round(cube_share(5, 50000, 8), 3)
    (0.0001, 0.316)
    """
    return min(1.0, float((k / rows) ** (1 / number)))


def _levels(
    runs: Sequence[RunConfiguration],
    cache: EncodingCache,
    encoded: EncodedTable,
    quasi: Sequence[QuasiIdentifier],
    watch: Watch | None,
) -> Iterator[DimensionLevel]:
    """Measure the raw table and a release of every run with the first quasi-identifier, the first two and so on."""
    for number in range(1, len(quasi) + 1):
        projected = _project(encoded, quasi[:number])
        counter = FrequencyCounter(projected)
        raw = measure_prosecutor_risk(counter.group(counter.at_bottom()).classes)
        progress = watch(number - 1, len(quasi), f"{number} columns") if watch else None
        others = [attribute.name for attribute in quasi[number:]]
        releases = []
        for run in runs:
            assert run.policy is not None  # noqa: S101 - runs without a policy were refused at the start
            k = required_k(run.policy.privacy)
            persons = encoded.rows if encoded.individual is None else encoded.individual.width
            release = DimensionRelease(k, None if k is None else cube_share(k, persons, number))
            try:
                policy = _leave_out(run.policy, others)
                masked = cache.masked(run.policy).without(others)
                figures = measure_run(masked.original, policy, projected, progress, masked=masked)
                release = replace(release, figures=figures)
            except SfumatoError as error:
                release = replace(release, reason=str(error))
            releases.append(release)
        yield DimensionLevel(number, quasi[number - 1].name, raw, tuple(releases))


def _project(encoded: EncodedTable, chosen: Sequence[QuasiIdentifier]) -> EncodedTable:
    """Keep these quasi-identifiers of a table alone, in its own order."""
    quasi = tuple(attribute for attribute in encoded.quasi if attribute in chosen)
    columns = dict(encoded.sensitive)
    if encoded.individual is not None:
        columns[encoded.individual.name] = encoded.individual
    others = {name: columns[name] for name in encoded.domains}
    return replace(encoded, quasi=quasi, tuples=count_distinct_tuples(quasi, others))


def _leave_out(policy: Policy, names: Sequence[str]) -> Policy:
    """Turn columns of a policy into identifiers, which are not published."""
    tables = change_document(policy.document, {("columns", name): {"role": "identifier"} for name in names})
    return replace(Policy.read(tables, folder=policy.folder, lenient=policy.lenient), source=policy.source)


# The page and the drawing.

_PRIVATE = "This page is for the data holder. It was measured on rows that are not published: do not publish it."

_FEW = 3
"""With more lines of a kind, another kind gets a chart of its own: six can be told apart."""
_ACROSS = ChartAxis("quasi-identifiers", whole=True)
_CURSE = (
    "A class is a box in a space with one dimension for each quasi-identifier. If rows were spread evenly, a cube with "
    "k of n rows would have to cover the share F of the range of every column, with F to the power of d equal to k/n. "
    "With each dimension more, F comes nearer to 1, where a label says nothing any more. Real rows are not spread "
    "evenly: where columns hang together or values crowd, less is lost than the cube says."
)


def dimensions_page(measured: Dimensions) -> str:
    """Write the page as HTML."""
    done = f"{plural(len(measured.levels), 'quasi-identifier')} of {measured.planned:,}"
    small = f"{measured.rows:,} rows, {done}, added in the order {measured.order}, released by {measured.algorithm}"
    head = tag("h1", "One quasi-identifier more", tag("small", small))
    stopped = tag("aside", paragraph(f"It was stopped: {done} are here.")) if measured.stopped else ""
    time = section(
        "Time",
        note("Searching and verifying; reading left out."),
        tag(
            "figure",
            lines(_release_series(measured, "seconds", _total), _ACROSS, ChartAxis("seconds"), title="Seconds"),
        ),
    )
    parts = (_risk_section(measured), _loss_section(measured), time, _failure_section(measured))
    return document("Dimensions", head, stopped, tag("aside", paragraph(_PRIVATE)), *parts)


def dimensions_drawing(measured: Dimensions) -> str:
    """Draw risk and loss together, as an SVG file of its own."""
    series = [_raw_series(measured, "rows alone, raw", lambda raw: raw.unique_share)]
    series += _release_series(measured, "loss", _loss)
    series += _cube_series(measured) if len(series) <= _FEW else []
    title = "Risk and loss over the number of quasi-identifiers"
    return standalone(lines(series, _ACROSS, ChartAxis("share", percent=True), title=title))


def k_text(release: DimensionRelease) -> str:
    """Name a requirement by its k, where it has one."""
    return "" if release.k is None else f"k = {release.k:,}"


def _risk_section(measured: Dimensions) -> Markup:
    series = [
        _raw_series(measured, "rows alone in their class", lambda raw: raw.unique_share),
        _raw_series(measured, "average risk", lambda raw: raw.average),
        _raw_series(measured, "highest risk", lambda raw: raw.highest),
    ]
    chart = lines(series, _ACROSS, ChartAxis("share", percent=True), title="Risk of the raw table")
    rows = [
        [
            join([f"{level.number}  + ", name(level.column)]),
            percent(level.raw.unique_share),
            percent(level.raw.average),
            percent(level.raw.highest),
        ]
        for level in measured.levels
    ]
    meaning = (
        "How many rows nobody else shares, and the chance of picking a person's row, if the table were published raw."
    )
    head = ["with", "rows alone", "average risk", "highest risk"]
    return section("Risk of the raw table", paragraph(meaning), tag("figure", chart), table(head, rows))


def _loss_section(measured: Dimensions) -> Markup:
    losses, cubes = _release_series(measured, "loss", _loss), _cube_series(measured)
    charts = [[*losses, *cubes]] if len(losses) <= _FEW else [losses, cubes]
    figures = [
        tag("figure", lines(series, _ACROSS, ChartAxis("share", percent=True), title="Loss under the requirement"))
        for series in charts
        if series
    ]
    rows = [
        [
            join([f"{level.number}", tag("small", k_text(release))]),
            percent(release.figures.loss),
            "–" if release.cube is None else percent(release.cube),
            percent(release.figures.distortion_ratio),
            f"{release.figures.average_class_size:,.1f}",
        ]
        for level in measured.levels
        for release in level.releases
        if release.figures
    ]
    head = ["columns", "loss", "cube F", "distortion", "rows a class"]
    return section("Loss", paragraph(_CURSE), *figures, table(head, rows))


def _failure_section(measured: Dimensions) -> Markup:
    reasons = [
        (plural(level.number, "column"), f"{k_text(release)}: {release.reason}".lstrip(": "))
        for level in measured.levels
        for release in level.releases
        if not release.figures
    ]
    return section("No release", facts(reasons)) if reasons else Markup()


def _raw_series(measured: Dimensions, label: str, figure: Callable[[ProsecutorRisk], float]) -> Series:
    return Series(label, [(level.number, figure(level.raw)) for level in measured.levels])


def _release_series(measured: Dimensions, label: str, figure: Callable[[RunFigures], float]) -> list[Series]:
    """Make a series for each requirement, over the levels where it could be met."""
    series = []
    for place, first in enumerate(measured.levels[0].releases):
        releases = [(level.number, level.releases[place].figures) for level in measured.levels]
        points = [(number, figure(figures)) for number, figures in releases if figures]
        series.append(Series(f"{label}, {k_text(first)}".rstrip(", "), points))
    return series


def _cube_series(measured: Dimensions) -> list[Series]:
    series = []
    for place, first in enumerate(measured.levels[0].releases):
        cubes = [(level.number, level.releases[place].cube) for level in measured.levels]
        points = [(number, share) for number, share in cubes if share is not None]
        series += [Series(f"cube F, {k_text(first)}", points)] if points else []
    return series


def _loss(figures: RunFigures) -> float:
    return figures.loss


def _total(figures: RunFigures) -> float:
    return figures.total
