"""Write docs/papers.md, and the pages it links to, from the runs that are kept: run it with ``make docs``."""
# ruff: noqa: INP001 - a script, not a package

from pathlib import Path

from sfumato.papers.index import INDEX, index
from sfumato.papers.record import page_of
from sfumato.papers.reproduce import kept_in

DOCS = Path(__file__).parent
KEPT = DOCS.parent / "benchmarks"
HEAD = f"""\
Written by `docs/make_papers.py` from the figures in `benchmarks/results-*.json`, which are full runs as they came;
`make figures` runs all papers anew, which takes long, and writes the pages. Nobody edits figures here: a test holds
this page against what the code makes of the kept runs. With `sfumato reproduce all --quick` you see most of it for
yourself within minutes, in `papers/{INDEX}`; [the guide](guides/commands.md#sfumato-reproduce) has the options."""


def papers() -> str:
    """The page with all claims."""
    return index(kept_in(KEPT), pages="../benchmarks/", head=HEAD)


def pages() -> dict[Path, str]:
    """The page of every paper; its plots stay as the run drew them."""
    return {KEPT / page_of(paper.name): paper.page(run) for paper, run in kept_in(KEPT)}


def main() -> None:
    """Write them."""
    for path, text in (pages() | {DOCS / INDEX: papers()}).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
