"""``sfumato reproduce`` runs the papers, keeps each when it is done, and says what holds."""

import importlib.util
import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sfumato.papers import alpha_k_paper
from sfumato.papers.reproduction import PAPERS

pytestmark = pytest.mark.slow

Runs = Callable[..., Any]
ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks"


@pytest.fixture
def instant(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[bool]]:
    """Every paper takes no time and finds what is kept in the benchmarks; tells which were run, and whether quickly."""
    asked: dict[str, list[bool]] = {name: [] for name in PAPERS}

    def kept(name: str) -> Callable[..., dict[str, Any]]:
        def run(_: Any, quick: bool, tell: Callable[..., None]) -> dict[str, Any]:
            asked[name].append(quick)
            tell(0, 1, "")
            found: dict[str, Any] = json.loads((KEPT / f"results-{name}.json").read_text(encoding="utf-8"))
            return found | {"source": "synthetic", "full": False}

        return run

    for name, paper in PAPERS.items():
        monkeypatch.setitem(PAPERS, name, replace(paper, run=kept(name), plots=lambda _: {}))
    return asked


def lines(page: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    part = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line[2:-2].split(" | ") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.mark.usefixtures("tiny")
def test_all_papers_on_made_up_rows(runs: Runs, tmp_path: Path) -> None:
    """All papers run, each figure has a plot and each claim a verdict; pages say that the rows are made up."""
    done = runs("reproduce", "all", "--quick", "--synthetic", "--rows", "400", "--out", "made", "--json")
    assert (done.code, done.err) == (0, "")
    said = json.loads(done.out)
    assert (said["out"], said["quick"], said["source"], said["index"]) == ("made", True, "synthetic", "papers.md")
    assert [one["paper"] for one in said["papers"]] == list(PAPERS)
    index = (tmp_path / "made" / "papers.md").read_text()
    assert (
        "**Made-up rows, which say nothing of the paper's table: alpha-k, lossy-join, identity, sequential.**" in index
    )
    for one in said["papers"]:
        page = (tmp_path / "made" / one["page"]).read_text()
        assert "ran on made-up rows" in page
        assert str(tmp_path) not in page
        pictures = re.findall(r"\]\((figures/[^)]+)\)", page)
        assert pictures
        assert all(1_000 < (tmp_path / "made" / name).stat().st_size < 100_000 for name in pictures)
        assert all(claim["verdict"] and claim["theirs"] for claim in one["claims"])
        kept = json.loads((tmp_path / "made" / f"results-{one['paper']}.json").read_text())
        assert kept["command"] == f"sfumato reproduce {one['paper']} --synthetic --rows 400 --quick"
        assert (kept["source"], kept["full"]) == ("synthetic", False)
    _check_cases(tmp_path / "made")
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == sorted(
        [
            "figures",
            "papers.md",
            *(f"RESULTS-{name}.md" for name in PAPERS),
            *(f"results-{name}.json" for name in PAPERS),
        ]
    )


def _check_cases(folder: Path) -> None:
    """What was measured is possible, and was asked for."""
    found = {name: json.loads((folder / f"results-{name}.json").read_text())["cases"] for name in PAPERS}
    assert len(found["alpha-k"]) == 2 * 2 * 3 * 2
    assert all(0 < one["distortion"] <= 1 and one["rows"] == 400 for one in found["alpha-k"])
    assert all(0 < one["answered"] <= 20 and one["classes"] > 1 for one in found["lossy-join"])
    assert {one["rows"] for one in found["identity"]} == {480, 560}
    assert all(one["vulnerable"] == 0 for one in found["identity"] if one["model"].startswith("identity-k"))
    made = [one for one in found["sequential"] if "seconds" in one]
    assert all(0 < one["error"] < 0.5 for one in made)
    assert all(one["short"] == 0 and one["achieved"][0]["k"] >= one["k"] for one in made if one["method"] == "XY")
    assert all(one["achieved"][0]["k"] <= one["k"] for one in made if one["method"] == "link")


def test_index_counts_what_it_lists(runs: Runs, tmp_path: Path, instant: dict[str, list[bool]]) -> None:
    """The counts of index and command are those of the verdicts in the index's table, for each paper and for all."""
    done = runs("reproduce", "all", "--synthetic", "--out", "here")
    assert done.code == 0
    assert instant == {name: [False] for name in PAPERS}
    index = (tmp_path / "here" / "papers.md").read_text()
    listed = Counter((line[0], _outcome(line[6])) for line in lines(index, "Claims"))
    outcomes = ("holds", "in part", "does not hold", "not measured", "not counted")
    for name, *_, every, holds, part, fails, unknown, idle, _ in lines(index, "Outcome"):
        mine = [listed[name, outcome] for outcome in outcomes]
        if name == "all":
            mine = [sum(listed[paper, outcome] for paper in PAPERS) for outcome in outcomes]
        assert [int(one) for one in (holds, part, fails, unknown, idle)] == mine
        assert int(every) == sum(mine[:4])
        assert re.search(rf"^{name} +{every} +{holds} +{part} +{fails} +{unknown} +{idle}$", done.out, re.MULTILINE)
        if name == "all":
            assert f"**Of {every} claims on experiments, {holds} hold, {part} hold in part, {fails} do not" in index


def _outcome(verdict: str) -> str:
    if verdict in {"holds", "does not hold", "not counted"}:
        return verdict
    return "not measured" if verdict.startswith("not measured") else "in part"


def test_papers_meet_in_one_folder(runs: Runs, tmp_path: Path, instant: dict[str, list[bool]]) -> None:
    """A paper that is run later into a folder joins the index there; one that is there is replaced by --force alone."""
    assert runs("reproduce", "identity", "--synthetic", "--out", "here").code == 0
    assert runs("reproduce", "alpha-k", "--synthetic", "--quick", "--out", "here").code == 0
    index = (tmp_path / "here" / "papers.md").read_text()
    assert [line[0] for line in lines(index, "Outcome")] == ["alpha-k", "identity", "all"]
    before = (tmp_path / "here" / "results-identity.json").read_bytes()
    again = runs("reproduce", "all", "--synthetic", "--out", "here")
    assert again.code == 2
    assert again.sentence.startswith("here/results-alpha-k.json exists already; choose another --out, or replace it")
    assert instant["lossy-join"] == []
    assert (tmp_path / "here" / "results-identity.json").read_bytes() == before
    assert runs("reproduce", "alpha-k", "--synthetic", "--out", "here", "--force").code == 0
    assert instant["alpha-k"] == [True, False]


def test_stopped_in_the_middle(
    runs: Runs, tmp_path: Path, instant: dict[str, list[bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C keeps the papers that are finished, and says so, whatever libraries make of it."""

    def interrupted(*_: Any) -> dict[str, Any]:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)  # the signal may arrive a moment later
        except KeyboardInterrupt:
            raise RuntimeError("a library's own error") from None
        return {}

    monkeypatch.setitem(PAPERS, "identity", replace(PAPERS["identity"], run=interrupted))
    done = runs("reproduce", "all", "--synthetic", "--out", "here")
    assert done.code == 130
    assert done.err == "error: stopped; alpha-k, lossy-join kept in here; not finished: identity, sequential\n"
    index = (tmp_path / "here" / "papers.md").read_text()
    assert [line[0] for line in lines(index, "Outcome")] == ["alpha-k", "lossy-join", "all"]
    assert runs("reproduce", "identity", "--synthetic", "--out", "there").sentence == (
        "stopped; no paper was finished, so nothing is kept; not finished: identity"
    )
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["alphak"],
            "there is no paper 'alphak'; choose among alpha-k, lossy-join, identity, sequential, all; did you",
        ),
        (["all", "--rows", "900"], "--rows says how many rows are made up, which only --synthetic asks for"),
        (["all", "--adult", ".", "--synthetic"], "--adult names the real rows and --synthetic asks for made-up ones"),
        (["all", "--adult", "."], ". has no adult.csv with a folder hierarchies beside it; make adult makes both"),
        (
            ["all"],
            "the Adult rows are not at hand; name their folder with --adult or SFUMATO_ADULT, get them with make",
        ),
        (["all", "--synthetic", "--rows", "9"], "Invalid value for '--rows'"),
        (["all", "--synthetic", "--out", "file"], "file cannot be written (not a directory); choose another --out"),
        (["all", "--synthetic", "--out", "file/x"], "file/x cannot be written (not a directory); choose another"),
        (["alpha-k", "--synthetic", "--out", "odd"], "odd/results-identity.json does not hold the results of an"),
    ],
)
def test_refused_before_any_work(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    """What cannot be done is one sentence at once, and nothing is left behind."""
    monkeypatch.setenv("SFUMATO_ADULT", str(tmp_path))
    (tmp_path / "file").write_text("mine")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "results-identity.json").write_text("[1]")
    done = runs("reproduce", *arguments)
    assert done.code == 2
    assert done.sentence.startswith(sentence)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "odd", "results-identity.json"]


def test_libraries_that_are_not_installed(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the libraries of the extra it says how to get them, for the papers that need them."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sklearn" else found(name))
    done = runs("reproduce", "all", "--synthetic", "--out", "here")
    assert done.sentence == "scikit-learn is not installed, which the papers need; pip install 'sfumato[papers]'"
    assert not (tmp_path / "here").exists()


def test_adult_is_what_is_named(runs: Runs, instant: dict[str, list[bool]], tmp_path: Path) -> None:
    """The folder that --adult names is the one whose rows are run, and no option is needed besides."""
    (tmp_path / "rows" / "hierarchies").mkdir(parents=True)
    (tmp_path / "rows" / "adult.csv").write_text("age\n")
    done = runs("reproduce", "alpha-k", "--adult", "rows", "--out", "here", "--json")
    assert json.loads(done.out)["source"] == "real"
    assert (
        json.loads((tmp_path / "here" / "results-alpha-k.json").read_text())["command"] == "sfumato reproduce alpha-k"
    )


def test_json_has_every_claim(runs: Runs, instant: dict[str, list[bool]]) -> None:
    """One object tells each claim with its verdict and outcome, as the page of the paper does."""
    said = json.loads(runs("reproduce", "alpha-k", "--synthetic", "--out", "here", "--json").out)
    (paper,) = said["papers"]
    kept = json.loads((KEPT / "results-alpha-k.json").read_text(encoding="utf-8"))
    assert [one["ours"] for one in paper["claims"]] == [one.ours for one in alpha_k_paper.claims(kept)]
    assert (
        said["claims"]
        == paper["counts"]
        == dict(Counter(one["outcome"] for one in paper["claims"])) | {"not measured": 0, "not counted": 0}
    )


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_holds_or_says_why_not(name: str) -> None:
    """In the kept runs a sentence names whose flaw it is, or why a claim is not counted."""
    kept = json.loads((KEPT / f"results-{name}.json").read_text(encoding="utf-8"))
    for claim in PAPERS[name].claims(kept):
        if claim.verdict == "holds":
            assert not claim.why
        else:
            assert claim.why.endswith(".")
            assert "\n" not in claim.why


def test_documentation_is_what_the_kept_runs_say() -> None:
    """The page of all claims, and that of each paper, are what the code makes of the runs that are kept."""
    spec = importlib.util.spec_from_file_location("make_papers", ROOT / "docs" / "make_papers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.papers() == (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"), "run make docs"
    pages = module.pages()
    assert [path.name for path in pages] == [f"RESULTS-{name}.md" for name in PAPERS]
    for path, text in pages.items():
        assert text == path.read_text(encoding="utf-8"), "run make docs"
        assert all((KEPT / name).is_file() for name in re.findall(r"\]\((figures/[^)]+)\)", text))
