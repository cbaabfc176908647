"""Write docs/papers.md, and the pages it links to, from the runs that are kept: run it with ``make docs``."""
# ruff: noqa: INP001 - a script, not a package

from pathlib import Path

from sfumato.papers.experiment import page_file
from sfumato.papers.reproduction import INDEX, PAPERS, index_page, kept_runs

DOCS = Path(__file__).parent
KEPT = DOCS.parent / "benchmarks"
HEAD = f"""\
What has changed since the page that had 151 claims, of which 35 did not hold:

- **Sequential releases** run along the taxonomy trees of the top-down specialization papers, those of Table 2; before,
  the trees were ours, which are a second reading now. Distortion counts the steps of a taxonomy and not the
  levels of its file, on the releases that errors are measured of. KAE, KAD and XYD of Set A are the paper's figures.
- **What was said of that paper's score was wrong**: it is not for looking at one column at a time that figures were
  missed. The conditional score is what it is, ours.
- **(α, k) and lossy join** have the refined bound that these papers adopt, ⌈α·size⌉; the plain one stands beside.
- **Figure 6 of the identity-reserved paper** has sensitive values that are distributed uniformly, as its text says.
- **Verdicts** compare at the precision that the paper prints, in both directions, and averages where averages are
  plotted. What cannot fail is not counted any more. Every claim that does not hold says why, and whose flaw that is.

Written by `docs/make_papers.py` from the figures in `benchmarks/results-*.json`, which are runs of all points as they
came, some in parts of several days (see Runs);
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
