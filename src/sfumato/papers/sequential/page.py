"""The sequential-release experiment on a page: statements and verdicts, a table per figure of the paper, and times."""

from collections.abc import Iterator, Sequence

from sfumato.papers.claims import HOLDS, Run
from sfumato.papers.plots import Panel
from sfumato.papers.sequential.checks import claims
from sfumato.papers.sequential.figures import CAT, CONT, MEASURED, SCORED, figures, mean, values
from sfumato.papers.sequential.growth import growth
from sfumato.papers.sequential.growth import plots as scale_plot
from sfumato.papers.sequential.notes import CONDITIONAL_SCORE, INTRO, NOTES, TAXONOMIES, TITLES, TREE
from sfumato.papers.sequential.points import CLASSIFYING, DISTORTION, KA, LINK, ROW, XY
from sfumato.papers.tables import caveats, picture, setting, statements, table


def page(run: Run) -> str:
    """The whole of it as Markdown."""
    parts = ["# Releases after releases: the sequential-release experiment", setting(run), *_dates(run)]
    parts += [*caveats(run), INTRO, *_taxonomies(run), *_statements(run), *growth(run)]
    parts += [*_figures(run), *_spread(run), *_infeasible(run), "## Notes", NOTES]
    return "\n\n".join(parts) + "\n"


def plots(run: Run) -> dict[str, list[Panel]]:
    """The paper's figures, a file each and those on scale together, by the name of the file."""
    every = (pair for part in MEASURED for pair in figures(run, part).items())
    return {_stem(name): members for name, members in every} | scale_plot(run)


def _stem(figure: str) -> str:
    return f"sequential-{figure[-1]}"


def _statements(run: Run) -> Iterator[str]:
    found = claims(run)
    yield from (TREE, CONDITIONAL_SCORE, "## What the paper states", statements(found))
    both = [one for one in found if one.other]
    first, second = sum(one.verdict == HOLDS for one in both), sum(one.other.endswith(f", {HOLDS}") for one in both)
    yield f"Of {len(both)} lines on errors {first} hold by the paper's score, {second} by the conditional one."


def _taxonomies(run: Run) -> Iterator[str]:
    """Where the folder of the table had not all of them."""
    if run.get("taxonomies"):
        yield TAXONOMIES.format(missing=", ".join(run["taxonomies"]))


def _dates(run: Run) -> Iterator[str]:
    """When each part was run, where that was not all at once."""
    if len({one["date"] for one in run["parts"].values()}) > 1:
        said = (f"{part} {one['date']} (load {one['load']})" for part, one in run["parts"].items())
        yield f"Parts: {', '.join(said)}."


def _figures(run: Run) -> Iterator[str]:
    for part in MEASURED:
        for name, members in figures(run, part).items():
            yield f"## {name}: {TITLES[name]}, Set {part[-1]}\n\n{picture(name, _stem(name))}"
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
