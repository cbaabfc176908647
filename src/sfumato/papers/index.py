"""All claims of all papers in one table, with counts: made from the results that are kept, and from nothing else."""

from collections.abc import Iterator, Sequence

from sfumato.papers.claims import FAILS, HOLDS, IN_PART, NOT_MEASURED, OUTCOMES, Claim, Run, counted
from sfumato.papers.paper import Paper
from sfumato.papers.record import page_of
from sfumato.papers.tables import cells, setting, table

INDEX = "papers.md"
_INTRO = """\
The experiments of the papers behind sfumato, run again with sfumato on the papers' own table (Adult, 45,222 complete
rows): each claim that a paper states of its experiments, its figure or word, ours beside it, and whether the claim
holds of ours. Every release that was measured was verified first. `sfumato reproduce` runs them, and writes such a page
beside one page per paper, which has every figure as a plot and a table, and says how each claim was read."""
_NOTES = f"""\
*{HOLDS}*: our figures are as stated. *{FAILS}*: they are not. Any other verdict says what is so and what is not, and is
counted as *{IN_PART}*. *{NOT_MEASURED}*: the run has no figure for it. Where a text has words and a verdict needs a
number (slight, about, nearly unchanged), the page of the paper says which number was taken. *Read otherwise* has ours
by another reading, one that is not the paper's: it is shown because it explains, and is not counted. Times are of our
machine and theirs of about 2006, so that a time which holds says little; shares of one another's time say more."""


def index(runs: Sequence[tuple[Paper, Run]], *, pages: str = "", head: str = "") -> str:
    """The page; `pages` is where the pages of the papers are from here, `head` what is said first."""
    claims = {paper.name: paper.claims(run) for paper, run in runs}
    parts = ["# The papers, reproduced", *([head] if head else []), _INTRO]
    parts += ["## Outcome", _outcome(runs, claims, pages), *_warnings(runs), "## Runs", _runs(runs)]
    parts += ["## Claims", table(_HEAD, _lines(claims)), "## How to read this", _NOTES]
    parts += [f"**{paper.name}.** {paper.terms}" for paper, _ in runs if paper.terms]
    return "\n\n".join(parts) + "\n"


_HEAD = ("paper", "figure", "the paper states", "of", "theirs", "ours", "verdict", "read otherwise")


def _outcome(runs: Sequence[tuple[Paper, Run]], claims: dict[str, list[Claim]], pages: str) -> str:
    lines = [[paper.name, paper.title, *_counts(claims[paper.name])] for paper, _ in runs]
    links = [f"[{paper.section}]({pages}{page_of(paper.name)})" for paper, _ in runs]
    every = ["all", "", *_counts([one for members in claims.values() for one in members]), ""]
    head = ("paper", "title", "claims", *OUTCOMES, "page")
    return table(head, [*([*line, link] for line, link in zip(lines, links, strict=True)), every])


def _counts(claims: Sequence[Claim]) -> list[str]:
    return [str(len(claims)), *map(str, counted(claims).values())]


def _warnings(runs: Sequence[tuple[Paper, Run]]) -> Iterator[str]:
    made_up = [paper.name for paper, run in runs if run["source"] == "synthetic"]
    quick = [paper.name for paper, run in runs if not run["full"] and run["source"] != "synthetic"]
    if made_up:
        yield f"**Made-up rows, which say nothing of the paper's table: {', '.join(made_up)}.**"
    if quick:
        yield f"**Quick runs, with fewer points than the paper has: {', '.join(quick)}.**"


def _runs(runs: Sequence[tuple[Paper, Run]]) -> str:
    """When each was run and with what; the dates of parts where there are several."""
    return "\n".join(f"- {paper.name}: {_command(paper, run)} {_when(run)}" for paper, run in runs)


def _command(paper: Paper, run: Run) -> str:
    known = run.get("command")
    return f"`{known}`." if known else f"with a script that is now `sfumato reproduce {paper.name}`."


def _when(run: Run) -> str:
    dates = {part: one["date"] for part, one in run.get("parts", {}).items()}
    several = len(set(dates.values())) > 1
    return setting(run) + (
        f" Its parts: {', '.join(f'{part} {date}' for part, date in dates.items())}." if several else ""
    )


def _lines(claims: dict[str, list[Claim]]) -> Iterator[list[str]]:
    for name, members in claims.items():
        yield from ([name, *cells(one)] for one in members)
