"""Papers run one after the other, each kept as soon as it is done: what is stopped loses no more than one."""

import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sfumato.errors import InputError, OutputError
from sfumato.papers.claims import Claim, Run
from sfumato.papers.index import INDEX, index
from sfumato.papers.paper import Paper
from sfumato.papers.plots import draw
from sfumato.papers.record import keep_experiment, kept, page_of, results_of
from sfumato.papers.rows import Rows
from sfumato.papers.shelf import PAPERS

_INSTALLED = {"sklearn": "scikit-learn"}
"""Libraries that are imported under another name than they are installed."""
TellPaper = Callable[[str, int, int, str], None]
"""As `Tell`, with the name of the paper before."""


@dataclass(frozen=True)
class Done:
    """A paper that was run: its page, what came of its claims, and the seconds it took."""

    paper: Paper
    page: Path
    claims: list[Claim]
    seconds: float


def check(papers: Sequence[Paper], out: Path, *, force: bool) -> None:
    """Refuse before any work: a library that is missing, or a place that cannot be written."""
    missing = {name: None for paper in papers for name in paper.needs if importlib.util.find_spec(name) is None}
    if missing:
        names = " and ".join(_INSTALLED.get(name, name) for name in missing)
        verb = "are" if len(missing) > 1 else "is"
        raise InputError(f"{names} {verb} not installed, which the papers need; pip install 'sfumato[papers]'")
    _check_written(out)
    for path in (out / name for paper in papers for name in (results_of(paper.name), page_of(paper.name))):
        if path.exists() and not force:
            raise OutputError(f"{path} exists already; choose another --out, or replace it with --force")
    kept_in(out, [paper for paper in PAPERS.values() if paper not in papers])


def _check_written(out: Path) -> None:
    """Try it, since nobody wants to know at the end; nothing is left behind."""
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists() or path.is_symlink())
    try:
        tempfile.TemporaryDirectory(prefix=".sfumato-", dir=nearest).cleanup()
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise OutputError(f"{out} cannot be written ({reason}); choose another --out") from None


def reproduce(papers: Sequence[Paper], rows: Rows, out: Path, *, quick: bool, tell: TellPaper) -> Iterator[Done]:
    """Run the papers; each is yielded when its figures, plots and page are in `out`, and the index knows of it."""
    for paper in papers:
        start = time.perf_counter()
        run = paper.run(rows, quick, _of(paper, tell)) | {"command": _command(paper, rows, quick=quick)}
        claims = paper.claims(run)
        keep(paper, run | {"claims": [asdict(one) for one in claims]}, out)
        yield Done(paper, out / page_of(paper.name), claims, time.perf_counter() - start)


def keep(paper: Paper, run: Run, out: Path) -> None:
    """Write plots, figures and page of a run into `out` when all are made, and the index anew."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sfumato-", dir=out) as name:
        part = Path(name)
        keep_experiment(part, paper.name, run, paper.page(run))
        for stem, panels in paper.plots(run).items():
            draw(panels, part / "figures" / f"{stem}.svg")
        (out / "figures").mkdir(exist_ok=True)
        for path in [path for path in part.rglob("*") if path.is_file()]:
            path.replace(out / path.relative_to(part))
    (out / INDEX).write_text(index(kept_in(out)), encoding="utf-8")


def kept_in(folder: Path, papers: Sequence[Paper] = tuple(PAPERS.values())) -> list[tuple[Paper, Run]]:
    """The papers that have results in a folder, with these."""
    found = [(paper, kept(folder, paper.name)) for paper in papers]
    return [(paper, run) for paper, run in found if run is not None]


def _of(paper: Paper, tell: TellPaper) -> Callable[[int, int, str], None]:
    return lambda done, every, words: tell(paper.name, done, every, words)


def _command(paper: Paper, rows: Rows, *, quick: bool) -> str:
    """What makes the same run again, whatever folders it was with."""
    made_up = [] if rows.folder else ["--synthetic", f"--rows {rows.made_up}"]
    return " ".join(["sfumato reproduce", paper.name, *made_up, *(["--quick"] if quick else [])])
