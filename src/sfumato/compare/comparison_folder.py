"""The folder of a comparison: its page and its figures, for the data holder, and reading a line back from it.

The page draws loss against risk and both against time, names the knee, and lists every figure.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.compare.comparison import Comparison, ParetoFront, RunFigures, RunOutcome
from sfumato.compare.output_files import check_folder, write_folder
from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, UnreadableFile
from sfumato.page.charts import ChartAxis, Series, scatter
from sfumato.page.html import Markup, document, facts, join, note, paragraph, section, table, tag
from sfumato.page.wording import found_keys, percent, plural
from sfumato.policy.database_url import find_place, is_url
from sfumato.policy.options import CUTS, FULL_DOMAIN, LOCAL
from sfumato.policy.policy import read_policy_file

_PAGE, _FIGURES = "compare.html", "compare.json"
_LARGEST_FIGURES = 1 << 26

_LOSSES = {
    "ncp": "loss (NCP)",
    "tie": "loss (tie to sensitive values)",
}
_MARKERS = 6
"""Series that can be told apart; more algorithms than that are drawn by family."""
_FAMILIES = {"auto": "auto", "anatomy": "anatomy"}
_FAMILIES |= dict.fromkeys(FULL_DOMAIN, f"full domain ({', '.join(FULL_DOMAIN)})")
_FAMILIES |= dict.fromkeys(LOCAL, f"local ({', '.join(LOCAL[:-1])}, …)") | dict.fromkeys(CUTS, "cuts (tds)")

_PRIVATE = (
    "This page is for the data holder. It was measured on rows that are not published, and tells of releases that were "
    "never made: do not publish it."
)

_MEANINGS = {
    "loss (NCP)": "the share of a column's other values that a published label covers, on average over all cells; a "
    "suppressed row is lost altogether",
    "loss (tie)": "of two tables, which generalize nothing: how much is lost of the tie between a row and its "
    "sensitive values; at 0% each row gets its own back, at 100% it is no better than a draw from the whole table",
    "highest risk": "the chance of picking the right row for the person in the smallest class (prosecutor risk)",
    "average risk": "the same, averaged over all rows",
    "distortion": "levels climbed, of all levels that could be",
    "discernibility": "the sum over rows of how many rows look the same",
    "seconds": "searching, writing in memory and verifying; reading is done once and left out",
    "front": "the lines that no other line beats in both loss and risk",
    "knee": "the line of the front where it bends most towards the corner where both are smallest: with both axes "
    "scaled so that the front reaches from 0 to 1, the one farthest from the straight line between its ends. It is a "
    "suggestion about these figures, not a judgement of what risk is acceptable",
}


def check_comparison_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder with something else in it, or with a comparison unless `force` replaces it."""
    check_folder(folder, (_PAGE, _FIGURES), force=force)


def save_comparison(comparison: Comparison, folder: Path, policy: Path, data: str | Path | None) -> None:
    """Write page and figures; with the policy's hash, so that a line is not chosen for another policy later."""
    content = comparison.as_json() | {
        "policy_sha256": _sha256(policy),
        "data": None if data is None else _absolute(data),
    }
    figures = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_folder(folder, {_PAGE: comparison_page(comparison), _FIGURES: figures})


def read_line(folder: Path, number: int | None, policy: Path) -> tuple[RunOutcome, str | None]:
    """Read a line of a comparison, and the place of its table where that is not the policy's own.

    Without a number it is the line that the comparison suggests.
    """
    path = folder / _FIGURES
    try:
        content = dict(json.loads(read_regular_file(path, most=_LARGEST_FIGURES, what="a comparison")))
    except (UnreadableFile, ValueError, TypeError, RecursionError):
        raise InputError(f"{path} cannot be read as a comparison; name the folder that compare wrote") from None
    try:
        if content["policy_sha256"] != _sha256(policy):
            raise InputError(f"{policy} is not the policy of {folder}, or has changed since; compare again")
        stated = content["data"]
        data = stated if stated is None or is_url(stated) else os.path.relpath(stated)
        return _find_line(content, _suggestion(content) if number is None else number), data
    except (KeyError, TypeError, AttributeError, IndexError):
        raise InputError(f"{path} is not a comparison; name the folder that compare wrote") from None


def _absolute(data: str | Path) -> str:
    """Write where a table is, from wherever it is asked: the whole path, or the URL of a server."""
    place = find_place(data)
    return str(place.resolve()) if isinstance(place, Path) else place.text


def _suggestion(content: Mapping[str, Any]) -> int:
    """Give the only line on the front, or its knee, as `ParetoFront.suggestion` does."""
    fronts = content["fronts"]
    number = fronts[0]["lines"][0] if len(fronts) == 1 and len(fronts[0]["lines"]) == 1 else None
    number = fronts[0]["knee"] if len(fronts) == 1 and number is None else number
    if number is None:
        raise InputError("the comparison has no knee; choose a line with --choose N")
    return int(number)


def _find_line(content: Mapping[str, Any], number: int) -> RunOutcome:
    line = next((line for line in content["lines"] if line["line"] == number), None)
    if line is None:
        raise InputError(f"the comparison has no line {number}; it has {len(content['lines'])}")
    if "reason" in line:
        raise InputError(f"line {number} came to no release, so there is no policy to write: {line['reason']}")
    return RunOutcome(number, line["algorithm"], dict(line["settings"]), tuple(line.get("dropped", ())))


def _sha256(path: Path) -> str:
    return hashlib.sha256(read_policy_file(path)).hexdigest()


# The page.


def comparison_page(comparison: Comparison) -> str:
    """Write the page as HTML."""
    done = f"{plural(len(comparison.outcomes), 'line')} of {comparison.planned:,}"
    small = f"{done}, {comparison.rows:,} rows, each line a release that was made in memory and verified"
    parts = [tag("h1", "Loss, risk and time", tag("small", small))]
    if comparison.stopped:
        parts.append(tag("aside", paragraph(f"It was stopped: {done} were run, and the others are missing here.")))
    parts.append(tag("aside", paragraph(_PRIVATE)))
    parts += [_front_section(front, comparison) for front in comparison.fronts]
    parts += _line_sections(comparison)
    meanings = section("What the figures mean", facts(list(_MEANINGS.items())))
    return document("Comparison", *parts, _failure_section(comparison), meanings)


def _front_section(front: ParetoFront, comparison: Comparison) -> Markup:
    """Draw loss against risk for one measure of loss, and each of them against time."""
    loss, risk = _LOSSES[front.measure], f"{front.risk} risk"
    lines = [line for line in comparison.measured if _figures(line).measure == front.measure]
    points = {line.number: line.point(front.risk) for line in lines}
    losses = {line.number: (_figures(line).total, points[line.number][0]) for line in lines}
    risks = {line.number: (_figures(line).total, points[line.number][1]) for line in lines}
    numbers = ", ".join(str(line.number) for line in front.lines)
    ring = f" The ring is around the {'knee' if front.knee else 'best'}." if front.suggestion else ""

    def draw(across: ChartAxis, name: str, places: Mapping[int, tuple[float, float]], title: str) -> Markup:
        marked = None if front.suggestion is None else places[front.suggestion]
        up = ChartAxis(name, percent=True)
        return tag("figure", scatter(_series(lines, places), across, up, title=title, marked=marked))

    return section(
        "Loss against risk" if len(comparison.fronts) == 1 else f"Loss against risk: {loss}",
        paragraph(front.summary),
        draw(ChartAxis(loss, percent=True), risk, points, f"{loss} against {risk}"),
        note(f"Numbers are those of the lines below; the front is {numbers}. Down and to the left is better.{ring}"),
        *[paragraph(sentence) for number, sentence in comparison.notes.items() if number in points],
        tag("h3", "Against time"),
        draw(ChartAxis("seconds", log=True), loss, losses, f"{loss} against seconds"),
        draw(ChartAxis("seconds", log=True), risk, risks, f"{risk} against seconds"),
    )


def _series(lines: Sequence[RunOutcome], places: Mapping[int, tuple[float, float]]) -> list[Series]:
    """Make one series for each algorithm, or family where they are many; each point has the number of its line."""
    names = list(dict.fromkeys(line.algorithm for line in lines))
    labels = {name: name if len(names) <= _MARKERS else _FAMILIES[name] for name in names}
    return [
        Series(
            label,
            [places[line.number] for line in lines if labels[line.algorithm] == label],
            [str(line.number) for line in lines if labels[line.algorithm] == label],
        )
        for label in dict.fromkeys(labels.values())
    ]


def _line_sections(comparison: Comparison) -> Iterator[Markup]:
    """List the figures of every line that came to a release, and what holds of it."""
    if not comparison.measured:
        return
    measured = [(line, _figures(line)) for line in comparison.measured]
    on_front = {line.number for front in comparison.fronts for line in front.lines}
    knees = {front.knee for front in comparison.fronts}
    head = ["line", "loss", "highest risk", "average risk", "seconds"]
    rows = [
        [_line_name(line, on_front, knees), percent(figures.loss), percent(figures.highest), percent(figures.average),
         f"{figures.total:.2f}"]
        for line, figures in measured
    ]  # fmt: skip
    yield section("Lines", table(head, rows))
    head = ["line", "distortion", "discernibility", "rows a class", "suppressed"]
    rows = [
        [str(line.number), percent(figures.distortion_ratio), f"{figures.discernibility:,}",
         f"{figures.average_class_size:,.1f}", f"{figures.suppressed:,}"]
        for line, figures in measured
    ]  # fmt: skip
    achieved: list[tuple[object, object]] = [
        (
            f"line {line.number}",
            "; ".join(
                f"{finding['model']}: {found_keys(finding['model'], finding['achieved'])}"
                for finding in figures.privacy
            ),
        )
        for line, figures in measured
    ]
    yield section("More on each", table(head, rows), tag("h3", "What holds"), facts(achieved))


def _line_name(line: RunOutcome, on_front: set[int], knees: set[int | None]) -> Markup:
    mark = " ◆ knee" if line.number in knees else " • front" if line.number in on_front else ""
    details = [line.settings_text] if line.settings_text else []
    details += [f"without {', '.join(line.dropped)}"] if line.dropped else []
    return join([f"{line.number}  {line.algorithm}{mark}", tag("small", "; ".join(details)) if details else ""])


def _failure_section(comparison: Comparison) -> Markup:
    """List the lines that came to no release, by the reason."""
    if not comparison.failures:
        return Markup()
    names = {
        line.number: " ".join(part for part in (line.algorithm, line.settings_text) if part)
        for line in comparison.outcomes
    }
    reasons = [
        tag("article", paragraph(reason), note("; ".join(f"{number}: {names[number]}" for number in numbers)))
        for reason, numbers in comparison.failures.items()
    ]
    return section("No release", paragraph("These could not be met, or do not go together."), *reasons)


def _figures(line: RunOutcome) -> RunFigures:
    assert line.figures is not None  # noqa: S101 - only lines that came to a release are shown here
    return line.figures
