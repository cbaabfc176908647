"""`sfumato compare` as a user meets it: what is printed, what is written, and what is refused."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

Runs = Any


@pytest.mark.slow
def test_table_page_and_policy(runs: Runs, project: Path) -> None:
    """One run prints the lines, writes private page and figures, and the policy of the knee."""
    found = runs("compare", project, "--algorithms", "mondrian,optimal", "--set", "k=2,3,5,9", "--write", "chosen.toml")
    assert (found.code, found.err) == (0, "")
    assert "The knee is line" in found.out
    assert "private" in found.out
    assert max(map(len, found.out.split("The knee")[0].splitlines())) <= 80
    folder = Path("comparison")
    assert sorted(path.name for path in folder.iterdir()) == ["compare.html", "compare.json"]
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    content = json.loads((folder / "compare.json").read_text())
    knee = content["fronts"][0]["knee"]
    line = content["lines"][knee - 1]
    made = runs("anonymize", "chosen.toml", "--out", "release", "--json")
    assert json.loads(made.out)["utility"]["ncp"] == line["ncp"]
    assert json.loads(made.out)["risk"]["highest"] == line["highest"]


def test_json_is_one_object(runs: Runs, project: Path) -> None:
    """`--json` prints what `compare.json` holds, and nothing else."""
    found = runs("compare", project, "--algorithms", "optimal,anatomy", "--set", "suppression=0,0.1", "--json")
    content = json.loads(found.out)
    saved = json.loads(Path("comparison/compare.json").read_text())
    assert content["lines"] == saved["lines"]
    assert (content["done"], content["planned"], content["stopped"], content["private"]) == (4, 4, False, True)
    assert ["reason" in line for line in content["lines"]] == [False, False, True, True]


def test_a_line_is_chosen_later_without_running_again(
    runs: Runs, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--from` writes the policy of any line of a comparison that was made before."""
    runs("compare", project, "--algorithms", "mondrian,optimal", "--set", "k=2,3,5,9", "--out", "kept")
    monkeypatch.setattr("sfumato.compare.comparison.prepare", None)
    found = runs("compare", project, "--from", "kept", "--choose", "7", "--write", "seven.toml", "--json")
    assert json.loads(found.out) == {"chosen": {"line": 7, "policy": "seven.toml"}}
    assert "k = 5 " in Path("seven.toml").read_text()
    assert 'name = "optimal"' in Path("seven.toml").read_text()
    assert runs("compare", project, "--from", "kept", "--write", "knee.toml").code == 0
    project.write_text(project.read_text() + "\n# changed\n")
    assert "has changed since" in runs("compare", project, "--from", "kept", "--write", "again.toml").sentence


def test_no_knee_is_said_and_the_lines_are_kept(runs: Runs, project: Path) -> None:
    """Where there is no knee to write, the comparison is kept and the way to choose is named."""
    found = runs("compare", project, "--algorithms", "mondrian", "--set", "k=2,9", "--write", "chosen.toml")
    assert found.code == 2
    assert "chosen.toml was not written. There is no knee" in found.err
    assert "--from comparison --choose N --write chosen.toml" in found.err
    assert Path("comparison/compare.json").exists()
    assert not Path("chosen.toml").exists()


def test_nothing_can_be_met(runs: Runs, project: Path) -> None:
    """Where no line comes to a release the reasons are kept and the exit code is 1."""
    found = runs("compare", project, "--algorithms", "mondrian", "--set", "k=500,600")
    assert found.code == 1
    assert "no line came to a release, the first because k-anonymity (k = 500) cannot be met" in found.err
    assert "k can be at most 200" in Path("comparison/compare.html").read_text()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--set", "kk=2"], "did you mean k?"),
        (["--set", "k"], "write it as k=2,5,10"),
        (["--set", "k=2", "--set", "k=3"], "stands twice"),
        (["--algorithms", "mondrain"], "did you mean mondrian?"),
        (["--algorithms", ""], "is not an algorithm"),
        (["--choose", "x", "--write", "c.toml"], "is no line"),
        (["--choose", "3"], "name the file with --write"),
        (["--from", "nowhere", "--write", "c.toml"], "name the folder that compare wrote"),
        (["--from", "full", "--write", "c.toml", "--set", "k=2"], "--from runs nothing"),
        (["--from", "full", "--write", "c.toml", "--risk", "average"], "--from runs nothing"),
        (["--write", "nowhere/c.toml"], "there is no folder nowhere"),
        (["--risk", "lowest"], "choose highest or average"),
        (["--out", "full"], "holds other files than a comparison"),
        (["--out", "full", "--force"], "holds other files than a comparison"),
        (["--data", "nowhere.csv"], "nowhere.csv does not exist"),
    ],
)
def test_refusals_name_the_way_out(runs: Runs, project: Path, options: list[str], says: str) -> None:
    """A wrong option is one sentence, and leaves nothing behind."""
    Path("full").mkdir()
    Path("full/letter.txt").write_text("mine")
    found = runs("compare", project, *options)
    assert found.code == 2
    assert says in found.sentence
    assert sorted(path.name for path in Path().iterdir()) == ["full", "project"]


def test_what_is_there_stays_unless_told(runs: Runs, project: Path) -> None:
    """Neither a comparison nor a file is replaced without --force, and the policy itself never is."""
    options = ("--algorithms", "optimal", "--set", "k=2")
    assert runs("compare", project, *options, "--write", "chosen.toml").code == 0
    assert "exists already" in runs("compare", project, *options, "--out", "comparison").sentence
    assert "exists already" in runs("compare", project, *options, "--out", "b", "--write", "chosen.toml").sentence
    assert runs("compare", project, *options, "--write", "chosen.toml", "--force").code == 0
    assert [json.loads(runs("compare", project, *options, "--json").out)["comparison"] for _ in "ab"] == [
        "comparison-2",
        "comparison-3",
    ]
    assert "is the policy that is compared" in runs("compare", project, "--write", project, "--force").sentence


SLOW = """
import sys, time
import sfumato.compare.comparison as running

calls, prepare = [], running.prepare

def slow(*arguments, **options):
    calls.append(1)
    if len(calls) == 3:
        print("ready", flush=True)
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            if {odd}:
                raise RuntimeError("a library's own word for it") from None
            raise
    return prepare(*arguments, **options)

running.prepare = slow
from sfumato.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "odd"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_interrupted_it_keeps_what_it_has(project: Path, tmp_path: Path, number: signal.Signals, odd: bool) -> None:
    """A real signal in the third of four lines: two are kept in page and figures, it says so, and the code is 130."""
    command = [sys.executable, "-c", SLOW.format(odd=odd), "compare", str(project), "--set", "k=2,3,4,5"]
    command += ["--algorithms", "mondrian", "--write", "chosen.toml"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err == (
        "error: stopped; 2 of 4 lines are in comparison/compare.html and compare.json, and no policy was written\n"
    )
    content = json.loads((tmp_path / "comparison" / "compare.json").read_text())
    assert (content["done"], content["planned"], content["stopped"]) == (2, 4, True)
    assert "It was stopped: 2 lines of 4 were run" in (tmp_path / "comparison" / "compare.html").read_text()
    assert not (tmp_path / "chosen.toml").exists()


def test_interrupted_before_the_first_line_it_writes_nothing(
    runs: Runs, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the first line there is nothing to keep, and nothing is written."""

    def stopped(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.compare.comparison.prepare", stopped)
    found = runs("compare", project)
    assert found.code == 130
    assert found.sentence == "stopped before the first line was done; nothing was written"
    assert not Path("comparison").exists()
