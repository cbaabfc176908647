"""The sequential-release experiment on a page: statements and verdicts, a table per figure of the paper, and times."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.plots import Panel, draw
from benchmarks.sequential_checks import ADDED, ADDED_VERDICT, checks
from benchmarks.sequential_figures import CAT, CONT, PARTS, SCORED, Run, figures, mean, values
from benchmarks.sequential_growth import growth, plot
from benchmarks.sequential_notes import CONDITIONAL_SCORE, INTRO, NOTES, SYNTHETIC, TITLES, TREE
from benchmarks.sequential_points import CLASSIFYING, DISTORTION, KA, LINK, ROW, XY
from benchmarks.tables import setting, table

_CELLS = ("set", "statement", "paper", "ours", "verdict", ADDED, ADDED_VERDICT)
_HEAD = ("set", "statement", "paper", "ours, paper's score", "verdict", "ours, conditional score", "verdict")


def page(run: Run, pictures: Mapping[str, str] | None = None) -> str:
    """The whole of it as Markdown; `pictures` are the plots by figure."""
    shown = pictures or {}
    parts = ["# Releases after releases: the sequential-release experiment", setting(run), _dates(run)]
    parts += [SYNTHETIC] if run["source"] == "synthetic" else []
    parts += [INTRO, *_statements(run), *growth(run, shown.get("scale"))]
    parts += [*_figures(run, shown), *_spread(run), *_infeasible(run), "## Notes", NOTES]
    return "\n\n".join(parts) + "\n"


def plots(run: Run, folder: Path) -> dict[str, str]:
    """Draw the paper's figures into `folder`, a file each, those on scale together; the files by figure."""
    every = (pair for part in PARTS for pair in figures(run, part).items())
    drawn = {name: draw(members, folder / f"sequential-{name[-1]}.svg").name for name, members in every}
    scale = plot(run, folder)
    return drawn | ({"scale": scale} if scale else {})


def _statements(run: Run) -> Iterator[str]:
    found = checks(run)
    if found:
        yield from (TREE, CONDITIONAL_SCORE, "## What the paper states")
        yield table(_HEAD, [[one[key] for key in _CELLS] for one in found])
        both = [one for one in found if one[ADDED_VERDICT]]
        first, second = (sum(one[key] == "holds" for one in both) for key in ("verdict", ADDED_VERDICT))
        yield f"Of {len(both)} lines on errors {first} hold by the paper's score, {second} by the conditional one."


def _dates(run: Run) -> str:
    """When each part was run, where that was not all at once."""
    dates = {part: one["date"] for part, one in run["parts"].items()}
    if len(set(dates.values())) == 1:
        return "All parts in one run." if len(dates) == len(PARTS) else f"Only: {', '.join(dates)}."
    return "Parts: " + ", ".join(f"{part} {one['date']} (load {one['load']})" for part, one in run["parts"].items())


def _figures(run: Run, pictures: Mapping[str, str]) -> Iterator[str]:
    for part in PARTS:
        for name, members in figures(run, part).items():
            title = f"## {name}: {TITLES[name]}, Set {part[-1]}"
            yield title + (f"\n\n![{name}](figures/{pictures[name]})" if name in pictures else "")
            yield _table(members)


def _table(members: Sequence[Panel]) -> str:
    """A line per TopN, a column per line of the plot; of the second plot those that are not in the first."""
    first, *more = members
    lines = [(line.label, line) for line in first.lines]
    lines += [(f"{line.label}, conditional", line) for panel in more for line in panel.lines if line.label in SCORED]
    rows = zip(first.lines[0].across, *(line.up for _, line in lines), strict=True)
    return f"In {first.up}, averaged over the thresholds.\n\n" + table(
        (first.across, *(label for label, _ in lines)), [[f"Top{x:g}", *(f"{y:.2f}" for y in ys)] for x, *ys in rows]
    )


def _spread(run: Run) -> Iterator[str]:
    """Distortion by both scores and type of attribute, and the seconds of a release."""
    rows = [_spread_line(run, data, method, score) for data, method, score in _kinds(run)]
    if rows:
        yield "## Distortion by score, and seconds"
        yield table(("set", "method", "score", "cat", "cont", "seconds a release", "at most"), rows)
        yield "Seconds are of `anonymize` in a warm process, the verifier included, from a table in memory."


def _kinds(run: Run) -> Iterator[tuple[str, str, str]]:
    for data in "AB":
        for method in (XY, ROW, KA, LINK):
            for score in (*CLASSIFYING, DISTORTION):
                if values(run, "seconds", data=data, method=method, score=score):
                    yield data, method, score


def _spread_line(run: Run, data: str, method: str, score: str) -> list[str]:
    chosen = {"data": data, "method": method, "score": score}
    seconds = values(run, "seconds", **chosen)
    losses = [f"{mean(run, up, **chosen):.2f}" for up in (CAT, CONT)]
    return [data, method, score, *losses, f"{sum(seconds) / len(seconds):.2f}", f"{max(seconds):.2f}"]


def _infeasible(run: Run) -> Iterator[str]:
    found = [one for one in run["cases"] if "infeasible" in one]
    if found:
        yield "## Requirements for which no release was made"
        head = ("set", "method", "X, Y", "k", "what sfumato says")
        rows = [(one["data"], one["method"], f"Top{one['top']}", f"{one['k']:g}", one["infeasible"]) for one in found]
        yield table(head, dict.fromkeys(rows))  # the same by every score
