"""All papers: run one after the other, each kept as soon as it is done, and all their claims on one page.

Whoever stops a reproduction loses no more than the paper that was running. The index page is made of the results that
are in a folder, whenever they were run, and of nothing else.
"""

import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sfumato.errors import InputError, OutputError
from sfumato.papers import alpha_k_paper, identity_paper, lossy_join_paper, sequential_paper
from sfumato.papers.claims import (
    FAILS,
    HOLDS,
    IN_PART,
    NOT_COUNTED,
    NOT_MEASURED,
    OUTCOMES,
    Claim,
    Run,
    count_claims,
    count_outcomes,
)
from sfumato.papers.experiment import Paper, RowSource, page_file, read_run, results_file, write_run
from sfumato.papers.markdown_tables import CLAIM_HEAD, claim_cells, markdown_table, setting_line
from sfumato.papers.plots import draw_panels

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (alpha_k_paper.PAPER, lossy_join_paper.PAPER, identity_paper.PAPER, sequential_paper.PAPER)
}
INDEX = "papers.md"
TellPaper = Callable[[str, int, int, str], None]
"""As `Tell`, with the name of the paper before."""
PaperRun = tuple[Paper, Run]
_INSTALLED_AS = {"sklearn": "scikit-learn"}
"""Libraries that are imported under another name than they are installed."""


@dataclass(frozen=True)
class Reproduction:
    """A paper that was run: its page, its claims with their verdicts, and the seconds it took."""

    paper: Paper
    page: Path
    claims: list[Claim]
    seconds: float


def check_before_running(papers: Sequence[Paper], out: Path, *, force: bool) -> None:
    """Refuse before any work: a library that is missing, or a folder that cannot be written or has results already."""
    missing = {name: None for paper in papers for name in paper.needs if importlib.util.find_spec(name) is None}
    if missing:
        names = " and ".join(_INSTALLED_AS.get(name, name) for name in missing)
        verb = "are" if len(missing) > 1 else "is"
        raise InputError(f"{names} {verb} not installed, which the papers need; pip install 'sfumato[papers]'")
    # try to write, since nobody wants to know at the end; nothing is left behind
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists() or path.is_symlink())
    try:
        tempfile.TemporaryDirectory(prefix=".sfumato-", dir=nearest).cleanup()
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise OutputError(f"{out} cannot be written ({reason}); choose another --out") from None
    for path in (out / name for paper in papers for name in (results_file(paper.name), page_file(paper.name))):
        if path.exists() and not force:
            raise OutputError(f"{path} exists already; choose another --out, or replace it with --force")
    kept_runs(out, [paper for paper in PAPERS.values() if paper not in papers])  # the index will need them


def reproduce(
    papers: Sequence[Paper], source: RowSource, out: Path, *, quick: bool, tell: TellPaper
) -> Iterator[Reproduction]:
    """Run the papers; each is yielded when its figures, plots and page are in `out`, and the index has its claims."""
    for paper in papers:
        start = time.perf_counter()

        def tell_of_paper(done: int, total: int, line: str, name: str = paper.name) -> None:
            tell(name, done, total, line)

        made_up = [] if source.folder else ["--synthetic", f"--rows {source.made_up}"]
        command = " ".join(["sfumato reproduce", paper.name, *made_up, *(["--quick"] if quick else [])])
        run = paper.run(source, quick, tell_of_paper) | {"command": command}
        claims = paper.claims(run)
        keep_paper(paper, run | {"claims": [asdict(claim) for claim in claims]}, out)
        yield Reproduction(paper, out / page_file(paper.name), claims, time.perf_counter() - start)


def keep_paper(paper: Paper, run: Run, out: Path) -> None:
    """Write plots, figures and page of a run into `out` once all of them are made, and the index anew."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sfumato-", dir=out) as name:
        stage = Path(name)
        write_run(stage, paper.name, run, paper.page(run))
        for stem, panels in paper.plots(run).items():
            draw_panels(panels, stage / "figures" / f"{stem}.svg")
        (out / "figures").mkdir(exist_ok=True)
        for path in [path for path in stage.rglob("*") if path.is_file()]:
            path.replace(out / path.relative_to(stage))
    (out / INDEX).write_text(index_page(kept_runs(out, PAPERS.values())), encoding="utf-8")


def kept_runs(folder: Path, papers: Iterable[Paper]) -> list[PaperRun]:
    """Read the runs of these papers that are kept in a folder."""
    runs = [(paper, read_run(folder, paper.name)) for paper in papers]
    return [(paper, run) for paper, run in runs if run is not None]


_INTRO = """\
The experiments of the papers behind sfumato, run again with sfumato on the papers' own table (Adult, 45,222 complete
rows): each claim that a paper states of its experiments, its figure or word, ours beside it, and whether the claim
holds of ours. Every release that was measured was verified first. `sfumato reproduce` runs them, and writes such a page
beside one page per paper, which has every figure as a plot and a table, and says how each claim was read."""
_NOTES = f"""\
*{HOLDS}*: our figures are as stated. *{FAILS}*: they are not. Any other verdict says what is so and what is not, and is
counted as *{IN_PART}*. *{NOT_MEASURED}*: the run has no figure for it. *{NOT_COUNTED}*: it could not fail, or would say
nothing: seconds of another decade's machine, requirements that coincide, parameters that were chosen to fit. *Why* says
whose flaw it is that a claim does not hold, the paper's or ours. Figures are compared as the paper prints them, rounded
to its digits, and in both directions; where a paper plots averages, averages are judged. Where a text has words and a
verdict needs a number (slight, about, nearly unchanged), the page of the paper says which number was taken. *Read
otherwise* has ours by another reading, one that is not the paper's: it is shown because it explains, and is not
counted."""


def index_page(runs: Sequence[PaperRun], *, pages: str = "", head: str = "") -> str:
    """Write the page with all claims; `pages` is where the pages of the papers are from here, `head` comes first."""
    claims = {paper.name: paper.claims(run) for paper, run in runs}
    lines = [[name, *claim_cells(claim)] for name, members in claims.items() for claim in members]
    made_up = [paper.name for paper, run in runs if run["source"] == "synthetic"]
    quick = [paper.name for paper, run in runs if not run["full"] and run["source"] != "synthetic"]
    every = [claim for members in claims.values() for claim in members]
    parts = ["# The papers, reproduced", _count_in_words(every), *([head] if head else []), _INTRO]
    parts += ["## Outcome", _outcome_table(runs, claims, pages)]
    if made_up:
        parts.append(f"**Made-up rows, which say nothing of the paper's table: {', '.join(made_up)}.**")
    if quick:
        parts.append(f"**Quick runs, with fewer points than the paper has: {', '.join(quick)}.**")
    parts += ["## Runs", "\n".join(f"- {paper.name}: {_describe_kept_run(paper, run)}" for paper, run in runs)]
    parts += ["## Claims", markdown_table(("paper", *CLAIM_HEAD), lines), "## How to read this", _NOTES]
    parts += [f"**{paper.name}.** {paper.terms}" for paper, _ in runs if paper.terms]
    return "\n\n".join(parts) + "\n"


def _count_in_words(claims: Sequence[Claim]) -> str:
    counts = count_outcomes(claims)
    return (
        f"**Of {count_claims(claims)} claims on experiments, {counts[HOLDS]} hold, {counts[IN_PART]} hold in part, "
        f"{counts[FAILS]} do not hold and {counts[NOT_MEASURED]} were not measured.** {counts[NOT_COUNTED]} more are "
        "shown and not counted, since they could not fail."
    )


def _outcome_table(runs: Sequence[PaperRun], claims: dict[str, list[Claim]], pages: str) -> str:
    """Count the claims of each paper and of all by outcome."""

    def counts(members: Sequence[Claim]) -> list[str]:
        return [str(count_claims(members)), *map(str, count_outcomes(members).values())]

    lines = [
        [paper.name, paper.title, *counts(claims[paper.name]), f"[{paper.section}]({pages}{page_file(paper.name)})"]
        for paper, _ in runs
    ]
    total = ["all", "", *counts([claim for members in claims.values() for claim in members]), ""]
    return markdown_table(("paper", "title", "claims", *OUTCOMES, "page"), [*lines, total])


def _describe_kept_run(paper: Paper, run: Run) -> str:
    """Say with which command and when it was run; with the dates of its parts where they differ."""
    command = run.get("command")
    made = f"`{command}`." if command else f"with a script that is now `sfumato reproduce {paper.name}`."
    dates = {part: moment["date"] for part, moment in run.get("parts", {}).items()}
    parts = f" Its parts: {', '.join(f'{part} {date}' for part, date in dates.items())}."
    return f"{made} {setting_line(run)}{parts if len(set(dates.values())) > 1 else ''}"
