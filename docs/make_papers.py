"""Write docs/papers.md, and the pages it links to, from the runs that are kept: run it with ``make docs``."""
# ruff: noqa: INP001 - a script, not a package

from pathlib import Path

from sfumato.papers.experiment import page_file
from sfumato.papers.reproduction import INDEX, PAPERS, index_page, kept_runs

DOCS = Path(__file__).parent
KEPT = DOCS.parent / "benchmarks"
HEAD = f"""\
Written by `docs/make_papers.py` from the figures in `benchmarks/results-*.json`, which are full runs as they came;
`make figures` runs all papers anew, which takes long, and writes the pages. Nobody edits figures here: a test holds
this page against what the code makes of the kept runs. With `sfumato reproduce all --quick` you see most of it for
yourself within minutes, in `papers/{INDEX}`; [the guide](guides/commands.md#sfumato-reproduce) has the options."""


def papers() -> str:
    """Write the page with all claims."""
    return index_page(kept_runs(KEPT, PAPERS.values()), pages="../benchmarks/", head=HEAD)


def pages() -> dict[Path, str]:
    """Write the page of every paper; its plots stay as the run drew them."""
    return {KEPT / page_file(paper.name): paper.page(run) for paper, run in kept_runs(KEPT, PAPERS.values())}


def main() -> None:
    """Write all of them into their files."""
    for path, text in (pages() | {DOCS / INDEX: papers()}).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
